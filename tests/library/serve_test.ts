import { assertEquals, assertRejects } from "@std/assert";
import { StartError } from "../../src/errors.ts";
import { serve } from "../../src/library/serve.ts";
import { createMemoryHost } from "../../src/memory/memory_host.ts";
import { createDemoModel } from "../../src/models/demo.ts";

function streams(input: ReadableStream<Uint8Array<ArrayBuffer>>) {
  const lines: Record<string, unknown>[] = [];
  const writable = new WritableStream<Uint8Array<ArrayBuffer>>({
    write(chunk) {
      const text = new TextDecoder().decode(chunk).trimEnd();
      lines.push(...text.split("\n").map((line) => JSON.parse(line)));
    },
  });
  return { readable: input, writable, lines };
}

Deno.test("serve() answers until the input ends", async () => {
  const input = new Blob(['{"id":7,"type":"get_state"}\nnonsense\n']).stream();
  const { lines, ...ends } = streams(input);
  assertEquals(await serve(ends, { model: createDemoModel() }), {
    cause: "input",
    success: true,
    answered: false,
  });
  assertEquals(lines.map(({ type, id, success }) => [type, id, success]), [
    ["response", 7, true],
    ["response", undefined, false],
    ["jobs_stopped", undefined, undefined],
  ]);
});

Deno.test("serve() stops when it is aborted", async () => {
  const stop = new AbortController();
  const { lines, ...ends } = streams(
    new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"type":"prompt","message":"Hello"}\n'));
      },
    }),
  );
  const writer = ends.writable.getWriter();
  const writable = new WritableStream<Uint8Array<ArrayBuffer>>({
    async write(chunk) {
      await writer.write(chunk);
      stop.abort();
    },
  });
  const options = { model: createDemoModel(), signal: stop.signal };
  const end = await serve({ readable: ends.readable, writable }, options);
  assertEquals(end.cause, "signal");
  assertEquals(lines.slice(-3).map(({ type }) => type), [
    "turn_end",
    "agent_settled",
    "jobs_stopped",
  ]);
  await assertRejects(() => serve(streams(new Blob([]).stream()), options), DOMException);
});

Deno.test("serve() says why it cannot begin, and has read nothing", async () => {
  const input = new Blob(["{}\n"]).stream();
  const { lines, ...ends } = streams(input);
  const options = { model: createDemoModel(), host: createMemoryHost(), workspace: "/none" };
  await assertRejects(() => serve(ends, options), StartError, 'Cannot work in "/none"');
  assertEquals([input.locked, lines], [false, []]);
});
