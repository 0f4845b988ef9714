import { assertEquals } from "@std/assert";
import { chatFrames } from "../fakes/_chat_reply.ts";
import { responsesFrames } from "../fakes/_responses_reply.ts";
import type { Reply, ReplyFrame } from "../fakes/reply.ts";
import { type DialectName, DIALECTS, drive, type Driver, type TurnEnd } from "./_drive.ts";
import { answer, type Behaviour, cutStream, head, STREAM, write } from "./_faulty_endpoint.ts";
import { rounds } from "./_rounds.ts";
import { finish, withEndpoint } from "./_with_endpoint.ts";

type Api = "chat" | "responses";
const APIS: readonly Api[] = ["chat", "responses"];

const TEXT: Reply = { text: ["one 🙂 ", "two"], thinking: "hm" };
const CALL: Reply = { toolCalls: [{ id: "t_1", name: "read", args: { path: "notes.txt" } }] };

/** The events of an answer, each as its bytes. */
function eventsOf(reply: Reply, api: Api): string[] {
  const context = { model: "test-model", serial: 1, includeUsage: true };
  const frames = api === "chat" ? chatFrames(reply, context) : responsesFrames(reply, context);
  return [...frames].map(({ event, data }: ReplyFrame) => {
    const name = event === undefined ? "" : `event: ${event}\n`;
    return `${name}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
  });
}

interface Case {
  readonly name: string;
  readonly behaviour: Behaviour;
  /** How the turn ends when the endpoint is well again after one request. */
  readonly end: TurnEnd;
  /** How many requests follow the one that is answered this way; any number by default. */
  readonly more?: number;
}

/**
 * Every case in every dialect; in the short form each in one of them, in turn. A turn has one end, the next one goes well, and the key is
 * nowhere.
 */
async function runCases(
  cases: readonly Case[],
  { api = "chat", config = {} }: { api?: Api; config?: Record<string, unknown> } = {},
): Promise<void> {
  await withEndpoint({ api, provider: config }, async ({ server, endpoint, home }) => {
    await using drivers = new AsyncDisposableStack();
    const opened = new Map<DialectName, Driver>();
    for (const dialect of DIALECTS) {
      opened.set(dialect, drivers.use(await drive({ dialect, home })));
    }
    for (const [index, { name, behaviour, end, more }] of cases.entries()) {
      for (const dialect of rounds(1) > 1 ? DIALECTS : [DIALECTS[index % DIALECTS.length]!]) {
        const driver = opened.get(dialect)!;
        const before = server.requests.length;
        endpoint.misbehave(behaviour, 1);
        assertEquals(await (await driver.prompt(name))(), end, `${dialect}: ${name}`);
        assertEquals(endpoint.count > 0, true, `${dialect}: ${name}: nothing was asked`);
        const followed = server.requests.length - before;
        if (more !== undefined) assertEquals(followed, more, `${dialect}: ${name}: requests`);
        endpoint.behave();
        assertEquals(await (await driver.prompt("again"))(), "answer", `${dialect}: after ${name}`);
      }
    }
    for (const driver of opened.values()) {
      await finish(driver);
    }
  });
}

for (const api of APIS) {
  Deno.test(`${api}: an answer that is cut after any event, or in it, is asked for again`, async () => {
    const cases: Case[] = [];
    for (const [what, reply] of [["a text", TEXT], ["a call", CALL]] as const) {
      const events = eventsOf(reply, api);
      // What comes behind the reply's end may be missing.
      const last = api === "chat" ? events.length - 3 : events.length - 1;
      for (let count = 0; count <= last; count++) {
        const whole = events.slice(0, count).join("");
        const part = whole + events[count]!.slice(0, events[count]!.length / 2);
        if (count > 0) {
          const behaviour: Behaviour = (conn) => write(conn, cutStream(whole));
          cases.push({ name: `after event ${count} of ${what}`, behaviour, end: "answer" });
        }
        const behaviour: Behaviour = (conn) => write(conn, cutStream(part));
        cases.push({ name: `in event ${count + 1} of ${what}`, behaviour, end: "answer" });
      }
    }
    await runCases(cases, { api });
  });

  Deno.test(`${api}: forms of an answer that are borne`, async () => {
    const cases: Case[] = [];
    for (const [what, reply] of [["a text", TEXT], ["a call", CALL]] as const) {
      const events = eventsOf(reply, api);
      const text = events.join("");
      const add = (name: string, behaviour: Behaviour) =>
        cases.push({
          name: `${what}: ${name}`,
          behaviour,
          end: "answer",
          more: reply === CALL ? 1 : 0,
        });
      const stream = (body: string) => (conn: Deno.TcpConn) => write(conn, STREAM + body);
      const typed = (type: string) =>
        answer("200 OK", { headers: { "content-type": type }, body: text });
      add("CRLF", stream(text.replaceAll("\n", "\r\n")));
      add("comments", stream(events.map((event) => `: hello\n\n${event}`).join("")));
      add("no space behind the colon", stream(text.replaceAll("data: ", "data:")));
      add("no blank line at the end", stream(text.trimEnd()));
      add("no [DONE]", stream(text.replace("data: [DONE]\n\n", "")));
      add("other fields", stream(text.replaceAll("data:", "id: 5\nretry: 10\ndata:")));
      add("a byte order mark", stream("\ufeff" + text));
      for (const type of ["text/plain", "application/json", "application/octet-stream", ""]) {
        add(`content type "${type}"`, typed(type));
      }
      add("gzip", async (conn) => {
        const zipped = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
        await write(
          conn,
          head("200 OK", { "content-type": "text/event-stream", "content-encoding": "gzip" }),
        );
        await write(conn, new Uint8Array(await new Response(zipped).arrayBuffer()));
      });
      add("one byte at a time", async (conn) => {
        await write(conn, STREAM);
        for (const byte of new TextEncoder().encode(text)) await write(conn, Uint8Array.of(byte));
      });
      add("a redirect on the same host", async (conn) => {
        await write(conn, head("307 There", { location: "/v1/elsewhere", "content-length": "0" }));
      });
    }
    // Where the redirect leads there is nothing, which is told.
    await runCases(
      cases.map((one) =>
        one.name.includes("redirect") ? { ...one, end: "error", more: undefined } : one
      ),
      { api },
    );
  });
}

Deno.test("how long to wait is not left to the endpoint's fancy", async () => {
  const limited = (headers: Record<string, string>): Behaviour =>
    answer("429 Too Many", { headers, body: '{"error":{"message":"slow down"}}' });
  const waits: Record<string, readonly [Record<string, string>, TurnEnd]> = {
    "none": [{}, "answer"],
    "nothing": [{ "retry-after": "" }, "answer"],
    "zero": [{ "retry-after": "0" }, "answer"],
    "a negative one": [{ "retry-after": "-30" }, "answer"],
    "no number": [{ "retry-after": "soon" }, "answer"],
    "NaN": [{ "retry-after": "NaN", "retry-after-ms": "NaN" }, "answer"],
    "a fraction": [{ "retry-after": "0.05" }, "answer"],
    "a day": [{ "retry-after": "86400" }, "error"],
    "more than timers take": [{ "retry-after": "99999999999" }, "error"],
    "more than numbers hold": [{ "retry-after": "9".repeat(400) }, "error"],
    "a day in milliseconds": [{ "retry-after-ms": "86400000" }, "error"],
    "a date that is over": [{ "retry-after": "Mon, 01 Jan 2024 00:00:00 GMT" }, "answer"],
    "a date that is far away": [{ "retry-after": "Mon, 01 Jan 2068 00:00:00 GMT" }, "error"],
    "a date that is none": [{ "retry-after": "Mon, 99 Foo 2024 99:00:00 GMT" }, "answer"],
  };
  await runCases(
    Object.entries(waits).map(([name, [headers, end]]) => ({
      name: `asks for ${name}`,
      behaviour: limited(headers),
      end,
    })),
  );
});

Deno.test("an endpoint that falls silent is left after the configured time, and asked again", async () => {
  const hang = async (conn: Deno.TcpConn) => {
    while (await conn.read(new Uint8Array(64)) !== null);
  };
  const [first, second] = eventsOf(TEXT, "chat");
  const begun: Record<string, string> = {
    "before the head": "",
    "in the head": "HTTP/1.1 200 OK\r\ncontent-",
    "behind the head": STREAM,
    "in the stream": STREAM + first + second,
    "in an event": STREAM + first + second!.slice(0, 20),
    "in an error": head("500 Oh", { "content-length": "500" }) + "{",
  };
  const cases = Object.entries(begun).map(([where, text]): Case => ({
    name: `silent ${where}`,
    behaviour: async (conn) => {
      await write(conn, text);
      await hang(conn);
    },
    end: "answer",
  }));
  await runCases(cases, { config: { timeoutSeconds: 0.4, stallTimeoutSeconds: 0.4 } });
});
