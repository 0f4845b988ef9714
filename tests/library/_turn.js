// What the bundle of the library is asked to do, the same in Node and in a page.

/** A turn with tool calls in memory, one that is stopped, and one over streams; resolves to what came of them, as JSON data. */
export async function runTurns(weir) {
  const host = weir.createMemoryHost({
    files: { "/workspace/README.md": "# Kettle\n", "/workspace/notes.md": "Next: a lid.\n" },
  });
  const session = await weir.createSession({ model: weir.createDemoModel(), host, home: "/saved" });
  const events = session.events();
  const end = await session.prompt("What is this project?");
  const calls = [];
  for await (const event of events) {
    if (event.type === "call_end") calls.push([event.call.name, event.message.isError]);
    if (event.type === "settled") break;
  }
  const stopped = session.prompt("And again?");
  await session.abort();
  const { outcome } = await stopped;
  await session[Symbol.asyncDispose]();

  const again = await weir.createSession({
    model: weir.createDemoModel(),
    host,
    home: "/saved",
    sessionId: session.id,
  });
  const saved = again.messages.map(({ message }) => message.role);
  await again[Symbol.asyncDispose]();

  let text = "";
  await weir.serve({
    readable: new Blob(['{"id":1,"type":"get_state"}\n{"id":2,"type":"prompt","message":"Hi"}\n'])
      .stream(),
    writable: new WritableStream({
      write(chunk) {
        text += new TextDecoder().decode(chunk);
      },
    }),
  }, { model: weir.createDemoModel(), host });
  const served = text.trimEnd().split("\n").map((line) => JSON.parse(line).type);
  return { end, calls, outcome, saved, served };
}
