import { assert, assertEquals, assertRejects } from "@std/assert";
import { textOutcome, type Tool } from "../../src/agent/tool.ts";
import { HostError, RequestError, StartError } from "../../src/errors.ts";
import { createSession } from "../../src/library/create_session.ts";
import { createMemoryHost } from "../../src/memory/memory_host.ts";
import { ScriptedModel, type ScriptedReply } from "../fakes/scripted_model.ts";

function scripted(...replies: ScriptedReply[]): ScriptedModel {
  return new ScriptedModel(replies);
}

const say = (text: string): ScriptedReply => ({ text: [text] });

Deno.test("AgentSession.prompt() resolves with the answer of its turn", async () => {
  await using session = await createSession({ model: scripted(say("one"), say("two")) });
  const first = await session.prompt("1");
  assert(first.outcome === "answered");
  assertEquals(first.answer, "one");
  assertEquals(await session.prompt("2"), { ...first, answer: "two" });
  assertEquals(session.messages.map(({ message }) => message.role), [
    "user",
    "assistant",
    "user",
    "assistant",
  ]);
});

Deno.test("AgentSession.prompt() is refused while a turn runs", async () => {
  const gate = Promise.withResolvers<void>();
  await using session = await createSession({
    model: scripted({ text: ["one"], gate: gate.promise }),
  });
  const first = session.prompt("1");
  const error = await assertRejects(() => session.prompt("2"), RequestError);
  assertEquals(error.code, "busy");
  assertEquals(
    error.message,
    "Cannot prompt: a turn is running, use steer or followUp or wait for its end",
  );
  gate.resolve();
  assertEquals((await first).outcome, "answered");
});

Deno.test("AgentSession.followUp() resolves with the end of its own turn", async () => {
  const gate = Promise.withResolvers<void>();
  const model = scripted({ text: ["one"], gate: gate.promise }, say("two"), say("three"));
  await using session = await createSession({ model });
  const order: string[] = [];
  const ends = [session.prompt("1"), session.followUp("2"), session.followUp("3")].map((end) =>
    end.then((it) => order.push(it.outcome === "answered" ? it.answer : it.outcome))
  );
  const events = session.events();
  for await (const event of events) {
    if (event.type === "queue_change" && event.followUp === 2) break;
  }
  gate.resolve();
  await Promise.all(ends);
  assertEquals(order, ["one", "two", "three"]);
});

Deno.test("AgentSession.followUp() starts a turn when none runs", async () => {
  await using session = await createSession({ model: scripted(say("one")) });
  assertEquals((await session.followUp("1")).outcome, "answered");
});

Deno.test("AgentSession.steer() reaches the running turn only", async () => {
  const gate = Promise.withResolvers<void>();
  const model = scripted({ text: ["one"], gate: gate.promise }, say("two"));
  await using session = await createSession({ model });
  const idle = await assertRejects(() => session.steer("now"), RequestError, "no turn is running");
  assertEquals(idle.code, "idle");
  const end = session.prompt("1");
  await session.steer("now");
  gate.resolve();
  const { outcome } = await end;
  assertEquals(outcome, "answered");
  assertEquals(model.requests.length, 2);
  assertEquals(model.requests[1]!.messages.map(({ role }) => role), ["user", "assistant", "user"]);
});

Deno.test("AgentSession.abort() ends the turn, and what waits before it began", async () => {
  const never = new Promise<void>(() => {});
  const model = scripted({ text: ["one"], gate: never }, say("two"));
  await using session = await createSession({ model });
  const first = session.prompt("1");
  const second = session.followUp("2");
  await session.abort();
  assertEquals(await first, { outcome: "aborted" });
  assertEquals(await second, { outcome: "aborted" });
  const third = await session.prompt("3");
  assert(third.outcome === "answered");
  assertEquals(third.answer, "two");
});

Deno.test("AgentSession.abort() leaves a prompt alone that comes right after it", async () => {
  const never = new Promise<void>(() => {});
  await using session = await createSession({
    model: scripted({ text: ["one"], gate: never }, say("two")),
  });
  const first = session.prompt("1");
  const stopped = session.abort();
  const second = await session.prompt("2");
  await stopped;
  assertEquals((await first).outcome, "aborted");
  assertEquals(second.outcome, "answered");
});

Deno.test("AgentSession goes on with the next follow-up after a failed turn", async () => {
  const model = scripted({ error: new Error("broken") }, say("two"));
  await using session = await createSession({ model, host: createMemoryHost(), workspace: "/" });
  const [first, second] = await Promise.all([session.prompt("1"), session.followUp("2")]);
  assertEquals(first, { outcome: "failed", error: "broken" });
  assertEquals(second.outcome, "answered");
});

Deno.test("AgentSession refuses a message without text", async () => {
  await using session = await createSession({ model: scripted() });
  for (const call of ["prompt", "steer", "followUp"] as const) {
    const error = await assertRejects(() => session[call](" \n"), RequestError);
    assertEquals(error.message, "Cannot send a message: it is empty, give it some text");
  }
});

Deno.test("AgentSession stops what runs when it is disposed, twice too", async () => {
  const never = new Promise<void>(() => {});
  const session = await createSession({ model: scripted({ text: ["one"], gate: never }) });
  const events = session.events();
  const end = session.prompt("1");
  await Promise.all([session[Symbol.asyncDispose](), session[Symbol.asyncDispose]()]);
  assertEquals(await end, { outcome: "aborted" });
  const error = await assertRejects(() => session.prompt("2"), RequestError);
  assertEquals([error.code, error.message], ["shutting_down", "the session is over"]);
  const types: string[] = [];
  for await (const event of events) types.push(event.type);
  assertEquals(types.at(-1), "session_close");
  assertEquals(await session.events().next(), { done: true, value: undefined });
});

Deno.test("createSession() keeps conversations under home and goes on with them", async () => {
  const host = createMemoryHost({ files: { "/project/a.txt": "a" } });
  const options = { host, workspace: "/project", home: "/saved" };
  const first = await createSession({ ...options, model: scripted(say("one")) });
  await first.prompt("1");
  await first[Symbol.asyncDispose]();
  await using again = await createSession({
    ...options,
    model: scripted(say("two")),
    sessionId: first.id,
  });
  assertEquals(again.messages.length, 2);
  assertEquals((await again.prompt("2")).outcome, "answered");
  await using memory = await createSession({
    host,
    workspace: "/project",
    model: scripted(say("x")),
  });
  await memory.prompt("1");
  await assertRejects(() => host.files.realPath("/home/.weir"), HostError);
});

Deno.test("createSession() says which folder is missing", async () => {
  const error = await assertRejects(
    () => createSession({ model: scripted(), host: createMemoryHost(), workspace: "/project" }),
    StartError,
  );
  assertEquals(
    error.message,
    'Cannot work in "/project": the host has no such folder, give the path of one as workspace',
  );
});

Deno.test("createSession() does not change files unless it is allowed", async () => {
  for (const approvals of [undefined, "allow"] as const) {
    const call = { id: "c1", name: "write", args: { path: "new.txt", content: "new" } };
    const host = createMemoryHost({ files: { "/project/a.txt": "a" } });
    await using session = await createSession({
      model: scripted({ calls: [call], stopReason: "toolUse" }, say("done")),
      host,
      workspace: "/project",
      ...(approvals && { approvals }),
    });
    assertEquals((await session.prompt("1")).outcome, "answered");
    const written = await host.files.stat("/project/new.txt");
    assertEquals(written !== undefined, approvals === "allow");
  }
});

Deno.test("createSession() refuses tools whose names are taken or none", async () => {
  const tool = (name: string): Tool => ({
    name,
    description: "",
    parameters: { type: "object" },
    parse: (value) => ({ ok: true, value }),
    run: () => Promise.resolve(textOutcome("")),
  });
  for (
    const [tools, name, why] of [
      [[tool("ls")], "ls", "the name is taken"],
      [[tool("mine"), tool("mine")], "mine", "the name is taken"],
      [[tool("a b")], "a b", "that is no name"],
    ] as const
  ) {
    const error = await assertRejects(
      () => createSession({ model: scripted(), tools }),
      StartError,
    );
    assertEquals(
      error.message,
      `Cannot add the tool "${name}": ${why}, use another one of letters, digits, _ and -`,
    );
  }
});
