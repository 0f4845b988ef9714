import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { ToolCall, ToolResultMessage } from "../../src/agent/message.ts";
import type { ModelRequest } from "../../src/agent/model.ts";
import { createDenoHost } from "../../src/deno/deno_host.ts";
import { type LoadedExtensions, loadExtensions } from "../../src/extensions/load.ts";
import { createToolContext, runTool } from "../tools/_tool_context.ts";

const host = createDenoHost();
const never = new AbortController().signal;

interface Loaded extends AsyncDisposable, LoadedExtensions {
  readonly folder: string;
  readonly warnings: string[];
}

/** Files by name; `b/x.js` is in a second folder. */
async function load(
  files: Record<string, string>,
  options: { timeoutMs?: number; hookTimeoutMs?: number; signal?: AbortSignal } = {},
): Promise<Loaded> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "weir extensions é_" }));
  const remove = () => Deno.remove(folder, { recursive: true });
  const warnings: string[] = [];
  try {
    for (const name of ["a", "b"]) await Deno.mkdir(`${folder}/${name}`);
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${folder}/${name.includes("/") ? name : `a/${name}`}`, text);
    }
    const loaded = await loadExtensions({
      host,
      folders: [`${folder}/a`, `${folder}/none`, `${folder}/b`, `${folder}/a`],
      workspace: "/project",
      taken: new Set(["files_read"]),
      signal: never,
      warn: (line) => warnings.push(line.replaceAll(folder, "")),
      ...options,
    });
    return { ...loaded, folder, warnings, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

const call: ToolCall = { type: "toolCall", id: "c1", name: "bash", arguments: { command: "ls" } };
const result: ToolResultMessage = {
  role: "toolResult",
  toolCallId: "c1",
  toolName: "bash",
  content: [{ type: "text", text: "one" }, { type: "text", text: "two" }],
  isError: false,
  timestamp: 1,
  details: { exitCode: 0 },
};
const request: ModelRequest = {
  systemPrompt: "You are.",
  messages: [{ role: "user", content: [{ type: "text", text: "hello" }], timestamp: 1 }],
  tools: [],
  thinkingLevel: undefined,
  sessionId: "s1",
};

Deno.test("loadExtensions() loads modules by folder and name, in JavaScript and TypeScript", async () => {
  const tool = (name: string) =>
    `weir.addTool({ name: "${name}", description: "d", run: () => weir.version + weir.workspace });`;
  await using loaded = await load({
    "b/0.js": `export default (weir) => { ${tool("late")} }`,
    "2.ts":
      `import { name } from "./_name.ts"; export default async (weir: any): Promise<void> => { ${
        tool("second")
      } if (name !== "n") throw new Error(name as string); }`,
    "_name.ts": `export const name: string = "n";`,
    "1 é#?%.mjs": `export default (weir) => { ${tool("first")} weir.log("hello\\nthere"); }`,
    ".hidden.js": `throw new Error("loaded")`,
    "types.d.ts": `throw new Error("loaded")`,
    "notes.txt": `no module`,
  });
  assertEquals(loaded.tools.map(({ name }) => name), ["first", "second", "late"]);
  assertEquals(loaded.warnings, ["1 é#?%.mjs: hello", "1 é#?%.mjs: there"]);
});

Deno.test("loadExtensions() leaves out what fails or hangs, in one line each", async () => {
  await using loaded = await load({
    "1.js": `export default () => { throw new Error("no\\nluck"); }`,
    "2.js": `export const x = 1;`,
    "3.js": `this is no JavaScript`,
    "4.js": `export default () => new Promise(() => {});`,
    "5.js": `await new Promise((resolve) => globalThis.releaseModule = resolve);
      export default (weir) => weir.addTool({ name: "late", description: "d", run: () => "" });`,
    "6.js": `export default (weir) => {
      weir.addTool({ name: "lost", description: "d", run: () => "" });
      weir.addTool({ name: "bash", description: "d", run: () => "" });
    }`,
    "7.js":
      `export default (weir) => weir.addTool({ name: "works", description: "d", run: () => "" });`,
  }, { timeoutMs: 300 });
  assertEquals(loaded.tools.map(({ name }) => name), ["works"]);
  assertEquals(loaded.warnings.length, 6);
  const [first, second, third, fourth, fifth, sixth] = loaded.warnings;
  assertEquals(first, "weir: extension /a/1.js is left out: no luck");
  assertEquals(
    second,
    "weir: extension /a/2.js is left out: its default export is not a function",
  );
  assert(third!.startsWith("weir: extension /a/3.js is left out: ") && !third!.includes("\n"));
  assertEquals(fourth, "weir: extension /a/4.js is left out: it was not loaded within 0.3 s");
  assertEquals(fifth, "weir: extension /a/5.js is left out: it was not loaded within 0.3 s");
  // The runtime takes a module that waits for ever as a fault when nothing else is left to do.
  (globalThis as unknown as { releaseModule(): void }).releaseModule();
  assertStringIncludes(sixth!, "Cannot add the tool bash: the name is taken, use another one");
});

Deno.test("loadExtensions() throws the signal's reason while a module hangs", async () => {
  const controller = new AbortController();
  const reason = new Error("stop it");
  const loading = load({ "1.js": `export default () => new Promise(() => {});` }, {
    signal: controller.signal,
  });
  setTimeout(() => controller.abort(reason), 50);
  assertEquals(await assertRejects(() => loading), reason);
});

Deno.test("addTool() refuses what is no tool and names that are taken", async () => {
  await using loaded = await load({
    "1.js": `export default (weir) => {
      const good = { name: "a", description: "d", run: () => "" };
      weir.addTool(good);
      const bad = [
        null, { ...good, name: "a b" }, { ...good, name: 5 }, { ...good, description: undefined },
        { ...good, run: "" }, { ...good, parameters: [] }, { ...good, parameters: { type: "string" } },
        good, { ...good, name: "files_read" }, { ...good, name: "list_jobs" },
      ];
      for (const tool of bad) {
        try { weir.addTool(tool); weir.log("accepted " + JSON.stringify(tool)); } catch {}
      }
      for (const name of ["onToolCall", "onModelRequest", "onSessionStart", "onSessionEnd"]) {
        try { weir[name](5); weir.log("accepted " + name); } catch {}
      }
    }`,
    "2.js": `export default (weir) => {
      try { weir.addTool({ name: "a", description: "d", run: () => "" }); weir.log("twice"); } catch {}
      setTimeout(() => { try { weir.onSessionEnd(() => {}); weir.log("late"); } catch {} });
    }`,
  });
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(loaded.warnings, []);
  assertEquals(loaded.tools.length, 1);
});

Deno.test("a tool of an extension checks arguments and turns what it gives into a result", async () => {
  await using loaded = await load({
    "1.js": `export default (weir) => {
      const properties = { what: { type: "string" } };
      weir.addTool({
        name: "say", description: "d",
        parameters: { properties, required: ["what"] },
        run: async ({ what }, { callId, workspace, signal }) => {
          if (what === "throw") throw new Error("thrown");
          if (what === "error") return { text: "refused", isError: true };
          if (what === "nothing") return undefined;
          if (what === "wait") await new Promise((_, reject) => signal.addEventListener("abort", reject));
          return what + callId + workspace;
        },
      });
    }`,
  });
  const [tool] = loaded.tools;
  assertEquals(tool!.parameters, {
    type: "object",
    properties: { what: { type: "string" } },
    required: ["what"],
    additionalProperties: false,
  });
  assertEquals(tool!.parse({}), { ok: false, problem: "what is required" });
  const run = (what: string, signal?: AbortSignal) =>
    runTool(tool!, { what }, createToolContext(host, signal === undefined ? {} : { signal }));
  const text = (text: string) => [{ type: "text", text } as const];
  assertEquals(await run("hi"), { content: text("hic1/project"), isError: false });
  assertEquals(await run("error"), { content: text("refused"), isError: true });
  assertEquals(await run("throw"), { content: text("thrown"), isError: true });
  assertEquals((await run("nothing")).isError, true);
  const controller = new AbortController();
  const waiting = run("wait", controller.signal);
  const reason = new Error("enough");
  controller.abort(reason);
  assertEquals(await assertRejects(() => waiting), reason);
});

Deno.test("hooks refuse calls, replace results and add to requests, in order", async () => {
  await using loaded = await load({
    "1.js": `export default (weir) => {
      weir.onToolCall({
        before: ({ tool, arguments: args }) => {
          args.command += " changed";
          return tool === "bash" && args.command.startsWith("rm") ? "not here" : undefined;
        },
        after: (call, { text, isError }) => ({ text: text + "!" + isError }),
      });
      weir.onModelRequest(({ sessionId, systemPrompt, messages }) => {
        messages.push("changed");
        return { systemPrompt: "Be brief. " + sessionId + systemPrompt.length };
      });
    }`,
    "2.js": `export default (weir) => {
      weir.onToolCall({ after: async ({ id }, { text }) =>
        text.startsWith("one") ? { text: text + id, isError: true } : undefined });
      weir.onModelRequest(async ({ systemPrompt, messages }) =>
        ({ message: messages.length + messages[0].role + messages[0].text + systemPrompt.length }));
    }`,
  });
  const { hooks } = loaded;
  assertEquals(await hooks.beforeCall(call, never), undefined);
  const remove = { ...call, arguments: { command: "rm x" } };
  assertEquals(await hooks.beforeCall(remove, never), "not here");
  assertEquals(remove.arguments.command, "rm x");
  assertEquals(await hooks.afterCall(call, result), {
    ...result,
    content: [{ type: "text", text: "onetwo!falsec1" }],
    isError: true,
  });
  const extended = await hooks.beforeRequest(request, never);
  assertEquals(extended.systemPrompt, "You are.\n\nBe brief. s18");
  assertEquals(extended.messages.length, 2);
  assertEquals(extended.messages[1]!.content, [{ type: "text", text: "1userhello23" }]);
  assertEquals(request.messages.length, 1);
});

Deno.test("a hook that fails or hangs is one line, and the work goes on without it", async () => {
  await using loaded = await load({
    "1.js": `export default (weir) => {
      const fail = () => { throw new Error("broken\\nhook"); };
      weir.onToolCall({ before: fail, after: () => new Promise(() => {}) });
      weir.onModelRequest(async () => { await null; throw "text"; });
      weir.onModelRequest(() => 5);
      weir.onSessionStart(fail);
      weir.onSessionEnd(fail);
    }`,
  }, { hookTimeoutMs: 50 });
  const { hooks, warnings } = loaded;
  assertEquals(await hooks.beforeCall(call, never), undefined);
  assertEquals(await hooks.afterCall(call, result), result);
  assertEquals(await hooks.beforeRequest(request, never), request);
  await hooks.sessionStart({ id: "s1", workspace: "/project" });
  await hooks.sessionEnd({ id: "s1", workspace: "/project" });
  assertEquals(warnings, [
    "weir: 1.js: the hook before bash failed: broken hook",
    "weir: 1.js: the hook after bash is not waited for: it took more than 0.05 s",
    "weir: 1.js: the hook before a model request failed: text",
    "weir: 1.js: the hook at the start of a session failed: broken hook",
    "weir: 1.js: the hook at the end of a session failed: broken hook",
  ]);
});

Deno.test("session hooks run once for each session, and its first request waits for the start", async () => {
  await using loaded = await load({
    "1.js": `export default (weir) => {
      weir.onSessionStart(async ({ id, workspace }) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        weir.log("start " + id + workspace);
      });
      weir.onModelRequest(() => { weir.log("request"); });
      weir.onSessionEnd(({ id }) => weir.log("end " + id));
    }`,
  });
  const { hooks, warnings } = loaded;
  const session = { id: "s1", workspace: "/project" };
  void hooks.sessionStart(session);
  await hooks.sessionStart(session);
  const aborted = AbortSignal.abort(new Error("enough"));
  assertEquals(await hooks.beforeRequest(request, aborted), request);
  await hooks.beforeRequest(request, never);
  await hooks.sessionEnd(session);
  await hooks.sessionEnd(session);
  await hooks.sessionEnd({ ...session, id: "other" });
  const log = warnings.map((line) => line.replace("1.js: ", ""));
  assertEquals(log.filter((line) => line !== "request"), ["start s1/project", "end s1"]);
  assert(log.indexOf("start s1/project") < log.lastIndexOf("request"));
});
