/** Sessions of a pi RPC process: files, entries, switching, forks, clones, options of the start. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  allOf,
  calls,
  held,
  type Json,
  type Pi,
  saidIn,
  textOf,
  typesOf,
  withPi,
} from "./_with_pi.ts";

async function fileOf(pi: Pi): Promise<string> {
  return String((await pi.state()).sessionFile);
}

async function lines(file: string): Promise<Json[]> {
  const text = await Deno.readTextFile(file);
  return text.trimEnd().split("\n").map((line) => JSON.parse(line));
}

async function exists(file: string): Promise<boolean> {
  return await Deno.stat(file).then(() => true, () => false);
}

Deno.test("pi entries form one chain, and a cursor gives those that came later", async () => {
  await withPi({ replies: [{ text: "one" }, { text: "two" }] }, async (pi) => {
    const start = await pi.entries();
    assertEquals(start.map(({ type }) => type), ["model_change", "thinking_level_change"]);
    assertEquals(await exists(await fileOf(pi)), false);
    await pi.run("a");
    const first = await pi.data({ type: "get_entries" });
    await pi.run("b");
    const later = await pi.entries(String(first.leafId));
    assertEquals(later.map(({ message }) => textOf(message)), ["b", "two"]);
    const { entries, leafId } = await pi.data({ type: "get_entries" }) as {
      entries: Json[];
      leafId: string;
    };
    let parent: unknown = null;
    for (const entry of entries) {
      assertEquals(entry.parentId, parent);
      parent = entry.id;
    }
    assertEquals(parent, leafId);
    const [header, ...stored] = await lines(await fileOf(pi));
    assertEquals([header.type, header.version, header.cwd], ["session", 3, pi.workspace]);
    assertEquals(stored.map(({ id }) => id), entries.map(({ id }) => id));
    const { tree } = await pi.data({ type: "get_tree" }) as { tree: Json[] };
    assertEquals([tree.length, (tree[0].entry as Json).id], [1, entries[0].id]);
  });
});

Deno.test("pi fork, clone and new_session", async () => {
  const replies = [{ text: "one" }, { text: "two" }, { text: "three" }];
  await withPi({ replies }, async (pi) => {
    await pi.run("a");
    await pi.run("b");
    const old = await fileOf(pi);
    const { messages } = await pi.data({ type: "get_fork_messages" }) as { messages: Json[] };
    assertEquals(messages.map(({ text }) => text), ["a", "b"]);
    const data = await pi.data({ type: "fork", entryId: messages[1].entryId });
    assertEquals(data, { text: "b", cancelled: false });
    const fork = await fileOf(pi);
    assert(fork !== old);
    assertEquals(await exists(fork), true);
    assertEquals((await pi.messages()).map(textOf), ["a", "one"]);
    await pi.run("c");
    assertEquals(saidIn(pi.lastRequest), ["user: a", "assistant: one", "user: c"]);
    assertEquals((await lines(fork))[0].parentSession, old);
    assertEquals(await pi.data({ type: "clone" }), { cancelled: false });
    const clone = await fileOf(pi);
    assertEquals((await pi.messages()).map(textOf), ["a", "one", "c", "three"]);
    await pi.ask({ type: "set_session_name", name: "copy" });
    assertEquals((await lines(clone))[0].parentSession, fork);
    await pi.data({ type: "new_session", parentSession: "/any/where" });
    assertEquals((await pi.state()).messageCount, 0);
    await pi.ask({ type: "bash", command: "true" });
    assertEquals((await lines(await fileOf(pi)))[0].parentSession, "/any/where");
    await pi.data({ type: "switch_session", sessionPath: old });
    assertEquals((await pi.messages()).map(textOf), ["a", "one", "b", "two"]);
    assertEquals(await pi.data({ type: "get_last_assistant_text" }), { text: "two" });
  });
});

Deno.test("pi a replacing command that fails changes nothing and the run goes on", async () => {
  const first = held({ text: "fine" });
  await withPi({ replies: [first.reply] }, async (pi) => {
    const file = await fileOf(pi);
    await pi.begin("go");
    const path = `${pi.workspace}/none.jsonl`;
    assertEquals(
      await pi.error({ type: "switch_session", sessionPath: path }),
      `Session not found: ${path}`,
    );
    const bad = `${pi.workspace}/notes.txt`;
    assertEquals(
      await pi.error({ type: "switch_session", sessionPath: bad }),
      `Session file is not a valid pi session: ${bad}`,
    );
    const gone = `${pi.workspace}/gone.jsonl`;
    await Deno.writeTextFile(
      gone,
      '{"type":"session","version":3,"id":"x","timestamp":"","cwd":"/not/there"}\n',
    );
    assertEquals(
      await pi.error({ type: "switch_session", sessionPath: gone }),
      "Working directory of the session does not exist: /not/there",
    );
    first.letGo();
    const records = await pi.weir.settled();
    assertEquals(records.at(-1)!.aborted, false);
    assertEquals(await fileOf(pi), file);
  });
});

Deno.test("pi a replacing command ends the run, and what stands behind it waits", async () => {
  const first = held();
  await withPi({ replies: [first.reply, { text: "new" }] }, async (pi) => {
    await pi.begin("old");
    await pi.data({ type: "follow_up", message: "later" });
    const bash = await pi.send({ type: "bash", command: "sleep 77" });
    const { sessionId } = await pi.state();
    const ids = await pi.sendAll(
      { type: "new_session" },
      { type: "get_state" },
      { type: "prompt", message: "hello" },
    );
    const state = (await pi.weir.response(ids[1])).data as Json;
    assert(state.sessionId !== sessionId);
    assertEquals(state.pendingMessageCount, 0);
    assertEquals(((await pi.weir.response(bash)).data as Json).cancelled, true);
    await pi.weir.settled();
    await pi.weir.settled();
    const order = pi.weir.records
      .filter(({ type, command }) => type === "agent_settled" || command === "new_session")
      .map(({ type, aborted }) => [type, aborted]);
    assertEquals(order, [
      ["agent_settled", true],
      ["response", undefined],
      ["agent_settled", false],
    ]);
    assertEquals((await pi.messages()).map(textOf), ["hello", "new"]);
    first.letGo();
  });
});

Deno.test("pi switch_session finds a file that was only announced, and reads the open one again", async () => {
  await withPi({ replies: [{ text: "one" }] }, async (pi) => {
    const { sessionFile, sessionId } = await pi.state();
    await pi.data({ type: "new_session" });
    await pi.data({ type: "switch_session", sessionPath: sessionFile });
    assertEquals((await pi.state()).sessionId, sessionId);
    await pi.run("go");
    await pi.data({ type: "switch_session", sessionPath: sessionFile });
    assertEquals((await pi.messages()).map(textOf), ["go", "one"]);
    const before = await Deno.readTextFile(String(sessionFile));
    await pi.end();
    await pi.start(["--session", String(sessionFile)]);
    await pi.state();
    await pi.end();
    assertEquals(await Deno.readTextFile(String(sessionFile)), before);
  });
});

Deno.test("pi session is used by one process at a time", async () => {
  await withPi({ replies: [{ text: "one" }] }, async (pi) => {
    await pi.run("go");
    const { sessionFile, sessionId } = await pi.state();
    const inUse = `Session ${sessionId} is in use by process ${pi.weir.pid}.`;
    const second = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--config",
        new URL("../../deno.npm.json", import.meta.url).pathname,
        new URL("../../src/main.ts", import.meta.url).pathname,
        "--mode",
        "rpc",
        "--dialect",
        "pi",
        "--session",
        String(sessionFile),
      ],
      cwd: pi.workspace,
      env: { WEIR_HOME: pi.home.home },
      stdin: "null",
    }).output();
    assertEquals([second.code, new TextDecoder().decode(second.stdout)], [2, ""]);
    assertStringIncludes(new TextDecoder().decode(second.stderr), inUse);
  });
});

Deno.test("pi tree of a long session, and all its messages", async () => {
  await withPi({}, async (pi) => {
    const file = `${pi.workspace}/long.jsonl`;
    const rows: Json[] = [{
      type: "session",
      version: 3,
      id: "long",
      timestamp: "2026-01-01T00:00:00.000Z",
      cwd: pi.workspace,
    }];
    for (let i = 0; i < 6000; i++) {
      rows.push({
        type: "message",
        id: `e${i}`,
        parentId: i === 0 ? null : `e${i - 1}`,
        timestamp: "2026-01-01T00:00:00.000Z",
        message: { role: "user", content: [{ type: "text", text: `m${i}` }], timestamp: i },
      });
    }
    await Deno.writeTextFile(file, rows.map((row) => JSON.stringify(row) + "\n").join(""));
    await pi.data({ type: "switch_session", sessionPath: file });
    assertEquals((await pi.messages()).length, 6000);
    const { tree, leafId } = await pi.data({ type: "get_tree" }) as {
      tree: Json[];
      leafId: string;
    };
    let depth = 0;
    for (let node: Json | undefined = tree[0]; node !== undefined; depth++) {
      [node] = node.children as Json[];
    }
    assertEquals([depth, leafId], [6000, "e5999"]);
  });
});

Deno.test("pi session of a killed process goes on, with a result for the call that was lost", async () => {
  const replies = [
    { text: "one" },
    calls({ id: "k1", name: "bash", args: { command: "sleep 77" } }),
    { text: "two" },
  ];
  await withPi({ replies }, async (pi) => {
    await pi.run("a");
    const file = await fileOf(pi);
    await pi.data({ type: "prompt", message: "b" });
    await pi.weir.next("tool_execution_start");
    await pi.kill();
    await pi.start(["--session", file]);
    const messages = await pi.messages();
    assertEquals(messages.map(({ role }) => role), [
      "user",
      "assistant",
      "user",
      "assistant",
      "toolResult",
    ]);
    assertEquals(messages[4].isError, true);
    await pi.run("c");
    assertEquals(pi.lastRequest.messages.at(-2)!.role, "tool");
  });
});

Deno.test("pi statistics count the whole file", async () => {
  const replies = [
    calls({ id: "k1", name: "ls", args: {} }),
    { text: "one", usage: { input: 20, output: 5, cacheRead: 8 } },
  ];
  await withPi({ replies }, async (pi) => {
    await pi.run("a");
    const stats = await pi.data({ type: "get_session_stats" });
    const { sessionFile, sessionId } = await pi.state();
    assertEquals(Object.keys(stats), [
      "sessionFile",
      "sessionId",
      "userMessages",
      "assistantMessages",
      "toolCalls",
      "toolResults",
      "totalMessages",
      "tokens",
      "cost",
      "contextUsage",
    ]);
    assertEquals([stats.sessionFile, stats.sessionId], [sessionFile, sessionId]);
    assertEquals(
      [stats.userMessages, stats.assistantMessages, stats.toolCalls, stats.toolResults],
      [1, 2, 1, 1],
    );
    assertEquals(stats.tokens, { input: 22, output: 10, cacheRead: 8, cacheWrite: 0, total: 40 });
    assertEquals(stats.contextUsage, { tokens: 25, contextWindow: 100_000, percent: 0.025 });
  });
});

Deno.test("pi export_html writes the page and names it after the file", async () => {
  await withPi({ replies: [{ text: "one" }] }, async (pi) => {
    await pi.run("a");
    const file = await fileOf(pi);
    const name = file.split("/").at(-1)!.replace(".jsonl", ".html");
    const { path } = await pi.data({ type: "export_html" });
    assertEquals(path, `${pi.workspace}/weir-session-${name}`);
    assertMatch(await Deno.readTextFile(String(path)), /<html/);
    const other = await pi.data({ type: "export_html", outputPath: "page.html" });
    assertEquals(other, { path: `${pi.workspace}/page.html` });
  });
});

Deno.test("pi options of the start", async () => {
  const models = { "test-model": { reasoning: true }, plain: {} };
  const extraConfig = { providers: { local: { models } } };
  const args = [
    "--provider",
    "local",
    "--model",
    "plain",
    "-e",
    "x",
    "--no-themes",
    "-nbt",
    "words",
  ];
  await withPi({ extraConfig, args, replies: [{ text: "one" }] }, async (pi) => {
    assertEquals(((await pi.state()).model as Json).id, "plain");
    assertStringIncludes(pi.weir.stderr, "weir: -e x is ignored: pi extensions do not run in Weir");
    assertStringIncludes(
      pi.weir.stderr,
      "weir: RPC mode takes prompts on stdin, ignored: words",
    );
    await pi.run("go");
    const tools = (pi.lastRequest.body.tools as Json[]).map((tool) => (tool.function as Json).name);
    assertEquals(tools.includes("question"), false);
    const { sessionId } = await pi.state();
    await pi.start(["-c", "--thinking", "low", "-n", "a  name"]);
    const state = await pi.state();
    assertEquals([state.sessionId, state.sessionName, state.thinkingLevel], [
      sessionId,
      "a name",
      "low",
    ]);
    assertEquals((state.model as Json).id, "plain");
    await pi.start(["--session", String(sessionId).slice(0, 20), "--model", "test-model:high"]);
    const other = await pi.state();
    assertEquals([other.sessionId, (other.model as Json).id, other.thinkingLevel], [
      sessionId,
      "test-model",
      "high",
    ]);
    await pi.start(["--session-dir", `${pi.workspace}/kept`, "--models", "plain"]);
    assertMatch(await fileOf(pi), /\/workspace\/kept\/[^/]+\.jsonl$/);
    assertEquals((await pi.data({ type: "cycle_model" })).isScoped, true);
    await pi.start(["--session", "new/one.jsonl"]);
    assertEquals(await fileOf(pi), `${pi.workspace}/new/one.jsonl`);
  });
});

for (
  const args of [
    ["--bogus"],
    ["--model", "nope"],
    ["--provider", "x", "--model", "m"],
    ["--thinking", "huge"],
    ["--models", "test-model,nope"],
    ["--session", "nope"],
    ["@file"],
  ]
) {
  Deno.test(`pi does not start with ${args.join(" ")}`, async () => {
    await withPi({ args }, async (pi) => {
      await pi.exit({ code: 2 });
      assertEquals(pi.weir.records, []);
      assertEquals(pi.weir.stderr.trimEnd().split("\n").length, 1, pi.weir.stderr);
    });
  });
}

Deno.test("pi opens a session that another program wrote, and keeps what it does not know", async () => {
  await withPi({ replies: [{ text: "one" }] }, async (pi) => {
    const file = `${pi.workspace}/foreign.jsonl`;
    const entry = (id: string, parentId: string | null, more: Json): Json => ({
      id,
      parentId,
      timestamp: "2026-01-01T00:00:00.000Z",
      ...more,
    });
    const usage = {
      input: 1,
      output: 2,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 3,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.5 },
    };
    const assistant = {
      role: "assistant",
      content: [{ type: "text", text: "hello", textSignature: "s" }],
      api: "other-api",
      provider: "other",
      model: "o1",
      usage,
      stopReason: "stop",
      timestamp: 2,
    };
    const rows: Json[] = [
      {
        type: "session",
        version: 3,
        id: "foreign",
        timestamp: "2026-01-01T00:00:00.000Z",
        cwd: pi.workspace,
      },
      entry("a", null, {
        type: "message",
        message: { role: "system", content: "rules", timestamp: 0 },
      }),
      entry("b", "a", { type: "message", message: { role: "user", content: "hi", timestamp: 1 } }),
      entry("c", "b", { type: "message", message: assistant }),
      entry("d", "c", { type: "label", targetId: "b", label: "start" }),
      entry("e", "d", {
        type: "custom_message",
        customType: "note",
        content: "remember",
        display: true,
      }),
      entry("f", "e", { type: "branch_summary", summary: "tried it", fromId: "c" }),
      entry("g", "f", { type: "future", anything: [1] }),
    ];
    await Deno.writeTextFile(file, rows.map((row) => JSON.stringify(row) + "\n").join(""));
    await pi.data({ type: "switch_session", sessionPath: file });
    const messages = await pi.messages();
    assertEquals(messages.map(({ role }) => role), [
      "user",
      "assistant",
      "custom",
      "branchSummary",
    ]);
    assertEquals(messages[1], assistant);
    assertEquals(
      (await pi.entries()).map(({ type }) => type),
      rows.slice(1).map(({ type }) => type),
    );
    const { tree } = await pi.data({ type: "get_tree" }) as { tree: Json[] };
    assertEquals((tree[0].children as Json[])[0].label, "start");
    await pi.run("go");
    assertEquals(saidIn(pi.lastRequest), [
      "user: hi",
      "assistant: hello",
      "user: remember",
      "user: <branch-summary>\ntried it\n</branch-summary>",
      "user: go",
    ]);
    const kept = (await Deno.readTextFile(file)).split("\n").slice(0, rows.length);
    assertEquals(kept, rows.map((row) => JSON.stringify(row)));
  });
});

Deno.test("pi json mode writes the header and one run per message", async () => {
  await withPi({}, async (pi) => {
    const json = async (replies: Json[], args: string[], stdin = "") => {
      pi.server.reply(...replies);
      await pi.end();
      const child = new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "-A",
          "--config",
          new URL("../../deno.npm.json", import.meta.url).pathname,
          new URL("../../src/main.ts", import.meta.url).pathname,
          "--mode",
          "json",
          "--dialect",
          "pi",
          ...args,
        ],
        cwd: pi.workspace,
        env: { WEIR_HOME: pi.home.home },
        stdin: "piped",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
      const writer = child.stdin.getWriter();
      await writer.write(new TextEncoder().encode(stdin));
      await writer.close();
      const { code, stdout } = await child.output();
      const text = new TextDecoder().decode(stdout);
      const records = text.split("\n").slice(0, -1).map((line) => JSON.parse(line) as Json);
      return { code, records };
    };
    const fine = await json([{ text: "one" }, { text: "two" }], ["--no-session", "a", "b"]);
    assertEquals([fine.code, fine.records[0].type], [0, "session"]);
    assertEquals(allOf(fine.records, "agent_settled").length, 2);
    assertEquals(allOf(fine.records, "response").length, 0);
    const failed = await json([{ status: 400, body: { error: { message: "no" } } }], ["a"]);
    assertEquals(failed.code, 1);
    assertEquals(typesOf(failed.records).at(-1), "agent_settled");
    const cut = await json([{ text: "par", finish: "length" }], ["a"]);
    assertEquals(cut.code, 1);
    const piped = await json([{ text: "one" }], ["@notes.txt", "a"], "from stdin\n");
    const user = allOf(piped.records, "message_end")[0].message;
    assertEquals(
      textOf(user),
      '<file name="notes.txt">\nfirst line\nsecond line\nthird line\n\n</file>\n\nfrom stdin\n\na',
    );
    assertEquals((await json([], [])).code, 2);
    assertEquals((await json([], ["@none.txt", "a"])).code, 2);
    const asks = await json(
      [calls({ id: "k1", name: "bash", args: { command: "echo x" } }) as Json, { text: "done" }],
      ["--approvals", "ask", "a"],
    );
    const [end] = allOf(asks.records, "tool_execution_end");
    assertEquals(textOf(end.result), "Not run: nobody can answer, the input is closed");
  });
});

Deno.test("pi clone and fork are in their files at once, so that nothing of them is lost", async () => {
  const replies = [{ text: "a" }, { text: "b" }, { text: "more" }];
  await withPi({ replies }, async (pi) => {
    await pi.run("one");
    await pi.run("two");
    const original = String((await pi.state()).sessionFile);
    const { messages: points } = await pi.data({ type: "get_fork_messages" });
    const second = (points as Json[])[1]!.entryId;
    for (
      const [command, kept] of [
        [{ type: "clone" }, ["one", "a", "two", "b"]],
        [{ type: "fork", entryId: second }, ["one", "a"]],
      ] as const
    ) {
      await pi.data({ type: "switch_session", sessionPath: original });
      await pi.data(command);
      const copy = String((await pi.state()).sessionFile);
      const [header] = (await Deno.readTextFile(copy)).split("\n");
      assertEquals(JSON.parse(header!).parentSession, original);
      for (const path of [copy, original, copy]) {
        await pi.data({ type: "switch_session", sessionPath: path });
      }
      assertEquals((await pi.messages()).map(textOf), [...kept], command.type);
    }
    await pi.run("three");
    assertEquals((await pi.messages()).map(textOf), ["one", "a", "three", "more"]);
  });
});

Deno.test("pi switch_session to its own path keeps what still runs there, and goes on", async () => {
  for (const running of ["bash", "compact", "prompt"]) {
    const { reply } = held();
    const replies = running === "prompt" ? [reply, { text: "fine" }] : [{ text: "fine" }];
    await withPi({ replies }, async (pi) => {
      const path = String((await pi.state()).sessionFile);
      const [id] = await pi.sendAll(
        running === "bash"
          ? { type: "bash", command: "sleep 77" }
          : { type: running, message: "x" },
      );
      if (running === "bash") await new Promise((resolve) => setTimeout(resolve, 100));
      if (running === "prompt") await pi.server.waitForRequests(1);
      await pi.data({ type: "switch_session", sessionPath: path });
      await pi.weir.response(id);
      if (running === "prompt") await pi.weir.settled();
      await pi.run("go on");
      assertEquals(textOf((await pi.messages()).at(-1)), "fine", running);
    });
  }
});
