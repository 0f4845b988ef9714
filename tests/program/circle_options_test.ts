/** Options of a circle RPC process that change what the model is offered and told. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { allOf, calls, type Circle, withCircle } from "./_with_circle.ts";

const ALL = [
  "bash",
  "edit",
  "find",
  "grep",
  "list_jobs",
  "ls",
  "question",
  "read",
  "stop_job",
  "task",
  "todo",
  "write",
];

/** The names of the tools that the last request offered. */
function offered(circle: Circle): string[] {
  const tools = (circle.lastRequest.body.tools ?? []) as { function: { name: string } }[];
  return tools.map((tool) => tool.function.name).sort();
}

async function offeredWith(args: string[], check: (names: string[], circle: Circle) => void) {
  await withCircle({ args, replies: [{ text: "ok" }] }, async (circle) => {
    await circle.turn("go");
    check(offered(circle), circle);
  });
}

Deno.test("circle offers every tool unless it is told otherwise", async () => {
  await offeredWith([], (names, { weir }) => {
    assertEquals(names, ALL);
    assertEquals(weir.stderr, "");
  });
});

Deno.test("circle --tools offers only these, aliases included", async () => {
  await offeredWith(["--tools", "read, ls,read_file,glob,write_todos"], (names, { weir }) => {
    assertEquals(names, ["find", "ls", "read", "todo"]);
    assertEquals(weir.stderr, "");
  });
  await offeredWith(["-t", "execute,edit_file,write_file"], (names) => {
    assertEquals(names, ["bash", "edit", "write"]);
  });
});

Deno.test("circle --exclude-tools offers all but these", async () => {
  await offeredWith(["-xt", "execute,task,glob"], (names) => {
    assertEquals(names, ALL.filter((name) => !["bash", "task", "find"].includes(name)));
  });
  await offeredWith(["--tools=read,ls,bash", "--exclude-tools", "execute"], (names) => {
    assertEquals(names, ["ls", "read"]);
  });
});

Deno.test("circle --no-tools offers none, and a call gets an error result", async () => {
  const replies = [calls({ name: "read", args: { path: "notes.txt" } }), { text: "ok" }];
  await withCircle({ args: ["-nt"], replies }, async (circle) => {
    const [result] = allOf(await circle.turn("go"), "tool_result");
    assertEquals([result.status, result.output], ["error", "tool is not available: read"]);
    assertEquals(offered(circle), []);
    assertEquals(circle.lastRequest.body.tools, undefined);
  });
});

Deno.test("circle says on stderr which tool it does not know, and goes on", async () => {
  for (const option of ["--tools", "--exclude-tools"]) {
    await offeredWith([option, "read,teleport"], (names, { weir }) => {
      assertEquals(names.includes("read"), option === "--tools");
      assertEquals(weir.stderr.trimEnd().split("\n").length, 1, weir.stderr);
      assertStringIncludes(weir.stderr, "teleport");
    });
  }
});

Deno.test("circle prompt options change the system prompt", async () => {
  const files = { "AGENTS.md": "Rhyme always.", "CLAUDE.md": "Never rhyme." };
  const systemOf = (circle: Circle) => String(circle.lastRequest.messages[0].content);
  await withCircle(
    { files, replies: [{ text: "a" }, { text: "b" }, { text: "c" }] },
    async (circle) => {
      await circle.turn("one");
      assertStringIncludes(systemOf(circle), "Rhyme always.");
      await circle.start([
        "-nc",
        "--append-system-prompt",
        "Be kind.",
        "--append-system-prompt=Be short.",
      ]);
      await circle.turn("two");
      assertEquals(/[Rr]hyme/.test(systemOf(circle)), false);
      assert(systemOf(circle).indexOf("Be kind.") < systemOf(circle).indexOf("Be short."));
      const prompt = `${circle.home.home}/prompt.md`;
      await Deno.writeTextFile(prompt, "You are a parrot.");
      await circle.start(["--system-prompt", prompt, "--no-context-files"]);
      await circle.turn("three");
      assert(systemOf(circle).startsWith("You are a parrot."));
    },
  );
});

Deno.test("circle options may follow the folder and carry their value behind an equals sign", async () => {
  await withCircle({
    args: ["--model=-odd", "--thinking", " HIGH ", "--no-session"],
    replies: [{ text: "a" }],
  }, async (circle) => {
    const { model, thinkingLevel } = await circle.state();
    assertEquals([model, thinkingLevel], ["-odd", "high"]);
    await circle.turn("go");
    assertEquals(circle.lastRequest.body.model, "-odd");
  });
});

Deno.test("circle hands commands an environment without secrets", async () => {
  const command = "env";
  const env = { MY_API_KEY: "one", GH_TOKEN: "two", DB_PASSWORD: "three", PLAIN_VALUE: "four" };
  const replies = [calls({ name: "bash", args: { command } }), { text: "ok" }];
  await withCircle({ args: ["--yolo"], env, replies }, async (circle) => {
    const [{ output }] = allOf(await circle.turn("go"), "tool_result");
    assertStringIncludes(String(output), "PLAIN_VALUE=four");
    for (const name of ["MY_API_KEY", "GH_TOKEN", "DB_PASSWORD"]) {
      assertEquals(String(output).includes(name), false);
    }
  });
});
