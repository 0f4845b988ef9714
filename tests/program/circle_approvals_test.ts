/** Which calls a circle RPC process runs, which not, and what it says about them. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { allOf, calls, type Circle, type CircleOptions, withCircle } from "./_with_circle.ts";

type Call = { name: string; args: Record<string, unknown> };

const NEEDS = "not run: needs --yolo or approval";
const ALWAYS = "not run: this operation always asks";

/** Runs all calls in one turn and gives, for each, its `not_run` reason, its status and its output. */
async function tryCalls(
  options: CircleOptions,
  tried: Call[],
  check: (
    seen: { reason: unknown; status: unknown; output: string }[],
    circle: Circle,
  ) => Promise<void> | void,
): Promise<void> {
  const numbered = tried.map((call, index) => ({ ...call, id: `c${index}` }));
  await withCircle(
    { ...options, replies: [calls(...numbered), { text: "ok" }] },
    async (circle) => {
      const records = await circle.turn("go");
      const seen: { reason: unknown; status: unknown; output: string }[] = [];
      let reason: unknown;
      for (const record of records) {
        if (record.type === "not_run") {
          assertEquals([record.name, record.args], [
            tried[seen.length].name,
            tried[seen.length].args,
          ]);
          ({ reason } = record);
        }
        if (record.type !== "tool_result") continue;
        assertEquals(record.id, `c${seen.length}`);
        seen.push({ reason, status: record.status, output: String(record.output) });
        reason = undefined;
      }
      assertEquals(seen.length, tried.length);
      assertEquals(allOf(records, "turn_end").length, 1);
      await check(seen, circle);
    },
  );
}

function bash(command: string): Call {
  return { name: "bash", args: { command } };
}

function refusedWith(text: string) {
  return { reason: undefined, status: "error", output: `Denied by approval policy: ${text}` };
}

const CHANGES: Call[] = [
  bash("touch made"),
  bash("cat notes.txt | head -1"),
  { name: "write", args: { path: "new.txt", content: "x" } },
  { name: "edit", args: { path: "notes.txt", edits: [{ oldText: "first", newText: "1st" }] } },
  { name: "edit", args: { path: "notes.txt", oldText: "first", newText: "1st" } },
  { name: "write", args: { path: "../outside.txt", content: "x" } },
  { name: "write", args: { path: "/tmp/weir_outside_never.txt", content: "x" } },
];

for (const args of [[], ["--approvals", "deny"], ["--approvals", "ask"]]) {
  const named = args.join(" ") || "no option";
  Deno.test(`circle approvals with ${named} run no command and change no file`, async () => {
    await tryCalls({ args }, CHANGES, async (seen, circle) => {
      assertEquals(seen.map(({ reason }) => reason), [
        "runs a shell command",
        "only reads",
        "changes files in the workspace",
        "changes files in the workspace",
        "changes files in the workspace",
        "changes files outside the workspace",
        "changes files outside the workspace",
      ]);
      for (const { status, output } of seen) assertEquals([status, output], ["error", NEEDS]);
      assertEquals(await circle.file("made"), undefined);
      assertEquals(await circle.file("new.txt"), undefined);
      assertEquals(await circle.file("../outside.txt"), undefined);
      assertStringIncludes((await circle.file("notes.txt"))!, "first line");
    });
  });
}

for (const args of [["--yolo"], ["--approvals", "allow"], ["--approvals=allow", "--yolo"]]) {
  Deno.test(`circle approvals with ${args.join(" ")} run what asks, but never what always asks`, async () => {
    const tried = [...CHANGES.slice(0, 6), bash("rm notes.txt"), bash("git push --force")];
    await tryCalls({ args }, tried, async (seen, circle) => {
      assertEquals(seen.slice(0, 6).map(({ reason }) => reason), Array(6).fill(undefined));
      assertEquals(seen.slice(0, 4).map(({ status }) => status), Array(4).fill("success"));
      // The same edit once more finds nothing, which is the tool's own failure.
      assertEquals(seen[4].status, "error");
      assertEquals(seen[6], { reason: "deletes files", status: "error", output: ALWAYS });
      assertEquals(seen[7], { reason: "destructive operation", status: "error", output: ALWAYS });
      assertEquals(await circle.file("new.txt"), "x");
      assertEquals(await circle.file("../outside.txt"), "x");
      assertEquals(await circle.file("notes.txt"), "1st line\nsecond line\nthird line\n");
    });
  });
}

Deno.test("circle approvals let reading tools run in every mode, also outside the workspace", async () => {
  const tried = [
    { name: "read", args: { path: "notes.txt" } },
    { name: "ls", args: {} },
    { name: "read", args: { path: "../outside.txt" } },
    { name: "ls", args: { path: "/" } },
    { name: "todo", args: { items: [{ text: "a", status: "pending" }] } },
    { name: "question", args: { questions: [{ question: "Why?" }] } },
  ];
  const files = { "notes.txt": "n\n", "../outside.txt": "o\n" };
  await tryCalls({ files }, tried, (seen) => {
    assertEquals(
      seen.map(({ reason, status }) => [reason, status]),
      Array(6).fill([undefined, "success"]),
    );
    assertEquals(seen[2].output, "o\n");
    assert(seen[5].output.startsWith("USER_QUESTIONS"));
  });
});

for (const args of [[], ["--yolo"]]) {
  Deno.test(`circle approvals refuse credential files and programs with [${args}]`, async () => {
    const files = {
      ".env": "SECRET=1\n",
      "sub/prod.env": "SECRET=2\n",
      "key.pem": "SECRET=3\n",
      "my.hidden": "SECRET=4\n",
      "plain.txt": "plain\n",
    };
    const extraConfig = { credential_files: ["*.hidden"] };
    const tried = [
      bash("sudo id"),
      bash("echo a; env X=1 doas id"),
      bash("cat .env"),
      bash("cat < sub/prod.env | wc -l"),
      bash("cat my.hidden"),
      bash(`python3 -c "print(open('.env').read())"`),
      { name: "read", args: { path: ".env" } },
      { name: "read", args: { path: "sub/../key.pem" } },
      { name: "write", args: { path: "new/.env.local", content: "x" } },
      { name: "edit", args: { path: "my.hidden", edits: [{ oldText: "S", newText: "s" }] } },
      { name: "read", args: { path: "link.txt" } },
    ];
    const setUp: CircleOptions = { args, files, extraConfig };
    const numbered = tried.map((call, index) => ({ ...call, id: `c${index}` }));
    const reply = { ...calls(...numbered) };
    await withCircle({ ...setUp, replies: [reply, { text: "ok" }] }, async (circle) => {
      await Deno.symlink(`${circle.workspace}/.env`, `${circle.workspace}/link.txt`);
      const records = await circle.turn("go");
      assertEquals(allOf(records, "not_run"), []);
      const expected = [
        refusedWith("sudo changes who commands run as"),
        refusedWith("doas changes who commands run as"),
        refusedWith(".env is a credential file"),
        refusedWith("prod.env is a credential file"),
        refusedWith("my.hidden is a credential file"),
        refusedWith("credential file in Python code"),
        refusedWith(".env is a credential file"),
        refusedWith("key.pem is a credential file"),
        refusedWith(".env.local is a credential file"),
        refusedWith("my.hidden is a credential file"),
        refusedWith("link.txt is a credential file"),
      ].map(({ status, output }) => `${status} ${output}`);
      const results = allOf(records, "tool_result");
      const seen = results.map(({ status, output }) => `${status} ${output}`);
      // Files may be named by base name or by the path as it was given.
      const byBaseName = seen.map((text) => text.replace(/policy: \S*\//, "policy: "));
      assertEquals(byBaseName.slice(0, 10), expected.slice(0, 10));
      assert(/^error Denied by approval policy: \S+ is a credential file$/.test(byBaseName[10]));
      assertEquals(JSON.stringify(records).includes("SECRET"), false);
    });
  });
}

Deno.test("circle approvals refuse the home's own configuration", async () => {
  const replies = [{ text: "placeholder" }];
  await withCircle({ args: ["--yolo"], replies }, async (circle) => {
    await circle.turn("warm up");
    const path = `${circle.home.home}/config.jsonc`;
    circle.server.reply(
      calls(
        { name: "read", args: { path } },
        { name: "write", args: { path: "../home/config.jsonc", content: "{}" } },
      ),
      { text: "ok" },
    );
    const before = await Deno.readTextFile(path);
    const results = allOf(await circle.turn("go"), "tool_result");
    for (const { output } of results) {
      assert(
        /^Denied by approval policy: .*config\.jsonc is a credential file$/.test(String(output)),
      );
    }
    assertEquals(await Deno.readTextFile(path), before);
  });
});

Deno.test("circle approvals look where a symlink leads", async () => {
  const replies = [
    calls({ name: "write", args: { path: "out/new.txt", content: "x" } }),
    { text: "ok" },
  ];
  await withCircle({ replies }, async (circle) => {
    await Deno.mkdir(`${circle.workspace}/../elsewhere`);
    await Deno.symlink("../elsewhere", `${circle.workspace}/out`);
    const [notRun] = allOf(await circle.turn("go"), "not_run");
    assertEquals(notRun.reason, "changes files outside the workspace");
  });
});

Deno.test("circle approvals check arguments before the class", async () => {
  const tried = [
    { name: "bash", args: { cmd: "rm -rf x" } },
    { name: "write", args: { path: ".env" } },
    { name: "sudo", args: {} },
  ];
  await tryCalls({}, tried, (seen) => {
    assertEquals(seen.map(({ reason }) => reason), [undefined, undefined, undefined]);
    assert(seen[0].output.startsWith("bash was called with invalid arguments: "));
    assert(seen[1].output.startsWith("write was called with invalid arguments: "));
    assertEquals(seen[2].output, "tool is not available: sudo");
  });
});

Deno.test("circle approvals last for the process, also after new_session", async () => {
  const call = () => calls(bash("echo run"));
  const replies = [call(), { text: "a" }, call(), { text: "b" }];
  await withCircle({ args: ["--yolo"], replies }, async (circle) => {
    for (let round = 0; round < 2; round++) {
      const [result] = allOf(await circle.turn("go"), "tool_result");
      assertEquals([result.status, result.output], ["success", "run\nExit code: 0"]);
      await circle.data({ type: "new_session" });
    }
  });
});

Deno.test("circle approvals come from the configuration unless an option says otherwise", async () => {
  const extraConfig = { approvals: "allow" };
  const call = () => calls(bash("echo run"));
  await withCircle(
    { extraConfig, replies: [call(), { text: "a" }, call(), { text: "b" }] },
    async (circle) => {
      assertEquals(allOf(await circle.turn("go"), "tool_result")[0].status, "success");
      await circle.start(["--approvals", "deny"]);
      assertEquals(allOf(await circle.turn("go"), "tool_result")[0].output, NEEDS);
    },
  );
});

Deno.test("circle approvals keep grep away from credential files, but let their names be listed", async () => {
  const files = { ".env": "needle=1\n", "a.txt": "needle\n", "sub/key.pem": "needle\n" };
  const tried = [
    { name: "grep", args: { pattern: "needle" } },
    { name: "grep", args: { pattern: "needle", path: ".env" } },
    { name: "grep", args: { pattern: "needle", path: "sub" } },
    { name: "ls", args: {} },
    { name: "find", args: { pattern: "*.pem" } },
  ];
  await tryCalls({ files }, tried, ([all, one, folder, ls, find]) => {
    assertStringIncludes(all.output, "a.txt:1:");
    assertEquals(/env|key/.test(all.output), false);
    assertEquals(one, refusedWith(".env is a credential file"));
    assertEquals([folder.status, folder.output.includes("needle")], ["success", false]);
    assertStringIncludes(ls.output, ".env");
    assertStringIncludes(find.output, "key.pem");
  });
});

Deno.test("circle never shows the keys of the home's own configuration", async () => {
  await withCircle({ replies: [] }, async (circle) => {
    const { home } = circle.home;
    circle.server.reply(
      calls(
        { id: "c0", name: "grep", args: { pattern: "test-key", path: home, glob: "*.jsonc" } },
        { id: "c1", name: "grep", args: { pattern: "test-key", path: `${home}/config.jsonc` } },
        { id: "c2", name: "read", args: { path: `${home}/config.jsonc` } },
      ),
      { text: "ok" },
    );
    const outputs = allOf(await circle.turn("go"), "tool_result").map(({ output }) => output);
    const denied = "Denied by approval policy: config.jsonc is a credential file";
    assertEquals(outputs, ["No matches found", denied, denied]);
  });
});
