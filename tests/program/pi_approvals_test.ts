/** Approvals of a pi RPC process over dialogs. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { allOf, calls, type Json, type Pi, textOf, withPi } from "./_with_pi.ts";

const ASK = ["--approvals", "ask"];
const run = (id: string, command: string) => ({ id, name: "bash", args: { command } });
const write = (id: string, path: string) => ({ id, name: "write", args: { path, content: "x" } });

/** Answers the next dialog and returns it. */
async function answer(pi: Pi, members: Json): Promise<Json> {
  const dialog = await pi.weir.next("extension_ui_request");
  await pi.weir.send({ type: "extension_ui_response", id: dialog.id, ...members });
  return dialog;
}

async function endsOf(pi: Pi): Promise<[string, unknown][]> {
  const records = await pi.weir.settled();
  return allOf(records, "tool_execution_end")
    .map(({ result, isError }) => [textOf(result), isError]);
}

Deno.test("pi dialogs: Allow runs, everything else does not", async () => {
  const replies = [
    calls(run("k1", "echo one"), run("k2", "echo two"), run("k3", "echo three")),
    calls(run("k4", "echo four"), run("k5", "echo five")),
    { text: "done" },
  ];
  await withPi({ args: ASK, replies }, async (pi) => {
    await pi.data({ type: "prompt", message: "go" });
    const dialog = await answer(pi, { value: "Allow" });
    assertMatch(String(dialog.id), /^[0-9a-f-]{36}$/);
    assertEquals(dialog, {
      type: "extension_ui_request",
      id: dialog.id,
      method: "select",
      title: "Allow bash?\necho one",
      options: ["Allow", "Allow for this session", "Deny"],
      timeout: 600_000,
      toolCallId: "k1",
    });
    await answer(pi, { value: "Deny" });
    await answer(pi, { cancelled: true });
    await answer(pi, { confirmed: true });
    const late = await answer(pi, { value: "allow" });
    await pi.weir.send({ type: "extension_ui_response", id: late.id, value: "Allow" });
    await pi.weir.send({ type: "extension_ui_response", id: "unknown", value: "Allow" });
    const records = await pi.weir.settled();
    assertEquals(allOf(records, "turn_end").length, 2);
    const all = allOf(pi.weir.records, "tool_execution_end")
      .map(({ result, isError }) => [textOf(result), isError]);
    const denied = ["Not run: denied by the user", true];
    assertEquals(all, [["one\n", false], denied, denied, denied, denied]);
    assertEquals(allOf(pi.weir.records, "response").length, 1);
    assertEquals((await pi.state()).isStreaming, false);
  });
});

Deno.test("pi dialogs: Allow for this session asks once", async () => {
  const replies = [
    calls(run("k1", "echo one"), run("k2", "echo one"), write("k3", "a.txt"), write("k4", "b.txt")),
    { text: "done" },
    calls(run("k5", "echo one")),
    { text: "done" },
  ];
  await withPi({ args: ASK, replies }, async (pi) => {
    await pi.data({ type: "prompt", message: "go" });
    await answer(pi, { value: "Allow for this session" });
    const dialog = await answer(pi, { value: "Allow for this session" });
    assertEquals(dialog.title, "Allow write?\na.txt");
    const ends = await endsOf(pi);
    assert(ends.every(([, isError]) => isError === false), JSON.stringify(ends));
    assertEquals(allOf(pi.weir.records, "extension_ui_request").length, 2);
    await pi.data({ type: "new_session" });
    await pi.data({ type: "prompt", message: "again" });
    await answer(pi, { value: "Deny" });
    assertEquals(await endsOf(pi), [["Not run: denied by the user", true]]);
  });
});

Deno.test("pi dialogs: calls keep their order while somebody is asked", async () => {
  const read = { id: "k2", name: "read", args: { path: "new.txt" } };
  const replies = [calls(write("k1", "new.txt"), read), { text: "done" }];
  await withPi({ args: ASK, replies }, async (pi) => {
    await pi.data({ type: "prompt", message: "go" });
    await answer(pi, { value: "Allow" });
    const ends = await endsOf(pi);
    assertEquals(ends.map(([, isError]) => isError), [false, false], JSON.stringify(ends));
  });
});

Deno.test("pi dialogs: a call that always asks has two options", async () => {
  const replies = [calls(run("k1", "rm -rf notes.txt")), { text: "done" }];
  await withPi({ args: ASK, replies }, async (pi) => {
    await pi.data({ type: "prompt", message: "go" });
    const dialog = await answer(pi, { value: "Allow for this session" });
    assertEquals(dialog.options, ["Allow", "Deny"]);
    assertEquals(await endsOf(pi), [["Not run: denied by the user", true]]);
  });
});

Deno.test("pi dialogs: silence, the end of the input and abort are no", async () => {
  const replies = [
    calls(run("k1", "echo one")),
    { text: "done" },
    calls(run("k2", "echo two")),
    calls(run("k3", "echo three"), run("k4", "echo four")),
    { text: "done" },
  ];
  const extraConfig = { pi: { approvalTimeoutSeconds: 0.2 } };
  await withPi({ args: ASK, replies, extraConfig }, async (pi) => {
    await pi.data({ type: "prompt", message: "go" });
    const dialog = await pi.weir.next("extension_ui_request");
    assertEquals(dialog.timeout, 200);
    assertEquals(await endsOf(pi), [["Not run: no answer in 0.2 seconds", true]]);
  });
  await withPi({ args: ASK, replies: replies.slice(2) }, async (pi) => {
    await pi.data({ type: "prompt", message: "go" });
    await pi.weir.next("extension_ui_request");
    assertEquals((await pi.state()).isStreaming, true);
    await pi.ask({ type: "abort" });
    // It had not begun.
    assertEquals(await endsOf(pi), [["Not run: aborted", true]]);
    await pi.data({ type: "prompt", message: "go" });
    await pi.weir.next("extension_ui_request");
    await pi.weir.closeInput();
    const closed: [string, unknown] = ["Not run: nobody can answer, the input is closed", true];
    assertEquals(await endsOf(pi), [closed, closed]);
  });
});

Deno.test("pi runs what asks by default, and not with --approvals deny", async () => {
  const replies = [calls(run("k1", "rm notes.txt"), run("k2", "sudo true")), { text: "done" }];
  await withPi({ replies }, async (pi) => {
    const ends = allOf(await pi.run("go"), "tool_execution_end");
    assertEquals(ends.map(({ isError }) => isError), [false, true]);
  });
  await withPi({ args: ["--approvals", "deny"], replies }, async (pi) => {
    const ends = allOf(await pi.run("go"), "tool_execution_end");
    assertEquals(ends.map(({ isError }) => isError), [true, true]);
  });
});
