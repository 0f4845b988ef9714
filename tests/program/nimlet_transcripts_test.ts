/** The transcripts of the nimlet page, record by record, against the real process. */

import { assertEquals } from "@std/assert";
import { expectRecords } from "./_expect_records.ts";
import type { Reply } from "../fakes/reply.ts";
import { withPlace } from "./_run_once.ts";
import {
  checkOneShotRecords,
  idsOn,
  type Nimlet,
  type NimletOptions,
  waitForGo,
  withNimlet,
} from "./_with_nimlet.ts";

/** `> …` is sent once every `< {…}` before it has come. `(go)` lets a waiting command end, `(close)` ends the input. */
async function followTranscript(nimlet: Nimlet, transcript: string): Promise<void> {
  const expected: unknown[] = [];
  const { weir } = nimlet;
  for (const line of transcript.trim().split("\n").map((text) => text.trim())) {
    if (line.startsWith("> ")) await nimlet.sendText(line.slice(2) + "\n", idsOn(line.slice(2)));
    else if (line === "(close)") await weir.closeInput();
    else if (line === "(go)") await nimlet.touch("go");
    else {
      expected.push(JSON.parse(line.slice(2)));
      const count = expected.length;
      if (weir.records.length < count) await weir.next(() => weir.records.length >= count);
    }
  }
  await nimlet.end();
  const last = expected.at(-1) as Record<string, unknown>;
  if (last.type !== "session_end") {
    expected.push({ version: 1, type: "session_end", session_id: "<id>", success: true });
  }
  expectRecords(weir.records, expected);
}

function transcript(name: string, options: NimletOptions, text: string): void {
  Deno.test(`nimlet transcript: ${name}`, async () => {
    await withNimlet(
      { model: "small-1", args: ["--session-id", name.slice(0, 2)], ...options },
      (nimlet) => followTranscript(nimlet, text),
    );
  });
}

/** Without `cacheRead` the endpoint reports nothing about a cache. */
function reply(
  reply: Reply,
  input: number,
  output: number,
  cacheRead: number | null = null,
): Reply {
  return { model: "small-1-0901", ...reply, usage: { input, output, cacheRead } };
}

transcript(
  "a1 a prompt with a tool call, then shutdown",
  {
    replies: [
      reply(
        {
          thinking: "Run the suite first.",
          text: "Running them.",
          toolCalls: [{ id: "c_1", name: "bash", args: { command: "printf '12 passed\\n'" } }],
        },
        950,
        30,
      ),
      reply({ text: ["Twe", "lve."] }, 1010, 4, 950),
    ],
  },
  `
< {"version":1,"type":"session_start","session_id":"a1"}
> {"id":"p1","type":"prompt","message":"How many tests pass?"}
< {"version":1,"type":"response","id":"p1","ok":true,"state":"started"}
< {"version":1,"type":"message","session_id":"a1","turn_id":"a1:turn:1","role":"user","content":"How many tests pass?"}
< {"version":1,"type":"run_start","session_id":"a1","turn_id":"a1:turn:1","run_id":"a1:turn:1","prompt":"How many tests pass?"}
< {"version":1,"type":"step_start","session_id":"a1","turn_id":"a1:turn:1","run_id":"a1:turn:1","step":0,"model":"small-1"}
< {"version":1,"type":"thinking_delta","session_id":"a1","turn_id":"a1:turn:1","run_id":"a1:turn:1","step":0,"delta":"Run the suite first.","model":"small-1"}
< {"version":1,"type":"message_delta","session_id":"a1","turn_id":"a1:turn:1","run_id":"a1:turn:1","step":0,"delta":"Running them.","model":"small-1"}
< {"version":1,"type":"message","session_id":"a1","turn_id":"a1:turn:1","role":"assistant","content":"Running them.","model":"small-1-0901","final":false}
< {"version":1,"type":"tool_call","session_id":"a1","turn_id":"a1:turn:1","run_id":"a1:turn:1","step":0,"tool_id":"c_1","tool_name":"bash","input":{"command":"printf '12 passed\\\\n'"}}
< {"version":1,"type":"tool_output_delta","session_id":"a1","turn_id":"a1:turn:1","run_id":"a1:turn:1","step":0,"tool_id":"c_1","tool_name":"bash","delta":"12 passed\\n"}
< {"version":1,"type":"tool_result","session_id":"a1","turn_id":"a1:turn:1","run_id":"a1:turn:1","step":0,"tool_id":"c_1","tool_name":"bash","output":"12 passed\\nExit code: 0","is_error":false,"duration_ms":"<number>"}
< {"version":1,"type":"step_end","session_id":"a1","turn_id":"a1:turn:1","run_id":"a1:turn:1","step":0,"model":"small-1-0901","usage":{"input_tokens":950,"output_tokens":30,"cache_read_tokens":0,"cache_write_tokens":0,"cache_reported":false},"duration_ms":"<number>"}
< {"version":1,"type":"step_start","session_id":"a1","turn_id":"a1:turn:1","run_id":"a1:turn:1","step":1,"model":"small-1"}
< {"version":1,"type":"message_delta","session_id":"a1","turn_id":"a1:turn:1","run_id":"a1:turn:1","step":1,"delta":"Twe","model":"small-1"}
< {"version":1,"type":"message_delta","session_id":"a1","turn_id":"a1:turn:1","run_id":"a1:turn:1","step":1,"delta":"lve.","model":"small-1"}
< {"version":1,"type":"message","session_id":"a1","turn_id":"a1:turn:1","role":"assistant","content":"Twelve.","model":"small-1-0901","final":true}
< {"version":1,"type":"step_end","session_id":"a1","turn_id":"a1:turn:1","run_id":"a1:turn:1","step":1,"model":"small-1-0901","usage":{"input_tokens":1010,"output_tokens":4,"cache_read_tokens":950,"cache_write_tokens":0,"cache_reported":true},"duration_ms":"<number>"}
< {"version":1,"type":"run_end","session_id":"a1","turn_id":"a1:turn:1","run_id":"a1:turn:1","model":"small-1-0901","duration_ms":"<number>"}
> {"id":"b1","type":"shutdown"}
< {"version":1,"type":"response","id":"b1","ok":true,"state":"stopped"}
< {"version":1,"type":"session_end","session_id":"a1","success":true}
`,
);

transcript(
  "b1 steering and a follow-up in one run",
  {
    replies: [
      reply({ toolCalls: [waitForGo()] }, 940, 21),
      reply({ text: "Fixed line 4; docs untouched." }, 1100, 12),
      reply({ text: "lexer.c" }, 1150, 3),
    ],
  },
  `
< {"version":1,"type":"session_start","session_id":"b1"}
> {"id":"p1","type":"prompt","message":"Fix the lexer"}
< {"version":1,"type":"response","id":"p1","ok":true,"state":"started"}
< {"version":1,"type":"message","session_id":"b1","turn_id":"b1:turn:1","role":"user","content":"Fix the lexer"}
< {"version":1,"type":"run_start","session_id":"b1","turn_id":"b1:turn:1","run_id":"b1:turn:1","prompt":"Fix the lexer"}
< {"version":1,"type":"step_start","session_id":"b1","turn_id":"b1:turn:1","run_id":"b1:turn:1","step":0,"model":"small-1"}
< {"version":1,"type":"tool_call","session_id":"b1","turn_id":"b1:turn:1","run_id":"b1:turn:1","step":0,"tool_id":"c_1","tool_name":"bash","input":{"command":"while [ ! -e go ]; do sleep 0.02; done","timeout":30}}
> {"id":"f1","type":"prompt","message":"Then list changed files","streamingBehavior":"followUp"}
< {"version":1,"type":"response","id":"f1","ok":true,"state":"queued"}
< {"version":1,"type":"queue","session_id":"b1","action":"enqueue","depth":1,"content":"Then list changed files","request_id":"f1","mode":"follow_up"}
> {"id":"s1","type":"steer","message":"Skip the docs"}
< {"version":1,"type":"response","id":"s1","ok":true,"state":"queued"}
< {"version":1,"type":"queue","session_id":"b1","action":"enqueue","depth":2,"content":"Skip the docs","request_id":"s1","mode":"steer"}
(go)
< {"version":1,"type":"tool_result","session_id":"b1","turn_id":"b1:turn:1","run_id":"b1:turn:1","step":0,"tool_id":"c_1","tool_name":"bash","output":"Exit code: 0","is_error":false,"duration_ms":"<number>"}
< {"version":1,"type":"step_end","session_id":"b1","turn_id":"b1:turn:1","run_id":"b1:turn:1","step":0,"model":"small-1-0901","usage":{"input_tokens":940,"output_tokens":21,"cache_read_tokens":0,"cache_write_tokens":0,"cache_reported":false},"duration_ms":"<number>"}
< {"version":1,"type":"queue","session_id":"b1","action":"dequeue","depth":1,"request_id":"s1","mode":"steer"}
< {"version":1,"type":"message","session_id":"b1","turn_id":"b1:turn:1","role":"user","content":"Skip the docs"}
< {"version":1,"type":"step_start","session_id":"b1","turn_id":"b1:turn:1","run_id":"b1:turn:1","step":1,"model":"small-1"}
< {"version":1,"type":"message_delta","session_id":"b1","turn_id":"b1:turn:1","run_id":"b1:turn:1","step":1,"delta":"Fixed line 4; docs untouched.","model":"small-1"}
< {"version":1,"type":"message","session_id":"b1","turn_id":"b1:turn:1","role":"assistant","content":"Fixed line 4; docs untouched.","model":"small-1-0901","final":true}
< {"version":1,"type":"step_end","session_id":"b1","turn_id":"b1:turn:1","run_id":"b1:turn:1","step":1,"model":"small-1-0901","usage":{"input_tokens":1100,"output_tokens":12,"cache_read_tokens":0,"cache_write_tokens":0,"cache_reported":false},"duration_ms":"<number>"}
< {"version":1,"type":"queue","session_id":"b1","action":"dequeue","depth":0,"request_id":"f1","mode":"follow_up"}
< {"version":1,"type":"message","session_id":"b1","turn_id":"b1:turn:1","role":"user","content":"Then list changed files"}
< {"version":1,"type":"step_start","session_id":"b1","turn_id":"b1:turn:1","run_id":"b1:turn:1","step":2,"model":"small-1"}
< {"version":1,"type":"message_delta","session_id":"b1","turn_id":"b1:turn:1","run_id":"b1:turn:1","step":2,"delta":"lexer.c","model":"small-1"}
< {"version":1,"type":"message","session_id":"b1","turn_id":"b1:turn:1","role":"assistant","content":"lexer.c","model":"small-1-0901","final":true}
< {"version":1,"type":"step_end","session_id":"b1","turn_id":"b1:turn:1","run_id":"b1:turn:1","step":2,"model":"small-1-0901","usage":{"input_tokens":1150,"output_tokens":3,"cache_read_tokens":0,"cache_write_tokens":0,"cache_reported":false},"duration_ms":"<number>"}
< {"version":1,"type":"run_end","session_id":"b1","turn_id":"b1:turn:1","run_id":"b1:turn:1","model":"small-1-0901","duration_ms":"<number>"}
`,
);

transcript(
  "c1 interrupt with a message waiting, then interrupt while idle",
  {
    replies: [
      reply({ text: ["Chapter one", "never sent"], stallAfter: 1 }, 1, 1),
      reply({ text: "Plan B noted." }, 930, 5),
    ],
  },
  `
< {"version":1,"type":"session_start","session_id":"c1"}
> {"id":"p1","type":"prompt","message":"Write a long report"}
< {"version":1,"type":"response","id":"p1","ok":true,"state":"started"}
< {"version":1,"type":"message","session_id":"c1","turn_id":"c1:turn:1","role":"user","content":"Write a long report"}
< {"version":1,"type":"run_start","session_id":"c1","turn_id":"c1:turn:1","run_id":"c1:turn:1","prompt":"Write a long report"}
< {"version":1,"type":"step_start","session_id":"c1","turn_id":"c1:turn:1","run_id":"c1:turn:1","step":0,"model":"small-1"}
< {"version":1,"type":"message_delta","session_id":"c1","turn_id":"c1:turn:1","run_id":"c1:turn:1","step":0,"delta":"Chapter one","model":"small-1"}
> {"id":"f1","type":"follow_up","message":"Use plan B"}
< {"version":1,"type":"response","id":"f1","ok":true,"state":"queued"}
< {"version":1,"type":"queue","session_id":"c1","action":"enqueue","depth":1,"content":"Use plan B","request_id":"f1","mode":"follow_up"}
> {"id":"i1","type":"interrupt"}
< {"version":1,"type":"response","id":"i1","ok":true,"state":"interrupting"}
< {"version":1,"type":"error","session_id":"c1","turn_id":"c1:turn:1","run_id":"c1:turn:1","step":0,"message":"Interrupted"}
< {"version":1,"type":"queue","session_id":"c1","action":"dequeue","depth":0,"request_id":"f1","mode":"follow_up"}
< {"version":1,"type":"message","session_id":"c1","turn_id":"c1:turn:2","role":"user","content":"Use plan B"}
< {"version":1,"type":"run_start","session_id":"c1","turn_id":"c1:turn:2","run_id":"c1:turn:2","prompt":"Use plan B"}
< {"version":1,"type":"step_start","session_id":"c1","turn_id":"c1:turn:2","run_id":"c1:turn:2","step":0,"model":"small-1"}
< {"version":1,"type":"message_delta","session_id":"c1","turn_id":"c1:turn:2","run_id":"c1:turn:2","step":0,"delta":"Plan B noted.","model":"small-1"}
< {"version":1,"type":"message","session_id":"c1","turn_id":"c1:turn:2","role":"assistant","content":"Plan B noted.","model":"small-1-0901","final":true}
< {"version":1,"type":"step_end","session_id":"c1","turn_id":"c1:turn:2","run_id":"c1:turn:2","step":0,"model":"small-1-0901","usage":{"input_tokens":930,"output_tokens":5,"cache_read_tokens":0,"cache_write_tokens":0,"cache_reported":false},"duration_ms":"<number>"}
< {"version":1,"type":"run_end","session_id":"c1","turn_id":"c1:turn:2","run_id":"c1:turn:2","model":"small-1-0901","duration_ms":"<number>"}
> {"id":"i2","type":"interrupt"}
< {"version":1,"type":"response","id":"i2","ok":true,"state":"idle"}
`,
);

transcript(
  "d1 interrupt while the first of two tool calls runs",
  {
    replies: [reply(
      {
        toolCalls: [
          { id: "c_1", name: "bash", args: { command: "echo cc -c a.c; sleep 30" } },
          { id: "c_2", name: "bash", args: { command: "echo never" } },
        ],
      },
      1,
      1,
    )],
  },
  `
< {"version":1,"type":"session_start","session_id":"d1"}
> {"id":"p1","type":"prompt","message":"Build and test"}
< {"version":1,"type":"response","id":"p1","ok":true,"state":"started"}
< {"version":1,"type":"message","session_id":"d1","turn_id":"d1:turn:1","role":"user","content":"Build and test"}
< {"version":1,"type":"run_start","session_id":"d1","turn_id":"d1:turn:1","run_id":"d1:turn:1","prompt":"Build and test"}
< {"version":1,"type":"step_start","session_id":"d1","turn_id":"d1:turn:1","run_id":"d1:turn:1","step":0,"model":"small-1"}
< {"version":1,"type":"tool_call","session_id":"d1","turn_id":"d1:turn:1","run_id":"d1:turn:1","step":0,"tool_id":"c_1","tool_name":"bash","input":{"command":"echo cc -c a.c; sleep 30"}}
< {"version":1,"type":"tool_output_delta","session_id":"d1","turn_id":"d1:turn:1","run_id":"d1:turn:1","step":0,"tool_id":"c_1","tool_name":"bash","delta":"cc -c a.c\\n"}
> {"id":"i1","type":"interrupt"}
< {"version":1,"type":"response","id":"i1","ok":true,"state":"interrupting"}
< {"version":1,"type":"tool_result","session_id":"d1","turn_id":"d1:turn:1","run_id":"d1:turn:1","step":0,"tool_id":"c_1","tool_name":"bash","output":"INTERRUPTED (<text>ms)\\ncc -c a.c\\n","is_error":true,"duration_ms":"<number>"}
< {"version":1,"type":"error","session_id":"d1","turn_id":"d1:turn:1","run_id":"d1:turn:1","step":0,"message":"Interrupted"}
`,
);

transcript(
  "e1 lines that are wrong",
  {},
  `
< {"version":1,"type":"session_start","session_id":"e1"}
> hello
< {"version":1,"type":"response","id":"","ok":false,"error":"Invalid JSON: <line>"}
> [1,2]
< {"version":1,"type":"response","id":"","ok":false,"error":"Command must be a JSON object."}
> {"id":7,"type":"get_state"}
< {"version":1,"type":"response","id":"","ok":false,"error":"Command requires string id and type fields."}
> {"id":"n","kind":"get_state"}
< {"version":1,"type":"response","id":"","ok":false,"error":"Command requires string id and type fields."}
> {"id":"x","type":"dance"}
< {"version":1,"type":"response","id":"x","ok":false,"error":"Unknown RPC command: dance"}
> {"id":"z","type":"prompt","message":"  "}
< {"version":1,"type":"response","id":"z","ok":false,"error":"prompt requires message."}
> {"id":"y","type":"steer","message":"hi"}
< {"version":1,"type":"response","id":"y","ok":false,"error":"Agent is idle; use prompt."}
> {"id":"m","type":"set_steering_mode","mode":"All"}
< {"version":1,"type":"response","id":"m","ok":false,"error":"mode must be all or one-at-a-time."}
`,
);

const STUCK = reply({ text: "never sent", stallAfter: 0 }, 1, 1);

transcript(
  "f1 busy: refused prompt, state, clear, mode, shutdown",
  { replies: [STUCK] },
  `
< {"version":1,"type":"session_start","session_id":"f1"}
> {"id":"p1","type":"prompt","message":"Refactor everything"}
< {"version":1,"type":"response","id":"p1","ok":true,"state":"started"}
< {"version":1,"type":"message","session_id":"f1","turn_id":"f1:turn:1","role":"user","content":"Refactor everything"}
< {"version":1,"type":"run_start","session_id":"f1","turn_id":"f1:turn:1","run_id":"f1:turn:1","prompt":"Refactor everything"}
< {"version":1,"type":"step_start","session_id":"f1","turn_id":"f1:turn:1","run_id":"f1:turn:1","step":0,"model":"small-1"}
> {"id":"p2","type":"prompt","message":"And this"}
< {"version":1,"type":"response","id":"p2","ok":false,"error":"prompt requires streamingBehavior: steer or followUp while busy."}
> {"id":"s1","type":"steer","message":"Skip the docs"}
< {"version":1,"type":"response","id":"s1","ok":true,"state":"queued"}
< {"version":1,"type":"queue","session_id":"f1","action":"enqueue","depth":1,"content":"Skip the docs","request_id":"s1","mode":"steer"}
> {"id":"g1","type":"get_state"}
< {"version":1,"type":"response","id":"g1","ok":true,"session_id":"f1","busy":true,"queued":true,"steering":1,"follow_up":0,"steering_mode":"one-at-a-time","follow_up_mode":"one-at-a-time","mode":"act"}
> {"id":"c1","type":"clear_queue"}
< {"version":1,"type":"queue","session_id":"f1","action":"clear","depth":0}
< {"version":1,"type":"response","id":"c1","ok":true,"steering":["Skip the docs"],"follow_up":[]}
> {"id":"c2","type":"clear_queue"}
< {"version":1,"type":"response","id":"c2","ok":true,"steering":[],"follow_up":[]}
> {"id":"a1","type":"set_steering_mode","mode":"all"}
< {"version":1,"type":"response","id":"a1","ok":true}
> {"id":"s2","type":"steer","message":"One more"}
< {"version":1,"type":"response","id":"s2","ok":true,"state":"queued"}
< {"version":1,"type":"queue","session_id":"f1","action":"enqueue","depth":1,"content":"One more","request_id":"s2","mode":"steer"}
> {"id":"bye","type":"shutdown"}
< {"version":1,"type":"queue","session_id":"f1","action":"clear","depth":0}
< {"version":1,"type":"response","id":"bye","ok":true,"state":"stopping"}
< {"version":1,"type":"error","session_id":"f1","turn_id":"f1:turn:1","run_id":"f1:turn:1","step":0,"message":"Interrupted"}
< {"version":1,"type":"session_end","session_id":"f1","success":true}
`,
);

transcript(
  "g1 end of input while busy",
  { replies: [STUCK] },
  `
< {"version":1,"type":"session_start","session_id":"g1"}
> {"id":"p1","type":"prompt","message":"Long task"}
< {"version":1,"type":"response","id":"p1","ok":true,"state":"started"}
< {"version":1,"type":"message","session_id":"g1","turn_id":"g1:turn:1","role":"user","content":"Long task"}
< {"version":1,"type":"run_start","session_id":"g1","turn_id":"g1:turn:1","run_id":"g1:turn:1","prompt":"Long task"}
< {"version":1,"type":"step_start","session_id":"g1","turn_id":"g1:turn:1","run_id":"g1:turn:1","step":0,"model":"small-1"}
> {"id":"f1","type":"follow_up","message":"More"}
< {"version":1,"type":"response","id":"f1","ok":true,"state":"queued"}
< {"version":1,"type":"queue","session_id":"g1","action":"enqueue","depth":1,"content":"More","request_id":"f1","mode":"follow_up"}
(close)
< {"version":1,"type":"queue","session_id":"g1","action":"clear","depth":0}
< {"version":1,"type":"error","session_id":"g1","turn_id":"g1:turn:1","run_id":"g1:turn:1","step":0,"message":"Interrupted"}
< {"version":1,"type":"session_end","session_id":"g1","success":true}
`,
);

transcript(
  "h1 a failed request; the process stays usable",
  { replies: [{ status: 401, body: { error: { message: "invalid key" } } }] },
  `
< {"version":1,"type":"session_start","session_id":"h1"}
> {"id":"p1","type":"prompt","message":"Hi"}
< {"version":1,"type":"response","id":"p1","ok":true,"state":"started"}
< {"version":1,"type":"message","session_id":"h1","turn_id":"h1:turn:1","role":"user","content":"Hi"}
< {"version":1,"type":"run_start","session_id":"h1","turn_id":"h1:turn:1","run_id":"h1:turn:1","prompt":"Hi"}
< {"version":1,"type":"step_start","session_id":"h1","turn_id":"h1:turn:1","run_id":"h1:turn:1","step":0,"model":"small-1"}
< {"version":1,"type":"error","session_id":"h1","turn_id":"h1:turn:1","run_id":"h1:turn:1","step":0,"message":"<line>invalid key<text>"}
> {"id":"g1","type":"get_state"}
< {"version":1,"type":"response","id":"g1","ok":true,"session_id":"h1","busy":false,"queued":false,"steering":0,"follow_up":0,"steering_mode":"one-at-a-time","follow_up_mode":"one-at-a-time","mode":"act"}
> {"id":"bye","type":"shutdown"}
< {"version":1,"type":"response","id":"bye","ok":true,"state":"stopped"}
< {"version":1,"type":"session_end","session_id":"h1","success":false}
`,
);

Deno.test("nimlet transcript: i1 one run in JSON mode", async () => {
  const replies = [
    reply(
      {
        toolCalls: [
          { id: "c_2", name: "find", args: { pattern: "src/*.c" } },
          { id: "c_3", name: "find", args: { pattern: "lib/*.c" } },
        ],
      },
      700,
      15,
    ),
    reply({ text: "Two." }, 730, 2),
  ];
  const files = { "src/a.c": "a", "lib/b.c": "b" };
  await withPlace({ model: "small-1", replies, files }, async ({ run }) => {
    const { code, stdout } = await run(
      ["--mode", "json", "--dialect", "nimlet", "--session-id", "i1", "How many C files?"],
    );
    const records = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    expectRecords(
      records,
      `
{"version":1,"type":"session_start","session_id":"i1"}
{"version":1,"type":"message","session_id":"i1","turn_id":"i1:turn:1","role":"user","content":"How many C files?"}
{"version":1,"type":"run_start","session_id":"i1","turn_id":"i1:turn:1","run_id":"i1:turn:1","prompt":"How many C files?"}
{"version":1,"type":"step_start","session_id":"i1","turn_id":"i1:turn:1","run_id":"i1:turn:1","step":0,"model":"small-1"}
{"version":1,"type":"tool_call","session_id":"i1","turn_id":"i1:turn:1","run_id":"i1:turn:1","step":0,"tool_id":"c_2","tool_name":"find","input":{"pattern":"src/*.c"}}
{"version":1,"type":"tool_call","session_id":"i1","turn_id":"i1:turn:1","run_id":"i1:turn:1","step":0,"tool_id":"c_3","tool_name":"find","input":{"pattern":"lib/*.c"}}
{"version":1,"type":"tool_result","session_id":"i1","turn_id":"i1:turn:1","run_id":"i1:turn:1","step":0,"tool_id":"c_2","tool_name":"find","output":"src/a.c","is_error":false,"duration_ms":"<number>"}
{"version":1,"type":"tool_result","session_id":"i1","turn_id":"i1:turn:1","run_id":"i1:turn:1","step":0,"tool_id":"c_3","tool_name":"find","output":"lib/b.c","is_error":false,"duration_ms":"<number>"}
{"version":1,"type":"step_end","session_id":"i1","turn_id":"i1:turn:1","run_id":"i1:turn:1","step":0,"model":"small-1-0901","usage":{"input_tokens":700,"output_tokens":15,"cache_read_tokens":0,"cache_write_tokens":0,"cache_reported":false},"duration_ms":"<number>"}
{"version":1,"type":"step_start","session_id":"i1","turn_id":"i1:turn:1","run_id":"i1:turn:1","step":1,"model":"small-1"}
{"version":1,"type":"message_delta","session_id":"i1","turn_id":"i1:turn:1","run_id":"i1:turn:1","step":1,"delta":"Two.","model":"small-1"}
{"version":1,"type":"message","session_id":"i1","turn_id":"i1:turn:1","role":"assistant","content":"Two.","model":"small-1-0901","final":true}
{"version":1,"type":"step_end","session_id":"i1","turn_id":"i1:turn:1","run_id":"i1:turn:1","step":1,"model":"small-1-0901","usage":{"input_tokens":730,"output_tokens":2,"cache_read_tokens":0,"cache_write_tokens":0,"cache_reported":false},"duration_ms":"<number>"}
{"version":1,"type":"run_end","session_id":"i1","turn_id":"i1:turn:1","run_id":"i1:turn:1","model":"small-1-0901","duration_ms":"<number>"}
{"version":1,"type":"session_end","session_id":"i1","success":true}
`.trim().split("\n").map((line) => JSON.parse(line)),
    );
    assertEquals(code, 0);
    checkOneShotRecords(records);
  });
});

transcript(
  "j1 a background job ends while idle",
  {
    replies: [
      reply(
        {
          toolCalls: [{
            id: "c_1",
            name: "bash",
            args: { command: "while [ ! -e go ]; do sleep 0.02; done", background: true },
          }],
        },
        1,
        1,
      ),
      reply({ text: "Started." }, 2, 2),
      reply({ text: "The build is done." }, 890, 6),
    ],
  },
  `
< {"version":1,"type":"session_start","session_id":"j1"}
> {"id":"p1","type":"prompt","message":"Build"}
< {"version":1,"type":"response","id":"p1","ok":true,"state":"started"}
< {"version":1,"type":"message","session_id":"j1","turn_id":"j1:turn:1","role":"user","content":"Build"}
< {"version":1,"type":"run_start","session_id":"j1","turn_id":"j1:turn:1","run_id":"j1:turn:1","prompt":"Build"}
< {"version":1,"type":"step_start","session_id":"j1","turn_id":"j1:turn:1","run_id":"j1:turn:1","step":0,"model":"small-1"}
< {"version":1,"type":"tool_call","session_id":"j1","turn_id":"j1:turn:1","run_id":"j1:turn:1","step":0,"tool_id":"c_1","tool_name":"bash","input":{"command":"while [ ! -e go ]; do sleep 0.02; done","background":true}}
< {"version":1,"type":"tool_result","session_id":"j1","turn_id":"j1:turn:1","run_id":"j1:turn:1","step":0,"tool_id":"c_1","tool_name":"bash","output":"In background: <text>","is_error":false,"duration_ms":"<number>"}
< {"version":1,"type":"step_end","session_id":"j1","turn_id":"j1:turn:1","run_id":"j1:turn:1","step":0,"model":"small-1-0901","usage":{"input_tokens":1,"output_tokens":1,"cache_read_tokens":0,"cache_write_tokens":0,"cache_reported":false},"duration_ms":"<number>"}
< {"version":1,"type":"step_start","session_id":"j1","turn_id":"j1:turn:1","run_id":"j1:turn:1","step":1,"model":"small-1"}
< {"version":1,"type":"message_delta","session_id":"j1","turn_id":"j1:turn:1","run_id":"j1:turn:1","step":1,"delta":"Started.","model":"small-1"}
< {"version":1,"type":"message","session_id":"j1","turn_id":"j1:turn:1","role":"assistant","content":"Started.","model":"small-1-0901","final":true}
< {"version":1,"type":"step_end","session_id":"j1","turn_id":"j1:turn:1","run_id":"j1:turn:1","step":1,"model":"small-1-0901","usage":{"input_tokens":2,"output_tokens":2,"cache_read_tokens":0,"cache_write_tokens":0,"cache_reported":false},"duration_ms":"<number>"}
< {"version":1,"type":"run_end","session_id":"j1","turn_id":"j1:turn:1","run_id":"j1:turn:1","model":"small-1-0901","duration_ms":"<number>"}
(go)
< {"version":1,"type":"run_start","session_id":"j1","turn_id":"j1:turn:2","run_id":"j1:turn:2"}
< {"version":1,"type":"step_start","session_id":"j1","turn_id":"j1:turn:2","run_id":"j1:turn:2","step":0,"model":"small-1"}
< {"version":1,"type":"message_delta","session_id":"j1","turn_id":"j1:turn:2","run_id":"j1:turn:2","step":0,"delta":"The build is done.","model":"small-1"}
< {"version":1,"type":"message","session_id":"j1","turn_id":"j1:turn:2","role":"assistant","content":"The build is done.","model":"small-1-0901","final":true}
< {"version":1,"type":"step_end","session_id":"j1","turn_id":"j1:turn:2","run_id":"j1:turn:2","step":0,"model":"small-1-0901","usage":{"input_tokens":890,"output_tokens":6,"cache_read_tokens":0,"cache_write_tokens":0,"cache_reported":false},"duration_ms":"<number>"}
< {"version":1,"type":"run_end","session_id":"j1","turn_id":"j1:turn:2","run_id":"j1:turn:2","model":"small-1-0901","duration_ms":"<number>"}
`,
);
