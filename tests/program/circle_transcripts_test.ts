/** The transcripts of the circle page, record by record, against the real process. */

import { assertEquals } from "@std/assert";
import type { Reply } from "../fakes/reply.ts";
import { expectRecords } from "./_expect_records.ts";
import { type Circle, type CircleOptions, withCircle } from "./_with_circle.ts";

/** `> {…}` is sent once every `< {…}` before it has come. `(go)` lets a waiting command end. */
async function followTranscript(circle: Circle, transcript: string): Promise<void> {
  const expected: unknown[] = [];
  const labels = new Map<string, string>();
  for (const line of transcript.trim().split("\n").map((text) => text.trim())) {
    if (line.startsWith("> ")) await circle.send(JSON.parse(line.slice(2)));
    else if (line === "(end of input)") await circle.weir.closeInput();
    else if (line === "(go)") await Deno.writeTextFile(`${circle.workspace}/go`, "");
    else {
      expected.push(JSON.parse(line.slice(2)));
      const count = expected.length;
      if (circle.weir.records.length < count) {
        await circle.weir.next(() => circle.weir.records.length >= count);
      }
    }
  }
  expectRecords(circle.weir.records, expected, labels);
}

function transcript(name: string, options: CircleOptions, text: string): void {
  Deno.test(`circle transcript: ${name}`, async () => {
    await withCircle(options, async (circle) => {
      await followTranscript(circle, text);
      assertEquals(circle.server.unused, 0);
    });
  });
}

function usage(input: number, output: number, cacheRead = 0): Pick<Reply, "usage"> {
  return { usage: { input, output, cacheRead } };
}

transcript(
  "a prompt",
  { replies: [{ text: "There are 7.", ...usage(2110, 6) }] },
  `
> {"id":"a1","type":"prompt","message":"How many Go files are here?"}
< {"type":"response","command":"prompt","success":true,"id":"a1","data":{"disposition":"started"}}
< {"type":"turn_start","message":"How many Go files are here?"}
< {"type":"assistant","id":"<id>","text":"There are 7.","tool_calls":[],"usage":{"input_tokens":2110,"output_tokens":6,"cache_read_tokens":0}}
< {"type":"turn_end","answer":"There are 7.","usage":{"input_tokens":2110,"output_tokens":6,"cache_read_tokens":0}}
< {"type":"agent_settled"}
`,
);

transcript(
  "two calls, one of them not run",
  {
    files: { "main.go": "package main\n" },
    replies: [
      {
        toolCalls: [
          { id: "c1", name: "read", args: { path: "main.go" } },
          { id: "c2", name: "bash", args: { command: "gofmt -w main.go" } },
        ],
        ...usage(2200, 41, 2048),
      },
      { text: "I would run gofmt on main.go.", ...usage(2400, 11, 2200) },
    ],
  },
  `
> {"id":"a2","type":"prompt","message":"format main.go"}
< {"type":"response","command":"prompt","success":true,"id":"a2","data":{"disposition":"started"}}
< {"type":"turn_start","message":"format main.go"}
< {"type":"assistant","id":"<id>","text":"","tool_calls":[{"id":"c1","name":"read","args":{"path":"main.go"}},{"id":"c2","name":"bash","args":{"command":"gofmt -w main.go"}}],"usage":{"input_tokens":2200,"output_tokens":41,"cache_read_tokens":2048}}
< {"type":"tool_result","id":"c1","name":"read","status":"success","output":"package main\\n"}
< {"type":"not_run","name":"bash","args":{"command":"gofmt -w main.go"},"reason":"runs a shell command"}
< {"type":"tool_result","id":"c2","name":"bash","status":"error","output":"not run: needs --yolo or approval"}
< {"type":"assistant","id":"<id>","text":"I would run gofmt on main.go.","tool_calls":[],"usage":{"input_tokens":2400,"output_tokens":11,"cache_read_tokens":2200}}
< {"type":"turn_end","answer":"I would run gofmt on main.go.","usage":{"input_tokens":4600,"output_tokens":52,"cache_read_tokens":4248}}
< {"type":"agent_settled"}
`,
);

// The page's call is a quick one; here a command keeps the turn open until the messages are queued.
transcript(
  "steering and a follow-up",
  {
    args: ["--yolo"],
    replies: [
      {
        toolCalls: [{
          id: "k1",
          name: "bash",
          args: { command: "while [ ! -e go ]; do sleep 0.02; done", timeout: 30 },
        }],
        ...usage(2105, 9),
      },
      { text: "Two findings.", ...usage(2190, 5, 2048) },
      { text: "Risk one.", ...usage(2210, 4, 2048) },
    ],
  },
  `
> {"id":21,"type":"prompt","message":"audit the parser"}
< {"type":"response","command":"prompt","success":true,"id":21,"data":{"disposition":"started"}}
< {"type":"turn_start","message":"audit the parser"}
< {"type":"assistant","id":"<id>","text":"","tool_calls":[{"id":"k1","name":"bash","args":{"command":"while [ ! -e go ]; do sleep 0.02; done","timeout":30}}],"usage":{"input_tokens":2105,"output_tokens":9,"cache_read_tokens":0}}
> {"id":22,"type":"prompt","message":"skip vendored code"}
< {"type":"response","command":"prompt","success":false,"id":22,"error":"streamingBehavior must be steer or followUp"}
> {"id":23,"type":"steer","message":"skip vendored code"}
< {"type":"response","command":"steer","success":true,"id":23,"data":{"disposition":"queued"}}
> {"id":24,"type":"follow_up","message":"now list the risks"}
< {"type":"response","command":"follow_up","success":true,"id":24,"data":{"disposition":"queued"}}
(go)
< {"type":"tool_result","id":"k1","name":"bash","status":"success","output":"Exit code: 0"}
< {"type":"steer","message":"skip vendored code"}
< {"type":"assistant","id":"<id>","text":"Two findings.","tool_calls":[],"usage":{"input_tokens":2190,"output_tokens":5,"cache_read_tokens":2048}}
< {"type":"turn_end","answer":"Two findings.","usage":{"input_tokens":4295,"output_tokens":14,"cache_read_tokens":2048}}
< {"type":"turn_start","message":"now list the risks"}
< {"type":"assistant","id":"<id>","text":"Risk one.","tool_calls":[],"usage":{"input_tokens":2210,"output_tokens":4,"cache_read_tokens":2048}}
< {"type":"turn_end","answer":"Risk one.","usage":{"input_tokens":2210,"output_tokens":4,"cache_read_tokens":2048}}
< {"type":"agent_settled"}
`,
);

transcript(
  "abort",
  {
    args: ["--yolo"],
    replies: [{
      toolCalls: [{ id: "c9", name: "bash", args: { command: "sleep 60; make soak" } }],
      ...usage(2100, 12),
    }],
  },
  `
> {"id":"p","type":"prompt","message":"run the soak test"}
< {"type":"response","command":"prompt","success":true,"id":"p","data":{"disposition":"started"}}
< {"type":"turn_start","message":"run the soak test"}
< {"type":"assistant","id":"<id>","text":"","tool_calls":[{"id":"c9","name":"bash","args":{"command":"sleep 60; make soak"}}],"usage":{"input_tokens":2100,"output_tokens":12,"cache_read_tokens":0}}
> {"id":"x","type":"abort"}
< {"type":"tool_result","id":"c9","name":"bash","status":"error","output":"Interrupted"}
< {"type":"turn_end","aborted":true}
< {"type":"agent_settled"}
< {"type":"response","command":"abort","success":true,"id":"x"}
`,
);

transcript(
  "a job ends while nothing runs",
  {
    args: ["--yolo"],
    replies: [
      {
        toolCalls: [{
          id: "b1",
          name: "bash",
          args: {
            command: "while [ ! -e go ]; do sleep 0.02; done; echo link.o; exit 2",
            background: true,
          },
        }],
        ...usage(2100, 14),
      },
      { text: "The build runs.", ...usage(2190, 5, 2048) },
      { text: "The build failed in link.o.", ...usage(2400, 8, 2048) },
    ],
  },
  `
> {"id":"p","type":"prompt","message":"build in the background"}
< {"type":"response","command":"prompt","success":true,"id":"p","data":{"disposition":"started"}}
< {"type":"turn_start","message":"build in the background"}
< {"type":"assistant","id":"<id>","text":"","tool_calls":[{"id":"b1","name":"bash","args":{"command":"while [ ! -e go ]; do sleep 0.02; done; echo link.o; exit 2","background":true}}],"usage":{"input_tokens":2100,"output_tokens":14,"cache_read_tokens":0}}
< {"type":"job","event":"started","job":{"id":"j1","kind":"shell","title":"while [ ! -e go ]; do sleep 0.02; done; echo link.o; exit 2","status":"running","reason":"","exitCode":null,"startedBy":"model","elapsed":"<number>","output":"<path:log>","sessionId":"<uuid:session>"}}
< {"type":"tool_result","id":"b1","name":"bash","status":"success","output":"In background: j1 · shell · running · 0s · while [ ! -e go ]; do sleep 0.02; done; echo link.o; exit 2 · output <path:log>"}
< {"type":"assistant","id":"<id>","text":"The build runs.","tool_calls":[],"usage":{"input_tokens":2190,"output_tokens":5,"cache_read_tokens":2048}}
< {"type":"turn_end","answer":"The build runs.","usage":{"input_tokens":4290,"output_tokens":19,"cache_read_tokens":2048}}
< {"type":"agent_settled"}
(go)
< {"type":"job","event":"ended","job":{"id":"j1","kind":"shell","title":"while [ ! -e go ]; do sleep 0.02; done; echo link.o; exit 2","status":"failed","reason":"exit","exitCode":2,"startedBy":"model","elapsed":"<number>","output":"<path:log>","sessionId":"<uuid:session>"}}
< {"type":"turn_start"}
< {"type":"assistant","id":"<id>","text":"The build failed in link.o.","tool_calls":[],"usage":{"input_tokens":2400,"output_tokens":8,"cache_read_tokens":2048}}
< {"type":"turn_end","answer":"The build failed in link.o.","usage":{"input_tokens":2400,"output_tokens":8,"cache_read_tokens":2048}}
< {"type":"agent_settled"}
`,
);

transcript(
  "the input closes while a job runs that outlives the wait",
  {
    args: ["--yolo"],
    env: { WEIR_JOB_WAIT: "0.3" },
    replies: [
      {
        toolCalls: [{ id: "w1", name: "bash", args: { command: "sleep 600", background: true } }],
        ...usage(2100, 15),
      },
      { text: "It watches.", ...usage(2190, 4, 2048) },
    ],
  },
  `
> {"id":"p","type":"prompt","message":"start the watcher in the background"}
(end of input)
< {"type":"response","command":"prompt","success":true,"id":"p","data":{"disposition":"started"}}
< {"type":"turn_start","message":"start the watcher in the background"}
< {"type":"assistant","id":"<id>","text":"","tool_calls":[{"id":"w1","name":"bash","args":{"command":"sleep 600","background":true}}],"usage":{"input_tokens":2100,"output_tokens":15,"cache_read_tokens":0}}
< {"type":"job","event":"started","job":{"id":"j1","kind":"shell","title":"sleep 600","status":"running","reason":"","exitCode":null,"startedBy":"model","elapsed":"<number>","output":"<path:log>","sessionId":"<uuid:session>"}}
< {"type":"tool_result","id":"w1","name":"bash","status":"success","output":"In background: j1 · shell · running · 0s · sleep 600 · output <path:log>"}
< {"type":"assistant","id":"<id>","text":"It watches.","tool_calls":[],"usage":{"input_tokens":2190,"output_tokens":4,"cache_read_tokens":2048}}
< {"type":"turn_end","answer":"It watches.","usage":{"input_tokens":4290,"output_tokens":19,"cache_read_tokens":2048}}
< {"type":"agent_settled"}
< {"type":"job","event":"ended","job":{"id":"j1","kind":"shell","title":"sleep 600","status":"stopped","reason":"exit","exitCode":130,"startedBy":"model","elapsed":"<number>","output":"<path:log>","sessionId":"<uuid:session>"}}
< {"type":"jobs_stopped","count":1}
`,
);
