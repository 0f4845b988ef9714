import { assert, assertEquals } from "@std/assert";
import { DIALECTS, drive } from "./_drive.ts";
import { answer, type Behaviour, chunk, STREAM } from "./_faulty_endpoint.ts";
import { createRandom, rounds } from "./_rounds.ts";
import { finish, withDriver, withEndpoint } from "./_with_endpoint.ts";

type Api = "chat" | "responses";

/** A wait that is not aborted is longer than the process is waited for. */
const WAITS = {
  retry: { maxRetries: 5, baseDelayMs: 60_000, maxDelayMs: 600_000 },
  timeoutMs: 15_000,
};

const TEXT = chunk({ role: "assistant", content: "one " }) + chunk({ content: "two" });
const CALL = chunk({
  tool_calls: [{ index: 0, id: "t1", type: "function", function: { name: "ls", arguments: "{" } }],
});
const EVENTS: Record<Api, readonly string[]> = {
  chat: [TEXT, CALL],
  responses: [
    'data: {"type":"response.created","response":{"id":"r"}}\n\n',
    `data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"one"}\n\n`,
  ],
};

Deno.test("a connection that is reset at any place costs one try", async () => {
  const { below } = createRandom();
  for (const [turn, api] of (["chat", "responses"] as const).entries()) {
    const stream = `${STREAM}${EVENTS[api].join("")}`;
    await withEndpoint({ api }, async ({ endpoint, home }) => {
      for (const [index, dialect] of DIALECTS.entries()) {
        // In the short form each has one of the two.
        if (rounds(1) === 1 && index % 2 !== turn) continue;
        await using driver = await drive({ dialect, home });
        const places = ["", "HTTP/1.1 200 OK\r\ncont", STREAM, stream];
        for (let round = 0; round < rounds(2); round++) {
          places.push(stream.slice(0, 1 + below(stream.length)));
        }
        for (const place of places) {
          endpoint.resetNext(place);
          const where = `${dialect}, ${api}: reset after ${place.length} bytes`;
          assertEquals(await (await driver.prompt(where))(), "answer", where);
          assertEquals(endpoint.count, 1, where);
          assertEquals(await (await driver.prompt("again"))(), "answer", `after ${where}`);
        }
        await finish(driver);
      }
    });
  }
});

const json = { "content-type": "application/json" };
/** Failures after which the program waits for long, if it is asked to or by itself, before it tries again. */
const WAITING: Record<string, Behaviour> = {
  "429 that asks for it": answer("429 Slow", { headers: { ...json, "retry-after": "500" } }),
  "429 that asks for a date": answer("429 Slow", {
    headers: { ...json, "retry-after": new Date(Date.now() + 500_000).toUTCString() },
  }),
  "429 that asks for milliseconds": answer("429 Slow", { headers: { "retry-after-ms": "500000" } }),
  "503 that asks for it": answer("503 Busy", { headers: { ...json, "retry-after": "500" } }),
  "500": answer("500 Oh", { headers: json }),
  "closed": async () => {},
};

for (const dialect of DIALECTS) {
  Deno.test(`${dialect}: a wait for the next try is aborted at once, and the endpoint is not asked again`, () =>
    withDriver({ ...WAITS, dialect }, async ({ driver, endpoint }) => {
      for (const [name, behaviour] of Object.entries(WAITING)) {
        endpoint.misbehave(behaviour);
        const end = await driver.prompt(name);
        // Tries that come without a wait are over soon.
        for (let count = -1; endpoint.count === 0 || count !== endpoint.count;) {
          count = endpoint.count;
          await new Promise((resolve) => setTimeout(resolve, 60));
        }
        const asked = endpoint.count;
        await driver.abort();
        assertEquals(await end(), "aborted", name);
        assert(endpoint.count <= asked + 1, `${name}: asked ${endpoint.count - asked} times more`);
        endpoint.behave();
        assertEquals(await (await driver.prompt("again"))(), "answer", `after ${name}`);
      }
    }));
}
