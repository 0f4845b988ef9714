import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type Json, withAcp } from "./_with_acp.ts";

const write = (path: string, content: string) => ({
  toolCalls: [{ name: "write", args: { path, content } }],
});

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

Deno.test("acp tells a read from pending to completed, and asks nobody", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    server.reply(
      { toolCalls: [{ name: "read", args: { path: "notes.txt", offset: 2 } }] },
      { text: "ok" },
    );
    assertEquals(await client.stopReason(client.prompt(session, "read")), "end_turn");
    assertEquals(client.states(session, "Read notes.txt"), ["pending", "in_progress", "completed"]);
    const call = client.updates(session).find(({ title }) => title === "Read notes.txt")!;
    assertEquals([call.kind, call.name, call.rawInput, call.locations], [
      "read",
      "read",
      { path: "notes.txt", offset: 2 },
      [{ path: `${workspace}/notes.txt`, line: 2 }],
    ]);
    assertEquals(client.end(session, "Read notes.txt").content, [
      { type: "content", content: { type: "text", text: "second line\nthird line\n" } },
    ]);
    assert(client.weir.records.every(({ method }) => method !== "session/request_permission"));
  }));

Deno.test("acp asks before a file is written, with the diff", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    server.reply(write("new/a.txt", "hello\n"), { text: "ok" });
    const id = client.prompt(session, "write");
    const { id: request, params } = await client.asked("session/request_permission");
    const diff = [{
      type: "diff",
      path: `${workspace}/new/a.txt`,
      oldText: null,
      newText: "hello\n",
    }];
    const { toolCall, options } = params as { toolCall: Json; options: Json[] };
    assertEquals([toolCall.title, toolCall.status, toolCall.content], [
      "Write new/a.txt",
      "pending",
      diff,
    ]);
    assertEquals(options.map(({ optionId, kind }) => [optionId, kind]), [
      ["allow_once", "allow_once"],
      ["allow_always", "allow_always"],
      ["reject_once", "reject_once"],
    ]);
    assertEquals(await exists(`${workspace}/new`), false);
    await client.reply(request, { outcome: { outcome: "selected", optionId: "allow_once" } });
    assertEquals(await client.stopReason(id), "end_turn");
    assertEquals(await Deno.readTextFile(`${workspace}/new/a.txt`), "hello\n");
    assertEquals(client.states(session, "Write new/a.txt"), [
      "pending",
      "in_progress",
      "completed",
    ]);
    assertEquals(client.end(session, "Write new/a.txt").content, diff);
  }));

Deno.test("acp does not run what is rejected, misunderstood or refused, and the turn goes on", async () => {
  const answers: [answer: Json, text: RegExp][] = [
    [{ result: { outcome: { outcome: "selected", optionId: "reject_once" } } }, /Rejected by/],
    [{ result: { outcome: { outcome: "selected", optionId: "yes" } } }, /not offered/],
    [{ result: { outcome: { outcome: "maybe" } } }, /not understood/],
    [{ result: {} }, /not understood/],
    [{ error: { code: -32603, message: "broken" } }, /broken/],
    [{}, /no result/],
    [{ result: { outcome: { outcome: "selected", optionId: "allow_once" } }, error: {} }, /both/],
  ];
  await withAcp({}, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    for (const [i, [answer, text]] of answers.entries()) {
      server.reply(write(`${i}.txt`, "x"), { text: "ok" });
      const id = client.prompt(session, "write");
      const asked = await client.asked("session/request_permission");
      await client.weir.send({ jsonrpc: "2.0", id: asked.id, ...answer });
      assertEquals(await client.stopReason(id), "end_turn");
      assertEquals(client.states(session, `Write ${i}.txt`), ["pending", "failed"]);
      assertMatch(JSON.stringify(client.end(session, `Write ${i}.txt`)), text);
      assertMatch(JSON.stringify(server.requests.at(-1)!.messages.at(-1)), text);
      assertEquals(await exists(`${workspace}/${i}.txt`), false);
    }
  });
});

Deno.test("acp asks nothing more of a client that does not know the question", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    server.reply(write("a.txt", "x"), write("b.txt", "x"), { text: "ok" });
    const id = client.prompt(session, "write");
    const asked = await client.asked("session/request_permission");
    const error = { code: -32601, message: "Method not found" };
    await client.weir.send({ jsonrpc: "2.0", id: asked.id, error });
    assertEquals(await client.stopReason(id), "end_turn");
    assertEquals(client.states(session, "Write b.txt"), ["pending", "failed"]);
    const questions = client.weir.records.filter(({ method }) =>
      method === "session/request_permission"
    );
    assertEquals(questions.length, 1);
  }));

Deno.test("acp gives up a question after its time, and drops a late answer", () =>
  withAcp({ extraConfig: { acp: { approvalTimeoutSeconds: 1 } } }, async (place) => {
    const { client, server, workspace } = place;
    const session = await client.open(workspace);
    server.reply(write("a.txt", "x"), { text: "ok" });
    const id = client.prompt(session, "write");
    const asked = await client.asked("session/request_permission");
    const withdrawn = await client.weir.next(({ method }) => method === "$/cancel_request");
    assertEquals(withdrawn.params, { requestId: asked.id });
    await client.reply(asked.id, { outcome: { outcome: "selected", optionId: "allow_once" } });
    assertEquals(await client.stopReason(id), "end_turn");
    assertEquals(client.states(session, "Write a.txt"), ["pending", "failed"]);
    assertStringIncludes(JSON.stringify(client.end(session, "Write a.txt")), "in 1 seconds");
    assertEquals(await exists(`${workspace}/a.txt`), false);
  }));

Deno.test("acp remembers what is always allowed, within its scope", () =>
  withAcp({}, async ({ client, server, workspace, home }) => {
    const session = await client.open(workspace);
    server.reply(write("a.txt", "x"), write("b.txt", "y"), { text: "ok" });
    const first = client.prompt(session, "write");
    await client.permit("allow_always");
    assertEquals(await client.stopReason(first), "end_turn");
    assertEquals(await Deno.readTextFile(`${workspace}/b.txt`), "y");
    // Outside the workspace, and what deletes, is asked about each time.
    server.reply(write(`${home.home}/c.txt`, "z"), {
      toolCalls: [{ name: "bash", args: { command: "rm a.txt" } }],
    }, { text: "ok" });
    const second = client.prompt(session, "more");
    for (let i = 0; i < 2; i++) {
      const { options } = await client.permit("reject_once");
      assertEquals((options as Json[]).map(({ kind }) => kind), ["allow_once", "reject_once"]);
    }
    assertEquals(await client.stopReason(second), "end_turn");
    assertEquals(await exists(`${workspace}/a.txt`), true);
  }));

Deno.test("acp ends the turn when the client says that the question is cancelled", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    server.reply(write("a.txt", "x"));
    const id = client.prompt(session, "write");
    const asked = await client.asked("session/request_permission");
    await client.reply(asked.id, { outcome: { outcome: "cancelled" } });
    assertEquals(await client.stopReason(id), "cancelled");
    assertEquals(client.states(session, "Write a.txt"), ["pending", "failed"]);
    assertStringIncludes(JSON.stringify(client.end(session, "Write a.txt")), "Interrupted");
  }));

Deno.test("acp fails an edit that cannot be made without a question, and shows one that can", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    const edit = (oldText: string) => ({
      toolCalls: [{
        name: "edit",
        args: { path: "notes.txt", edits: [{ oldText, newText: "2nd" }] },
      }],
    });
    server.reply(edit("nothing like this"), edit("second"), { text: "ok" });
    const id = client.prompt(session, "edit");
    const { toolCall } = await client.permit("allow_once") as { toolCall: Json };
    assertEquals(toolCall.content, [{
      type: "diff",
      path: `${workspace}/notes.txt`,
      oldText: "first line\nsecond line\nthird line\n",
      newText: "first line\n2nd line\nthird line\n",
    }]);
    assertEquals(toolCall.locations, [{ path: `${workspace}/notes.txt`, line: 2 }]);
    assertEquals(await client.stopReason(id), "end_turn");
    const [failed] = client.updates(session).filter(({ status }) => status === "failed");
    assertStringIncludes(JSON.stringify(failed), "old text was not found");
  }));

Deno.test("acp shows no credential file in a diff", () =>
  withAcp({ files: { ".env": "KEY=secret" } }, async ({ client, server, workspace, home }) => {
    const session = await client.open(workspace);
    server.reply(write(".env", "x"), write(`${home.home}/config.jsonc`, "x"), { text: "ok" });
    assertEquals(await client.stopReason(client.prompt(session, "write")), "end_turn");
    const text = JSON.stringify(client.weir.records);
    assertEquals([text.includes("KEY=secret"), text.includes("test-key")], [false, false]);
  }));

Deno.test("acp tells output and exit codes of commands", () =>
  withAcp({ args: ["--yolo"] }, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    const command = "echo one; sleep 0.1; echo two; exit 3";
    server.reply({ toolCalls: [{ name: "bash", args: { command } }] }, { text: "ok" });
    assertEquals(await client.stopReason(client.prompt(session, "run")), "end_turn");
    const end = client.end(session, command);
    assertEquals([end.status, end.rawOutput], ["failed", { exitCode: 3 }]);
    assertStringIncludes(JSON.stringify(end.content), "one\\ntwo\\nExit code: 3");
  }));

Deno.test("acp tells the plan before its call is completed", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    const items = [{ text: "look", status: "completed" }, { text: "fix", status: "in_progress" }];
    server.reply({ toolCalls: [{ name: "todo", args: { items } }] }, { text: "ok" });
    assertEquals(await client.stopReason(client.prompt(session, "plan")), "end_turn");
    const kinds = client.updates(session).map(({ sessionUpdate, status }) =>
      status ?? sessionUpdate
    );
    assertEquals(kinds.slice(kinds.indexOf("pending")).slice(0, 4), [
      "pending",
      "in_progress",
      "plan",
      "completed",
    ]);
    const plan = client.updates(session).find(({ entries }) => entries !== undefined)!;
    assertEquals(plan.entries, [
      { content: "look", priority: "medium", status: "completed" },
      { content: "fix", priority: "medium", status: "in_progress" },
    ]);
  }));

Deno.test("acp tells calls that are none: unknown tools and arguments that are no JSON", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    server.reply({
      toolCalls: [{ name: "nope", args: {} }, { name: "read", args: '{"path":' }],
    }, { text: "ok" });
    assertEquals(await client.stopReason(client.prompt(session, "go")), "end_turn");
    assertEquals(client.states(session, "nope"), ["pending", "failed"]);
    assertStringIncludes(
      JSON.stringify(client.end(session, "nope")),
      "tool is not available: nope",
    );
    const broken = client.updates(session).find(({ rawInput }) => rawInput === '{"path":')!;
    assertEquals(client.states(session, String(broken.title)), ["pending", "failed"]);
  }));

Deno.test("acp cuts long arguments", () =>
  withAcp({ args: ["--approvals", "deny"] }, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    server.reply(write("a.txt", "x".repeat(5000)), { text: "ok" });
    await client.stopReason(client.prompt(session, "go"));
    const { rawInput } = client.updates(session).find(({ title }) => title === "Write a.txt")!;
    assertEquals((rawInput as Json).content, `${"x".repeat(4096)}… [904 more]`);
  }));

Deno.test("acp reads and writes through a client that has the files open", () =>
  withAcp({
    capabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
  }, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    server.reply(
      { toolCalls: [{ name: "read", args: { path: "notes.txt" } }] },
      {
        toolCalls: [{
          name: "edit",
          args: { path: "notes.txt", oldText: "unsaved", newText: "saved" },
        }],
      },
      { text: "ok" },
    );
    const id = client.prompt(session, "go");
    const serve = async () => {
      const { id, params } = await client.asked("fs/read_text_file");
      assertEquals(params, { sessionId: session, path: `${workspace}/notes.txt` });
      await client.reply(id, { content: "unsaved\r\ntext\r\n" });
    };
    await serve();
    await serve();
    await client.permit("allow_once");
    await serve();
    const written = await client.asked("fs/write_text_file");
    assertEquals(written.params, {
      sessionId: session,
      path: `${workspace}/notes.txt`,
      content: "saved\r\ntext\r\n",
    });
    await client.reply(written.id, {});
    assertEquals(await client.stopReason(id), "end_turn");
    assertStringIncludes(JSON.stringify(server.requests[1]!.messages.at(-1)), "unsaved");
    assertStringIncludes(await Deno.readTextFile(`${workspace}/notes.txt`), "first line");
    assertEquals(client.states(session, "Edit notes.txt").at(-1), "completed");
    assert(client.weir.records.every(({ method }) => !String(method).startsWith("terminal/")));
  }));

Deno.test("acp fails a write that the client refuses, and leaves the disk alone", () =>
  withAcp({ args: ["--yolo"], capabilities: { fs: { writeTextFile: true } } }, async (place) => {
    const { client, server, workspace } = place;
    const session = await client.open(workspace);
    server.reply(write("notes.txt", "new"), { text: "ok" });
    const id = client.prompt(session, "go");
    const { id: request } = await client.asked("fs/write_text_file");
    const error = { code: -32603, message: "the buffer is locked" };
    await client.weir.send({ jsonrpc: "2.0", id: request, error });
    assertEquals(await client.stopReason(id), "end_turn");
    assertStringIncludes(
      JSON.stringify(client.end(session, "Write notes.txt")),
      "buffer is locked",
    );
    assertStringIncludes(await Deno.readTextFile(`${workspace}/notes.txt`), "first line");
  }));

Deno.test("acp uses the disk where the client has announced nothing, or fails to read", async () => {
  await withAcp({ capabilities: { fs: { readTextFile: true } } }, async (place) => {
    const { client, server, workspace } = place;
    const session = await client.open(workspace);
    server.reply({ toolCalls: [{ name: "read", args: { path: "notes.txt" } }] }, { text: "ok" });
    const id = client.prompt(session, "go");
    const { id: request } = await client.asked("fs/read_text_file");
    await client.reply(request, { content: 7 });
    assertEquals(await client.stopReason(id), "end_turn");
    assertStringIncludes(JSON.stringify(server.requests[1]!.messages.at(-1)), "first line");
  });
  await withAcp({ args: ["--yolo"] }, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    server.reply(write("a.txt", "x"), { text: "ok" });
    assertEquals(await client.stopReason(client.prompt(session, "go")), "end_turn");
    assert(client.weir.records.every(({ method }) => !String(method).startsWith("fs/")));
  });
});

Deno.test("acp puts questions to the person as a form", () =>
  withAcp(
    { capabilities: { elicitation: { form: {} } } },
    async ({ client, server, workspace }) => {
      const session = await client.open(workspace);
      const questions = [
        { question: "Which one?", options: [{ label: "red" }, { label: "blue" }] },
        { question: "Why?" },
      ];
      server.reply({ toolCalls: [{ name: "question", args: { questions } }] }, { text: "ok" });
      const id = client.prompt(session, "ask");
      const { id: request, params } = await client.asked("elicitation/create");
      const { properties } = params.requestedSchema as { properties: Json };
      assertEquals(properties.q1, {
        type: "string",
        title: "Which one?",
        oneOf: [{ const: "red", title: "red" }, { const: "blue", title: "blue" }],
      });
      await client.reply(request, { action: "accept", content: { q1: "blue", q2: "calm" } });
      assertEquals(await client.stopReason(id), "end_turn");
      const result = JSON.stringify(server.requests[1]!.messages.at(-1));
      assertStringIncludes(result, "blue");
      assertStringIncludes(result, "calm");
    },
  ));

Deno.test("acp tells the end of a background job, starts no turn, and the model learns of it", () =>
  withAcp({ args: ["--yolo"] }, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    const command = "echo working; while [ ! -e go ]; do sleep 0.05; done; echo finished; exit 2";
    server.reply(
      { toolCalls: [{ name: "bash", args: { command, background: true } }] },
      { text: "started" },
    );
    assertEquals(await client.stopReason(client.prompt(session, "go")), "end_turn");
    assertEquals(client.states(session, command).at(-1), "completed");
    await Deno.writeTextFile(`${workspace}/go`, "");
    const end = await client.update(
      "tool_call",
      ({ toolCallId }) => String(toolCallId).startsWith("job:j1:"),
    );
    assertEquals([end.kind, end.status, end.rawOutput], ["execute", "failed", { exitCode: 2 }]);
    assertStringIncludes(String(end.title), "Job j1 ended: echo working");
    assertStringIncludes(JSON.stringify(end.content), "finished");
    assertEquals(server.requests.length, 2);
    server.reply({ text: "I see" });
    await client.stopReason(client.prompt(session, "and?"));
    assertStringIncludes(JSON.stringify(server.requests[2]!.messages), "finished");
  }));

Deno.test("acp offers the tools of the client's servers, and asks before they run", () =>
  withAcp({ capabilities: { session: { notices: {} } } }, async ({ client, server, workspace }) => {
    const program = new URL("../mcp/tiny_server.ts", import.meta.url).pathname;
    const session = await client.open(workspace, [
      {
        name: "tiny",
        command: Deno.execPath(),
        args: ["run", "-A", "--no-config", program],
        env: [],
      },
      { name: "gone", command: "/no/such/program", args: [], env: [] },
    ]);
    const notice = await client.update("notice");
    assertStringIncludes(String(notice.title), "gone");
    server.answer((_request, n) =>
      n === 1 ? { toolCalls: [{ name: "tiny_echo", args: { text: "hi there" } }] } : { text: "ok" }
    );
    const id = client.prompt(session, "go");
    const { toolCall } = await client.permit("allow_once") as { toolCall: Json };
    assertEquals([toolCall.title, toolCall.kind], ["tiny: echo", "other"]);
    assertEquals(await client.stopReason(id), "end_turn");
    assertStringIncludes(JSON.stringify(server.requests[1]!.messages.at(-1)), "hi there");
  }));

Deno.test("acp lets calls that only read go on while a question is open", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    server.reply({
      toolCalls: [
        { name: "write", args: { path: "a.txt", content: "a" } },
        { name: "read", args: { path: "notes.txt" } },
        { name: "bash", args: { command: "cat a.txt" } },
        { name: "ls", args: {} },
      ],
    }, { text: "ok" });
    const id = client.prompt(session, "go");
    const asked = await client.asked("session/request_permission");
    for (let i = 0; i < 2; i++) {
      await client.update("tool_call_update", ({ status }) => status === "completed");
    }
    assertEquals(client.states(session, "Read notes.txt").at(-1), "completed");
    assertEquals(client.states(session, "List .").at(-1), "completed");
    await client.reply(asked.id, { outcome: { outcome: "selected", optionId: "allow_once" } });
    await client.permit("allow_once");
    assertEquals(await client.stopReason(id), "end_turn");
    assertEquals(client.end(session, "cat a.txt").rawOutput, { exitCode: 0 });
    // The model gets the results in the order of its calls.
    const results = server.requests[1]!.messages.filter(({ role }) => role === "tool");
    assertEquals(results.map(({ content }) => String(content).slice(0, 5)), [
      "Wrote",
      "first",
      "a\nExi",
      "READM",
    ]);
  }));

Deno.test("acp asks about a subagent's calls in its name, and tells nothing else of it", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    server.answer((_request, n) => {
      if (n === 1) {
        const args = { description: "Make a file", prompt: "write b.txt" };
        return { toolCalls: [{ name: "task", args }] };
      }
      if (n === 2) return { toolCalls: [{ name: "read", args: { path: "notes.txt" } }] };
      if (n === 3) return write("b.txt", "by the subagent");
      return { text: n === 4 ? "The file is there." : "ok" };
    });
    const id = client.prompt(session, "go");
    const { toolCall } = await client.permit("allow_once") as { toolCall: Json };
    assertEquals(toolCall.title, "general: Write b.txt");
    assertEquals(await client.stopReason(id), "end_turn");
    assertEquals(await Deno.readTextFile(`${workspace}/b.txt`), "by the subagent");
    assertEquals(client.states(session, "general: Write b.txt"), [
      "pending",
      "in_progress",
      "completed",
    ]);
    const titles = client.updates(session).filter(({ sessionUpdate, title }) =>
      sessionUpdate === "tool_call" && title
    ).map(({ title }) => title);
    assertEquals(titles, ["Make a file", "general: Write b.txt"]);
    assertStringIncludes(JSON.stringify(client.end(session, "Make a file")), "The file is there.");
    assertEquals(client.text(session), "ok");
  }));
