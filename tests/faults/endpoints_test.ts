import { assert, assertEquals } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { prepareHome } from "../fakes/prepare_home.ts";
import { DIALECTS, drive } from "./_drive.ts";
import {
  answer,
  type Behaviour,
  chunk,
  cutStream,
  head,
  STREAM,
  write,
} from "./_faulty_endpoint.ts";
import { rounds } from "./_rounds.ts";
import { KEY, withDriver } from "./_with_endpoint.ts";

const TEXT_EVENTS = [
  chunk({ role: "assistant", content: "" }),
  chunk({ content: "one " }),
  chunk({ content: "two" }),
  chunk({}, "stop"),
];
const TOOL_EVENTS = [
  chunk({ tool_calls: [{ index: 0, id: "t1", type: "function", function: { name: "ls" } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: "{" } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: "}" } }] }),
  chunk({}, "tool_calls"),
];

/** Until the client goes. */
async function hang(conn: Deno.TcpConn): Promise<void> {
  while (await conn.read(new Uint8Array(64)) !== null);
}

/** A byte now and then. */
async function drip(conn: Deno.TcpConn, text: string): Promise<void> {
  for (const character of text) {
    await write(conn, character);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

async function gzip(text: string): Promise<Uint8Array> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const error = (text: string) => JSON.stringify({ error: { message: text, type: "x", code: null } });
const json = { "content-type": "application/json" };

/** States that end by themselves. */
const FAILING: Record<string, Behaviour> = {
  "closed before the head": async () => {},
  "closed in the head": (conn) => write(conn, "HTTP/1.1 200 OK\r\nconte"),
  "closed after the head": (conn) => write(conn, STREAM),
  "no HTTP": (conn) => write(conn, "hello\n".repeat(50)),
  "429": answer("429 Too Many", { headers: { ...json, "retry-after": "0" }, body: error("slow") }),
  "429, asks for garbage": answer("429 Too Many", {
    headers: { ...json, "retry-after-ms": "5", "retry-after": "\u00e9gal" },
  }),
  "429, asks for a date": answer("429 Too Many", {
    headers: { ...json, "retry-after": "Mon, 01 Jan 2024 00:00:00 GMT" },
  }),
  "500": answer("500 Oh", { headers: json, body: error("oh") }),
  "502 in HTML": answer("502 Bad Gateway", {
    headers: { "content-type": "text/html" },
    body: "<html><body><h1>Bad</h1></body></html>",
  }),
  "503 without a body": answer("503 Busy"),
  "200 in HTML": answer("200 OK", {
    headers: { "content-type": "text/html" },
    body: "<html><body>Log in</body></html>",
  }),
  "200 with nothing": answer("200 OK", { headers: { "content-type": "text/event-stream" } }),
  "200 with another JSON": answer("200 OK", { headers: json, body: '{"hello":[1]}' }),
  "200 with a broken event": answer("200 OK", {
    headers: { "content-type": "text/event-stream" },
    body: "data: {\n\n",
  }),
  "an error in the stream": answer("200 OK", {
    headers: { "content-type": "text/event-stream" },
    body: TEXT_EVENTS[0]! + `data: ${error("overloaded")}\n\n`,
  }),
  "gzip cut off": async (conn) => {
    const bytes = await gzip(TEXT_EVENTS.join(""));
    const headers = { "content-type": "text/event-stream", "content-encoding": "gzip" };
    await write(conn, head("200 OK", headers));
    await write(conn, bytes.subarray(0, bytes.length - 20));
  },
  "redirected in a circle": answer("307 There", { headers: { location: "/v1/chat/completions" } }),
  "echoes what it got": async (conn, { text }) =>
    await answer("500 Oh", { headers: json, body: error(text) })(conn, {
      text,
      gone: new AbortController().signal,
    }),
};
for (const [name, events] of [["text", TEXT_EVENTS], ["call", TOOL_EVENTS]] as const) {
  for (let count = 1; count < events.length; count++) {
    FAILING[`cut after event ${count} of a ${name}`] = async (conn) =>
      await write(conn, cutStream(events.slice(0, count).join("")));
    FAILING[`cut inside event ${count} of a ${name}`] = async (conn) =>
      await write(conn, cutStream(events.slice(0, count).join("").slice(0, -9)));
  }
}

/** States that go on until somebody ends them. */
const HANGING: Record<string, Behaviour> = {
  "stalled before the head": hang,
  "stalled after the head": async (conn) => {
    await write(conn, STREAM);
    await hang(conn);
  },
  "stalled in the stream": async (conn) => {
    await write(conn, STREAM + TEXT_EVENTS[0] + TEXT_EVENTS[1] + TEXT_EVENTS[2]!.slice(0, 20));
    await hang(conn);
  },
  "stalled in a call": async (conn) => {
    await write(conn, STREAM + TOOL_EVENTS[0] + TOOL_EVENTS[1]);
    await hang(conn);
  },
  "stalled in an error's body": async (conn) => {
    await write(conn, head("400 Bad", { ...json, "content-length": "5000" }) + '{"error":');
    await hang(conn);
  },
  "a slow head": (conn) => drip(conn, "HTTP/1.1 200 OK\r\nx-long: " + "x".repeat(2000)),
  "a slow stream": async (conn) => {
    await write(conn, STREAM);
    await drip(conn, TEXT_EVENTS[0] + chunk({ content: "x".repeat(2000) }));
  },
  "an endless stream": async (conn) => {
    await write(conn, STREAM);
    const events = TEXT_EVENTS[1]!.repeat(50);
    for (;;) {
      await write(conn, events);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  },
  "endless comments": async (conn) => {
    await write(conn, STREAM);
    for (;;) {
      await write(conn, ": still here\n\n");
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  },
  "429, asks for a minute": answer("429 Too Many", { headers: { "retry-after": "55" } }),
};

for (const dialect of DIALECTS) {
  Deno.test(`${dialect}: a turn has one end and goes well, when an endpoint that fails recovers`, () =>
    withDriver({ dialect }, async ({ driver, endpoint }) => {
      for (const [name, behaviour] of Object.entries(FAILING)) {
        endpoint.misbehave(behaviour, 1);
        const end = await driver.prompt(name);
        // What cannot pass, such as a circle of redirects, is told; the rest is tried again.
        const first = await end();
        assert(first === "answer" || first === "error", `${name}: ${first}`);
        endpoint.behave();
        assertEquals(await (await driver.prompt("again"))(), "answer", name);
      }
    }));

  Deno.test(`${dialect}: a turn is aborted at once, whatever the endpoint is doing`, () =>
    withDriver({ dialect }, async ({ driver, endpoint }) => {
      for (let round = 0; round < rounds(1); round++) {
        for (const [name, behaviour] of Object.entries(HANGING)) {
          endpoint.misbehave(behaviour);
          const end = await driver.prompt(name);
          while (endpoint.count === 0) await new Promise((resolve) => setTimeout(resolve, 5));
          await new Promise((resolve) => setTimeout(resolve, 60));
          const begin = performance.now();
          await driver.abort();
          assertEquals(await end(), "aborted", name);
          // Not a measurement: a second is what is promised, and the machine may be busy.
          assert(performance.now() - begin < 5000, `${name}: not at once`);
          endpoint.behave();
          assertEquals(await (await driver.prompt("again"))(), "answer", name);
        }
      }
    }));
}

Deno.test("pi: an endpoint that goes on failing ends the run once, after the retries", () =>
  withDriver({ dialect: "pi" }, async ({ driver, endpoint }) => {
    for (const [name, behaviour] of Object.entries(FAILING)) {
      if (name.startsWith("429")) continue;
      endpoint.misbehave(behaviour);
      assertEquals(await (await driver.prompt(name))(), "error", name);
      endpoint.behave();
      assertEquals(await (await driver.prompt("again"))(), "answer", name);
    }
  }));

Deno.test("a huge error body costs little memory and is told in short", async () => {
  await withDriver({ dialect: "circle" }, async ({ driver, endpoint }) => {
    endpoint.misbehave(async (conn) => {
      await write(conn, head("400 Bad", { "content-type": "text/plain" }));
      const block = new Uint8Array(1024 * 1024).fill(120);
      for (let i = 0; i < 50; i++) await write(conn, block);
    });
    assertEquals(await (await driver.prompt("go"))(), "error");
    const { message } = driver.weir.records.find(({ type }) => type === "error")!;
    assert(String(message).length < 10_000, "the body is in the message");
    if (Deno.build.os === "linux") {
      const status = await Deno.readTextFile(`/proc/${driver.weir.pid}/status`);
      const peak = Number(/VmHWM:\s+(\d+)/.exec(status)![1]) / 1024;
      assert(peak < 250, `${peak} MiB at the most`);
    }
    endpoint.behave();
    assertEquals(await (await driver.prompt("again"))(), "answer");
  });
});

Deno.test("a redirect to another place does not take the key there", async () => {
  const seen: string[] = [];
  await using elsewhere = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request) => {
      seen.push(JSON.stringify([...request.headers]));
      return new Response("no", { status: 404 });
    },
  );
  await withDriver({ dialect: "circle" }, async ({ driver, endpoint }) => {
    for (const status of ["302 There", "307 There", "308 There"]) {
      const location = `http://localhost:${elsewhere.addr.port}/v1/chat/completions`;
      endpoint.misbehave(answer(status, { headers: { location } }), 1);
      await (await driver.prompt(status))();
      endpoint.behave();
      assertEquals(await (await driver.prompt("again"))(), "answer", status);
    }
  });
  assert(!seen.join("").includes(KEY), seen.join("\n"));
});

Deno.test("an endpoint that refuses connections is told, and the next turn works", async () => {
  for (const dialect of DIALECTS) {
    await using server = startModelServer();
    server.answer(() => ({ text: "fine" }));
    const closed = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = closed.addr;
    closed.close();
    await using home = await prepareHome({
      server,
      extraConfig: { providers: { local: { baseUrl: `http://127.0.0.1:${port}/v1` } } },
    });
    await using driver = await drive({ dialect, home });
    const end = await driver.prompt("go");
    await new Promise((resolve) => setTimeout(resolve, 50));
    await driver.abort();
    assertEquals(await end(), "aborted", dialect);
    await driver.finish();
  }
});
