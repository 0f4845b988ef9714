/** `export_html` and `weir export` of the real program. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { prepareHome } from "../fakes/prepare_home.ts";
import { startWeir } from "../fakes/weir_process.ts";

Deno.test("export_html writes the conversation into the workspace, also while a turn runs", async () => {
  await using server = startModelServer();
  await using place = await prepareHome({ server });
  await using weir = await startWeir({
    args: ["--mode", "rpc", place.workspace],
    home: place.home,
  });
  server.reply(
    { toolCalls: [{ name: "read", args: { path: "notes.txt" } }] },
    { text: "The answer is <b>42</b>." },
  );
  await weir.request({ type: "prompt", message: "What & why?" });
  await weir.settled();

  const reply = await weir.request({ type: "export_html", outputPath: "page.html" });
  const path = `${place.workspace}/page.html`;
  assertEquals([reply.success, reply.data], [true, { path }]);
  const html = await Deno.readTextFile(path);
  for (
    const text of [
      "The answer is &lt;b&gt;42&lt;/b&gt;.",
      "What &amp; why?",
      "● read",
      "second line",
      place.workspace,
      "test-model",
    ]
  ) assertStringIncludes(html, text);

  const missing = await weir.request({ type: "export_html", outputPath: "no/page.html" });
  assertEquals([missing.success, missing.error], [
    false,
    `No such file or directory: ${place.workspace}/no/page.html`,
  ]);
  const folder = await weir.request({ type: "export_html", outputPath: "src" });
  assertEquals([folder.success, folder.error], [
    false,
    `Cannot export to "${place.workspace}/src": it is a folder, name a file in it`,
  ]);

  const gate = Promise.withResolvers<void>();
  server.reply({ text: "later", gate: gate.promise });
  await weir.request({ type: "prompt", message: "the second question" });
  const { sessionId, isStreaming } = (await weir.request({ type: "get_state" })).data as {
    sessionId: string;
    isStreaming: boolean;
  };
  assertEquals(isStreaming, true);
  const during = await weir.request({ type: "export_html" });
  const own = `${place.workspace}/${sessionId}.html`;
  assertEquals(during.data, { path: own });
  assertStringIncludes(await Deno.readTextFile(own), "the second question");

  // Another process, while this one has the session open and a turn runs.
  const options = { home: place.home, cwd: place.workspace };
  const suffix = sessionId.slice(-12);
  const copied = await runProgram(["export", suffix, "copy.html"], options);
  assertEquals(copied, { code: 0, stdout: `${place.workspace}/copy.html\n`, stderr: "" });
  const copy = await Deno.readTextFile(`${place.workspace}/copy.html`);
  assertStringIncludes(copy, "the second question");
  assertEquals(await runProgram(["export", "nothing"], options), {
    code: 1,
    stdout: "",
    stderr: "✖ unknown session: nothing\n",
  });

  gate.resolve();
  const records = await weir.settled();
  assert(records.some((record) => record.type === "turn_end" && record.answer === "later"));
});

async function runProgram(args: readonly string[], options: { home: string; cwd: string }) {
  const root = new URL("../../", import.meta.url).pathname;
  const program = Deno.env.get("WEIR_PROGRAM");
  const first = program === undefined
    ? [Deno.execPath(), "run", "-A", "--config", `${root}deno.npm.json`, `${root}src/main.ts`]
    : [program];
  const { code, stdout, stderr } = await new Deno.Command(first[0]!, {
    args: [...first.slice(1), ...args],
    cwd: options.cwd,
    env: { WEIR_HOME: options.home, NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, stdout: out, stderr: err };
}

Deno.test("export_html replaces a file also before the conversation has one of its own", async () => {
  await using place = await prepareHome();
  await using weir = await startWeir({
    args: ["--mode", "rpc", place.workspace],
    home: place.home,
  });
  for (let i = 0; i < 2; i++) {
    const reply = await weir.request({ type: "export_html", outputPath: "notes.txt" });
    assertEquals(reply.data, { path: `${place.workspace}/notes.txt` });
  }
  const own = await weir.request({
    type: "export_html",
    outputPath: `${place.home}/config.jsonc`,
  });
  assertEquals(own.success, false);
});
