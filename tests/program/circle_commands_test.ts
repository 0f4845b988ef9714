/** The commands of a circle RPC process that start no turn: what they report, change and refuse. */

import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { allOf, calls, typesOf, withCircle } from "./_with_circle.ts";

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

Deno.test("circle get_state reports seven fields before and after an exchange", async () => {
  await withCircle({ replies: [{ text: "Hello." }] }, async (circle) => {
    const { sessionId, ...rest } = await circle.state();
    assertMatch(String(sessionId), UUID_V7);
    const fresh = {
      model: "test-model",
      thinkingLevel: "",
      isStreaming: false,
      sessionName: "",
      messageCount: 0,
      pendingMessageCount: 0,
    };
    assertEquals(rest, fresh);
    await circle.turn("Say hello.\nBe short.");
    assertEquals(await circle.state(), {
      ...fresh,
      sessionId,
      sessionName: "Say hello.",
      messageCount: 2,
    });
  });
});

Deno.test("circle get_state cuts the automatic title at 100 characters", async () => {
  await withCircle({ replies: [{ text: "ok" }] }, async (circle) => {
    await circle.turn("w".repeat(150) + "\nmore");
    assertEquals((await circle.state()).sessionName, "w".repeat(100));
  });
});

Deno.test("circle get_state tells a running turn and what waits", async () => {
  const gate = Promise.withResolvers<void>();
  const replies = [{ text: "a", gate: gate.promise }, { text: "b" }, { text: "c" }];
  await withCircle({ replies }, async (circle) => {
    await circle.begin("go");
    await circle.data({ type: "steer", message: "left" });
    await circle.data({ type: "follow_up", message: "then" });
    const { isStreaming, pendingMessageCount, messageCount } = await circle.state();
    assertEquals([isStreaming, pendingMessageCount, messageCount], [true, 2, 1]);
    gate.resolve();
    await circle.weir.settled();
    const after = await circle.state();
    assertEquals([after.isStreaming, after.pendingMessageCount], [false, 0]);
  });
});

Deno.test("circle set_session_name collapses white space and refuses what is blank", async () => {
  await withCircle({ replies: [{ text: "ok" }] }, async (circle) => {
    const response = await circle.ask({
      id: "n",
      type: "set_session_name",
      name: "  my \t\n  parser\u00a0 work ",
    });
    assertEquals(response, {
      type: "response",
      command: "set_session_name",
      success: true,
      id: "n",
    });
    assertEquals((await circle.state()).sessionName, "my parser work");
    for (const name of ["", " \n\t", 5, null, ["a"], undefined]) {
      assertEquals(await circle.error({ type: "set_session_name", name }), "name is required");
    }
    await circle.turn("the first line is not the name");
    assertEquals((await circle.state()).sessionName, "my parser work");
  });
});

Deno.test("circle set_session_name works while a turn runs", async () => {
  const gate = Promise.withResolvers<void>();
  await withCircle({ replies: [{ text: "a", gate: gate.promise }] }, async (circle) => {
    await circle.begin("go");
    await circle.ask({ type: "set_session_name", name: "named" });
    assertEquals((await circle.state()).sessionName, "named");
    gate.resolve();
    await circle.weir.settled();
  });
});

Deno.test("circle new_session starts an empty conversation", async () => {
  await withCircle({ replies: [{ text: "one" }, { text: "two" }] }, async (circle) => {
    await circle.turn("remember 41");
    await circle.data({ type: "set_thinking_level", level: "low" });
    const before = await circle.state();
    const data = await circle.data({ type: "new_session" });
    assertEquals(Object.keys(data).sort(), ["cancelled", "sessionId"]);
    assertEquals(data.cancelled, false);
    assertMatch(String(data.sessionId), UUID_V7);
    assertNotEquals(data.sessionId, before.sessionId);
    assertEquals(await circle.state(), {
      model: "test-model",
      thinkingLevel: "low",
      isStreaming: false,
      sessionId: data.sessionId,
      sessionName: "",
      messageCount: 0,
      pendingMessageCount: 0,
    });
    assertEquals(await circle.messages(), []);
    assertEquals((await circle.data({ type: "get_last_assistant_text" })).text, "");
    await circle.turn("what did I say?");
    assertEquals(circle.lastRequest.messages.filter(({ role }) => role !== "system").length, 1);
  });
});

Deno.test("circle new_session, set_model and set_thinking_level are refused while a turn runs", async () => {
  const gate = Promise.withResolvers<void>();
  await withCircle({ replies: [{ text: "a", gate: gate.promise }] }, async (circle) => {
    const { sessionId } = await circle.state();
    await circle.begin("go");
    const commands = [
      { type: "new_session" },
      { type: "set_model", modelId: "other" },
      { type: "set_thinking_level", level: "high" },
    ];
    for (const command of commands) {
      assertEquals(await circle.error(command), "a turn is running", command.type);
    }
    gate.resolve();
    await circle.weir.settled();
    const state = await circle.state();
    assertEquals([state.sessionId, state.model, state.thinkingLevel], [
      sessionId,
      "test-model",
      "",
    ]);
  });
});

Deno.test("circle new_session is taken right after agent_settled", async () => {
  await withCircle({ replies: [{ text: "a" }] }, async (circle) => {
    await circle.turn("go");
    await circle.data({ type: "new_session" });
    assertEquals((await circle.state()).messageCount, 0);
  });
});

Deno.test("circle get_last_assistant_text prefers the answer of a turn", async () => {
  const replies = [
    { text: "  first answer \n" },
    { text: "look", toolCalls: [{ name: "ls", args: {} }] },
    { status: 401, body: { error: { message: "no" } } },
  ];
  await withCircle({ replies }, async (circle) => {
    assertEquals(await circle.data({ type: "get_last_assistant_text" }), { text: "" });
    const records = await circle.turn("one");
    const [{ answer }] = allOf(records, "turn_end");
    assertEquals(await circle.data({ type: "get_last_assistant_text" }), { text: answer });
    assertEquals(typesOf(await circle.turn("two")).at(-2), "error");
    assertEquals(await circle.data({ type: "get_last_assistant_text" }), { text: answer });
  });
});

Deno.test("circle get_last_assistant_text falls back to the last complete message with text", async () => {
  const replies = [
    { text: " looking ", toolCalls: [{ name: "ls", args: {} }] },
    calls({ name: "ls", args: {} }),
    { status: 401, body: { error: { message: "no" } } },
  ];
  await withCircle({ replies }, async (circle) => {
    await circle.turn("one");
    assertEquals(await circle.data({ type: "get_last_assistant_text" }), { text: "looking" });
  });
});

Deno.test("circle set_event_detail takes two words", async () => {
  await withCircle({}, async (circle) => {
    for (const detail of ["full", "standard"]) {
      assertEquals(await circle.data({ type: "set_event_detail", detail }), { detail });
    }
    for (const detail of ["Full", "", " full", 1, null, undefined]) {
      assertEquals(
        await circle.error({ type: "set_event_detail", detail }),
        "detail must be standard or full",
      );
    }
  });
});

Deno.test("circle job commands find nothing where no job is", async () => {
  await withCircle({}, async (circle) => {
    for (const type of ["list_jobs", "get_jobs"]) {
      assertEquals(await circle.ask({ id: type, type }), {
        type: "response",
        command: type,
        success: true,
        id: type,
        data: { jobs: [] },
      });
    }
    for (const more of [{}, { jobId: "" }, { jobId: "  " }, { jobId: 5 }, { job_id: null }]) {
      assertEquals(await circle.error({ type: "stop_job", ...more }), "jobId is required");
    }
    assertEquals(await circle.error({ type: "stop_job", jobId: " j1 " }), "No running job j1");
    assertEquals(await circle.error({ type: "stop_job", job_id: "j9" }), "No running job j9");
    assertEquals(await circle.data({ type: "background" }), { moved: 0 });
  });
});

Deno.test("circle commands report while a turn runs", async () => {
  const gate = Promise.withResolvers<void>();
  await withCircle({ replies: [{ text: "a", gate: gate.promise }] }, async (circle) => {
    await circle.begin("go");
    assertEquals((await circle.messages()).length, 1);
    assertEquals((await circle.messages("get_native_messages")).length, 1);
    assertEquals(await circle.data({ type: "get_last_assistant_text" }), { text: "" });
    assertEquals((await circle.data({ type: "get_session_stats" })).totalMessages, 1);
    assertEquals(await circle.data({ type: "get_available_models" }), { models: ["test-model"] });
    assertEquals(await circle.data({ type: "list_jobs" }), { jobs: [] });
    assertEquals(await circle.data({ type: "background" }), { moved: 0 });
    assertEquals(await circle.data({ type: "set_event_detail", detail: "standard" }), {
      detail: "standard",
    });
    assertEquals(await circle.data({ type: "clear_queue" }), { steering: [], followUp: [] });
    gate.resolve();
    await circle.weir.settled();
  });
});
