import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { prepareHome } from "./prepare_home.ts";
import { startModelServer } from "./model_server.ts";
import { startWeir } from "./weir_process.ts";

/** A program that does what each line of its stdin says. */
const PROGRAM = `
const encoder = new TextEncoder();
const write = (text) => Deno.stdout.writeSync(encoder.encode(text));
const emit = (record) => write(JSON.stringify(record) + "\\n");
let rest = "";
for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split("\\n");
  rest = lines.pop();
  for (const line of lines) {
    const { id, type, ...more } = JSON.parse(line);
    if (type === "env") emit({ type: "env", env: Deno.env.toObject(), args: Deno.args });
    if (type === "write") write(more.text);
    if (type === "exit") Deno.exit(more.code);
    if (type === "child") {
      const child = new Deno.Command("sleep", { args: ["60"], detached: true, stdout: "null" }).spawn();
      child.unref();
      emit({ type: "child", pid: child.pid });
    }
    if (type === "flood") {
      let n = 0;
      try {
        for (; n < more.count; n++) emit({ type: "flood", n, text: "x".repeat(1000) });
      } catch (error) {
        console.error("flood ended: " + error.name);
        Deno.exit(3);
      }
    }
    for (const record of more.records ?? []) emit(record);
    if (id !== undefined) emit({ type: "response", id, command: type, success: true });
  }
}
if (rest) emit({ type: "rest", rest });
`;

async function start(options: { env?: Record<string, string>; timeoutMs?: number } = {}) {
  const program = await Deno.makeTempFile({ suffix: ".js" });
  await Deno.writeTextFile(program, PROGRAM);
  const weir = await startWeir({
    program: [Deno.execPath(), "run", "-A", "--no-config", program],
    args: ["--mode", "rpc"],
    home: "/tmp/some-home",
    ...options,
  });
  return Object.assign(weir, { removeProgram: () => Deno.remove(program) });
}

async function withProgram(
  options: { env?: Record<string, string>; timeoutMs?: number },
  test: (weir: Awaited<ReturnType<typeof start>>) => Promise<void>,
): Promise<void> {
  const weir = await start(options);
  try {
    await test(weir);
  } finally {
    await weir.removeProgram();
    await weir[Symbol.asyncDispose]();
  }
}

Deno.test("startWeir() hands the child a clean environment and its arguments", async () => {
  Deno.env.set("WEIR_FAKES_TEST_SECRET", "leak");
  try {
    await withProgram({ env: { EXTRA: "1" } }, async (weir) => {
      await weir.send({ type: "env" });
      const { env, args } = await weir.next("env") as {
        env: Record<string, string>;
        args: string[];
      };
      const allowed = "DENO_DIR EXTRA HOME NO_COLOR PATH SystemRoot TMPDIR WEIR_HOME".split(" ");
      assertEquals(Object.keys(env).filter((name) => !allowed.includes(name)), []);
      assertEquals([env.WEIR_HOME, env.EXTRA, env.NO_COLOR], ["/tmp/some-home", "1", "1"]);
      assert(env.HOME !== Deno.env.get("HOME"));
      assertEquals(args, ["--mode", "rpc"]);
    });
  } finally {
    Deno.env.delete("WEIR_FAKES_TEST_SECRET");
  }
});

Deno.test("WeirProcess.next() keeps the order and response() does not move it", async () => {
  await withProgram({}, async (weir) => {
    const records = [{ type: "a", n: 1 }, { type: "b", n: 2 }, { type: "a", n: 3 }, {
      type: "agent_settled",
    }];
    const response = await weir.request({ type: "emit", records });
    assertEquals(response.command, "emit");
    assertEquals((await weir.next("b")).n, 2);
    assertEquals((await weir.next("a")).n, 3);
    await weir.send({ id: 7, type: "emit", records });
    const settled = await weir.settled();
    assertEquals(settled.map(({ type }) => type), ["agent_settled"]);
    assertEquals((await weir.settled()).map(({ n }) => n), [1, 2, 3, undefined]);
    assertEquals((await weir.response(7)).id, 7);
    assertEquals(weir.records.length, 10);
  });
});

Deno.test("WeirProcess.next() takes a predicate and waits for what comes later", async () => {
  await withProgram({}, async (weir) => {
    const later = weir.next((record) => record.n === 5);
    await weir.send({ type: "emit", records: [{ type: "x", n: 4 }] });
    await weir.send({ type: "emit", records: [{ type: "x", n: 5 }] });
    assertEquals(await later, { type: "x", n: 5 });
  });
});

Deno.test("WeirProcess.next() explains a timeout with records and stderr", async () => {
  await withProgram({}, async (weir) => {
    await weir.request({ type: "emit", records: [{ type: "seen" }] });
    const error = await assertRejects(() => weir.next("never", { timeoutMs: 1 }), Error);
    assertStringIncludes(error.message, "Cannot get a record never: none in 1 ms");
    assertStringIncludes(error.message, '{"type":"seen"}');
    const none = await assertRejects(() => weir.response("zz", { timeoutMs: 1 }), Error);
    assertStringIncludes(none.message, 'Cannot get the response "zz": none in 1 ms');
  });
});

Deno.test("WeirProcess.next() rejects when the program exits, and exit has the code", async () => {
  await withProgram({}, async (weir) => {
    const waiting = assertRejects(() => weir.next("never"), Error, "weir's output ended before");
    await weir.send({ type: "exit", code: 5 });
    await waiting;
    assertEquals(await weir.exit, { code: 5, signal: null });
    await assertRejects(() => weir.send({ type: "env" }), Error, "Cannot send to weir");
  });
});

Deno.test("WeirProcess.kill() ends it with that signal", async () => {
  await withProgram({}, async (weir) => {
    await weir.request({ type: "ready" });
    await assertRejects(
      () => weir.waitForExit({ timeoutMs: 1 }),
      Error,
      "Cannot wait for weir's exit",
    );
    weir.kill("SIGKILL");
    assertEquals((await weir.waitForExit()).signal, "SIGKILL");
  });
});

Deno.test("WeirProcess.closeInput() ends stdin, sendRaw() writes exactly its bytes", async () => {
  await withProgram({}, async (weir) => {
    await weir.sendRaw('{"type":"emit","records":[{"type":"one"}]}\nla');
    await weir.sendRaw(new Uint8Array([0xc3]));
    await weir.sendRaw(new Uint8Array([0xa9]));
    await weir.closeInput();
    assertEquals(await weir.until("rest"), [{ type: "one" }, { type: "rest", rest: "la\u00e9" }]);
    assertEquals(await weir.exit, { code: 0, signal: null });
  });
});

for (
  const [what, text, explanation] of [
    ["text", "hello\n", "line 1 is no JSON object: hello"],
    ["an array", "[1]\n", "line 1 is no JSON object: [1]"],
    ["an empty line", "\n", "line 1 is no JSON object: "],
    ["a line without its end", '{"type":"x"}', "last line has no line feed"],
  ]
) {
  Deno.test(`WeirProcess refuses ${what} on stdout when it is disposed`, async () => {
    const weir = await start();
    await weir.send({ type: "write", text });
    await weir.request({ type: "exit", code: 0 }).catch(() => {});
    await weir.removeProgram();
    const dispose = () => weir[Symbol.asyncDispose]();
    const error = await assertRejects(dispose, Error, "stdout is protocol only");
    assertStringIncludes(error.message, explanation);
    await assertRejects(dispose, Error, "stdout is protocol only");
  });
}

Deno.test("WeirProcess.pauseReading() makes the program wait, resumeReading() loses nothing", async () => {
  await withProgram({}, async (weir) => {
    await weir.request({ type: "ready" });
    weir.pauseReading();
    await weir.send({ id: 1, type: "flood", count: 1000 });
    await assertRejects(() => weir.response(1, { timeoutMs: 300 }), Error, "none in 300 ms");
    assert(weir.records.length < 500, `${weir.records.length} records`);
    weir.resumeReading();
    await weir.response(1);
    assertEquals(weir.records.filter(({ type }) => type === "flood").length, 1000);
  });
});

Deno.test("WeirProcess.closeOutput() gives the program a broken pipe", async () => {
  await withProgram({}, async (weir) => {
    await weir.request({ type: "ready" });
    await weir.closeOutput();
    await weir.send({ type: "flood", count: 1000 });
    assertEquals((await weir.waitForExit()).code, 3);
    assertEquals(weir.stderr, "flood ended: BrokenPipe\n");
  });
});

Deno.test({
  name: "WeirProcess disposes what the program started in other process groups",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    const weir = await start();
    await weir.send({ type: "child" });
    const { pid } = await weir.next("child");
    assertEquals(await weir.livingProcesses(), [weir.pid, pid as number].sort((a, b) => a - b));
    await weir.removeProgram();
    await weir[Symbol.asyncDispose]();
    await weir[Symbol.asyncDispose]();
    assertEquals(await weir.livingProcesses(), []);
    assert(weir.records.length === 1);
  },
});

Deno.test("prepareHome() writes configuration, trust and workspace, and removes them", async () => {
  await using server = startModelServer();
  const extraConfig = { approvals: "allow", providers: { local: { timeoutSeconds: 3 } } };
  const prepared = await prepareHome({ server, api: "responses", model: "m", extraConfig });
  const { home, workspace } = prepared;
  const config = JSON.parse(await Deno.readTextFile(`${home}/config.jsonc`));
  assertEquals([config.model, config.approvals], ["local/m", "allow"]);
  const { baseUrl, apiKey, api, timeoutSeconds, models } = config.providers.local;
  assertEquals([baseUrl, apiKey, api, timeoutSeconds], [server.url, "test-key", "responses", 3]);
  assertEquals(models.m.price.output, 2);
  const trust = JSON.parse(await Deno.readTextFile(`${home}/trust.json`));
  assertEquals(trust, { projects: { [workspace]: true } });
  assertStringIncludes(await Deno.readTextFile(`${workspace}/src/main.ts`), "hello");
  await prepared.dispose();
  await prepared[Symbol.asyncDispose]();
  await assertRejects(() => Deno.stat(home), Deno.errors.NotFound);
});
