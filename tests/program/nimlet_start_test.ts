/** Starts of nimlet that fail or do not, and its JSON mode. */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { prepareHome } from "../fakes/prepare_home.ts";
import { startWeir } from "../fakes/weir_process.ts";
import { type Place, type Run, withPlace } from "./_run_once.ts";
import {
  allOf,
  checkOneShotRecords,
  kindsOf,
  type WireRecord,
  withNimlet,
} from "./_with_nimlet.ts";

const RPC = ["--mode", "rpc", "--dialect", "nimlet"];
const JSON_MODE = ["--mode", "json", "--dialect", "nimlet", "--session-id", "s1"];

function recordsOf({ stdout }: Run): WireRecord[] {
  const records = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  checkOneShotRecords(records);
  return records;
}

async function refused(place: Place, args: string[], expected: [number, string | RegExp]) {
  const { code, stdout, stderr } = await place.run(args);
  assertEquals([code, stdout], [expected[0], ""], stderr);
  if (typeof expected[1] === "string") assertEquals(stderr, expected[1]);
  else assertMatch(stderr, expected[1]);
}

Deno.test("nimlet usage errors are one line and exit 2", async () => {
  await withPlace({}, async (place) => {
    const words = "RPC mode accepts commands on stdin, not a CLI prompt.\n";
    await refused(place, [...RPC, "do it"], [2, words]);
    await refused(place, [...RPC, "--", "x"], [2, words]);
    const nothing = "Non-interactive mode requires a prompt or piped stdin.\n";
    await refused(place, JSON_MODE, [2, nothing]);
    await refused(place, [...RPC, "--no-session", "-r"], [2, /^[^\n]*--no-session[^\n]*\n$/]);
    await refused(place, [...RPC, "--approve", "--no-approve"], [2, /^[^\n]*--approve[^\n]*\n$/]);
  });
});

Deno.test("nimlet start-up failures are two lines and exit 1", async () => {
  await withPlace({}, async (place) => {
    const failed = (reason: string) => `STARTUP_FAILED\n${reason}\n`;
    await refused(place, [...RPC, "--session", "abc"], [1, failed("Session not found: abc")]);
    await refused(place, [...RPC, "--fork", "abc"], [1, failed("Session not found: abc")]);
    await refused(place, [...RPC, "--session-id", "a/b"], [1, failed("Invalid session ID.")]);
    await refused(place, [...RPC, "--model", "gone/m"], [1, failed("unsupported provider: gone")]);
    await refused(place, [...RPC, "--thinking", "much"], [
      1,
      failed("invalid thinking level: much"),
    ]);
    await Deno.writeTextFile(
      `${place.home.home}/config.jsonc`,
      '{"agent": {"steering_mode": "some"}}',
    );
    await refused(place, RPC, [
      1,
      /^STARTUP_FAILED\n[^\n]*config\.jsonc:1:12[^\n]*steering_mode[^\n]*\n$/,
    ]);
  });
});

Deno.test("nimlet session is open in one process at a time", async () => {
  await withNimlet({}, async (nimlet) => {
    const run = new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "-A", "--config", new URL("../../deno.npm.json", import.meta.url).pathname],
        new URL("../../src/main.ts", import.meta.url).pathname,
        ...[...RPC, "--session-id", "s1", nimlet.workspace],
      ],
      env: { WEIR_HOME: nimlet.home.home },
      stdin: "null",
    });
    await nimlet.weir.next("session_start");
    const { code, stderr } = await run.output();
    assertEquals(
      [code, new TextDecoder().decode(stderr)],
      [1, `STARTUP_FAILED\nSession s1 is in use by process ${nimlet.weir.pid}.\n`],
    );
  });
});

Deno.test("nimlet starts without a model or a key, and the first run says what to set", async () => {
  await withPlace({}, async ({ home, run }) => {
    const file = `${home.home}/config.jsonc`;
    await Deno.writeTextFile(file, "{}");
    const without = await run([...JSON_MODE, "--thinking", "none", "hi there"]);
    assertEquals(without.code, 1);
    const records = recordsOf(without);
    assertEquals(kindsOf(records), [
      "session_start",
      "user",
      "run_start",
      "step_start",
      "error",
      "session_end",
    ]);
    assertEquals("model" in records[3], false);
    assertStringIncludes(String(records[4].message), "OPENAI_API_KEY");
    assertEquals(records[5].success, false);
    await Deno.writeTextFile(
      file,
      '{"model": "p/m", "providers": {"p": {"baseUrl": "http://127.0.0.1:1/v1", "apiKeyEnv": "MY_KEY"}}}',
    );
    const error = recordsOf(await run([...JSON_MODE, "hi there"])).find(({ type }) =>
      type === "error"
    );
    assertStringIncludes(String(error?.message), "MY_KEY");
  });
});

Deno.test("nimlet skips an untrusted .weir folder with a notice, and says nothing without one", async () => {
  const replies = [{ text: "one" }, { text: "two" }, { text: "three" }];
  await withPlace({ replies, trust: [] }, async ({ home, run }) => {
    assertEquals((await run([...JSON_MODE, "hi there"])).stderr, "");
    await Deno.mkdir(`${home.workspace}/.weir`);
    await Deno.writeTextFile(`${home.workspace}/.weir/config.jsonc`, '{"model": "gone"}');
    const skipped = await run([...JSON_MODE, "hi there"]);
    assertEquals(
      [skipped.code, skipped.stderr],
      [0, "Project-local resources skipped (use --approve or weir trust).\n"],
    );
    await Deno.remove(`${home.workspace}/.weir/config.jsonc`);
    assertEquals((await run([...JSON_MODE, "--approve", "hi there"])).stderr, "");
  });
});

Deno.test("nimlet -c and -r go on with the newest session, or start one", async () => {
  const replies = [{ text: "one" }, { text: "two" }];
  await withPlace({ replies }, async ({ server, run }) => {
    const mode = ["--mode", "json", "--dialect", "nimlet"];
    const [start] = recordsOf(await run([...mode, "-c", "first message"]));
    const [again] = recordsOf(await run([...mode, "-r", "second message"]));
    assertEquals(again.session_id, start.session_id);
    assertEquals(server.requests[1].messages.map(({ role }) => role), [
      ...["system", "user", "assistant", "user"],
    ]);
  });
});

Deno.test("nimlet JSON mode joins stdin and words, and expands mentions in the words only", async () => {
  const replies = [
    { toolCalls: [{ id: "c", name: "read", args: { path: "notes.txt" } }] },
    { text: "three" },
    { text: "piped" },
  ];
  const files = { "notes.txt": "first\n" };
  await withPlace({ replies, files }, async ({ run }) => {
    const both = await run([...JSON_MODE, "see @notes.txt", "now"], {
      stdin: "\n piped @notes.txt \n",
    });
    const records = recordsOf(both);
    const text = "piped @notes.txt\n\nsee @notes.txt now" +
      '\n\n<file path="notes.txt">\nfirst\n\n</file>';
    assertEquals(records[1].content, text);
    assertEquals(kindsOf(records), [
      ...["session_start", "user", "run_start", "step_start", "tool_call", "tool_result"],
      ...["step_end", "step_start", "message_delta", "assistant", "step_end", "run_end"],
      "session_end",
    ]);
    assertEquals([both.code, both.stderr], [0, ""]);
    const piped = recordsOf(await run(JSON_MODE, { stdin: "only this\n" }));
    assertEquals(piped[1].content, "only this");
  });
});

Deno.test("nimlet JSON mode ends with exit 1 after a failure, and stops jobs without a run for them", async () => {
  const command = "while :; do sleep 0.05; done";
  const replies = [
    { status: 401, body: { error: { message: "invalid key" } } },
    { toolCalls: [{ id: "c", name: "bash", args: { command, background: true } }] },
    { text: "started" },
  ];
  await withPlace({ replies }, async ({ run }) => {
    const failed = await run([...JSON_MODE, "hi there"]);
    const records = recordsOf(failed);
    assertEquals([failed.code, kindsOf(records).slice(-2), records.at(-1)!.success], [
      1,
      ["error", "session_end"],
      false,
    ]);
    const withJob = await run([...JSON_MODE, "hi there"]);
    assertEquals([withJob.code, allOf(recordsOf(withJob), "run_start").length], [0, 1]);
  });
});

Deno.test("nimlet JSON mode tells that a signal interrupted it, and exits with its code", async () => {
  await using server = startModelServer();
  server.reply({ text: ["part", "never sent"], stallAfter: 1 });
  await using home = await prepareHome({ server });
  await using weir = await startWeir({
    args: [...JSON_MODE, home.workspace, "hi there"],
    home: home.home,
  });
  await weir.closeInput();
  await weir.next("message_delta");
  weir.kill("SIGINT");
  assertEquals(kindsOf(await weir.until("session_end")), ["error", "session_end"]);
  assertEquals(await weir.waitForExit(), { code: 130, signal: null });
  assertEquals(weir.records.at(-2)!.message, "Interrupted");
  checkOneShotRecords(weir.records);
});
