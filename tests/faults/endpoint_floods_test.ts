import { assert, assertEquals } from "@std/assert";
import { DIALECTS, type TurnEnd } from "./_drive.ts";
import { answer, type Behaviour, head, STREAM, write } from "./_faulty_endpoint.ts";
import { rounds } from "./_rounds.ts";
import { withDriver } from "./_with_endpoint.ts";

const MEBIBYTE = 1024 * 1024;
const OPTIONS = { retry: { maxRetries: 1 }, timeoutMs: 10_000 };
/** Linux counts what a process has had at the most; a small part of what is sent, besides what the program needs by itself. */
const MOST_MEBIBYTES = 260;

async function hang(conn: Deno.TcpConn): Promise<void> {
  while (await conn.read(new Uint8Array(64)) !== null);
}

/** As much as the client takes, at most `mebibytes`. */
function flood(begin: string, { mebibytes, fill }: { mebibytes: number; fill: string }): Behaviour {
  const block = fill.repeat(MEBIBYTE / fill.length);
  return async (conn) => {
    await write(conn, begin);
    for (let sent = 0; sent < mebibytes; sent++) await write(conn, block);
  };
}

/** A body of gzip that is a thousand times larger than it looks. */
async function bomb(status: string, { mebibytes, type }: { mebibytes: number; type: string }) {
  const zeros = new Uint8Array(MEBIBYTE).fill(0x20);
  let left = mebibytes;
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => left-- > 0 ? controller.enqueue(zeros) : controller.close(),
  });
  const zipped = source.pipeThrough(new CompressionStream("gzip"));
  const body = new Uint8Array(await new Response(zipped).arrayBuffer());
  return answer(status, { headers: { "content-type": type, "content-encoding": "gzip" }, body });
}

const htmlHead = { "content-type": "text/html" };
const jsonHead = { "content-type": "application/json" };
const soon = { ...jsonHead, "retry-after-ms": "1" };

interface Huge {
  readonly behaviour: Behaviour;
  /** How the turn ends when the endpoint is well again after one such answer. */
  readonly end: TurnEnd;
}

function huge(end: TurnEnd, begin: string, fill: string): Huge {
  return { end, behaviour: flood(begin, { mebibytes: 50, fill }) };
}

/** Answers that are far too large and that nothing can be made of. */
const HUGE: Record<string, Huge> = {
  "400": huge("error", head("400 Bad", jsonHead), "x"),
  "401 that says its length": huge(
    "error",
    head("401 Who", { ...jsonHead, "content-length": String(50 * MEBIBYTE) }),
    "y",
  ),
  "429": huge("answer", head("429 Slow", soon), '{"'),
  "500": huge("answer", head("500 Oh", soon), "<"),
  "502 in HTML": huge("answer", head("502 Bad", { ...htmlHead, "retry-after-ms": "1" }), "<p> "),
  "200 in HTML": huge("error", head("200 OK", htmlHead), "<br>"),
  "200 of blank lines": huge("answer", STREAM, "\n"),
  "200 of comments": huge("answer", STREAM, ": still here\n\n: "),
  "a bomb as an error": {
    behaviour: await bomb("403 No", { mebibytes: 200, type: "application/json" }),
    end: "error",
  },
  "a bomb in HTML": {
    behaviour: await bomb("200 OK", { mebibytes: 200, type: "text/html" }),
    end: "error",
  },
};

Deno.test("an answer of 50 MB costs little memory, whatever it is, and is told in short", async () => {
  for (const [turn, api] of (["chat", "responses"] as const).entries()) {
    await withDriver({ ...OPTIONS, dialect: "circle", api }, async ({ driver, endpoint }) => {
      for (const [index, [name, { behaviour, end }]] of Object.entries(HUGE).entries()) {
        if (rounds(1) === 1 && index % 2 !== turn) continue;
        endpoint.misbehave(behaviour, 1);
        const from = driver.weir.records.length;
        assertEquals(await (await driver.prompt(name))(), end, `${api}: ${name}`);
        const text = JSON.stringify(driver.weir.records.slice(from));
        assert(text.length < 5000, `${name}: ${text.length} characters of records`);
        endpoint.behave();
        assertEquals(await (await driver.prompt("again"))(), "answer", `${api}: after ${name}`);
      }
      if (Deno.build.os !== "linux") return;
      const status = await Deno.readTextFile(`/proc/${driver.weir.pid}/status`);
      const peak = Number(/VmHWM:\s+(\d+)/.exec(status)![1]) / 1024;
      assert(peak < MOST_MEBIBYTES, `${api}: ${peak} MiB at the most`);
    });
  }
});

const begun = (text: string): Behaviour => async (conn) => {
  await write(conn, text);
  await hang(conn);
};
const repeated = (text: string, times: number) => text.repeat(times);

/** What costs a careless reader more with each byte, and then goes on without an end. */
const COSTLY: Record<string, Behaviour> = {
  "a value over very many lines": begun(
    `${STREAM}data: {"a":[{}\n${repeated("data: ,{}\n", 150_000)}`,
  ),
  "an answer of very many lines": begun(
    `${head("200 OK", jsonHead)}{"a":[{}\n${repeated(",{}\n", 500_000)}`,
  ),
  "an error that repeats a word": begun(
    `${STREAM}data: ${JSON.stringify({ error: { message: "exceed".repeat(60_000) } })}\n\n`,
  ),
  "a refusal that repeats a word": begun(
    head("400 Bad", { ...jsonHead, "content-length": "131072" }) + repeated("exceed", 10_800),
  ),
  "a refusal of half keys": begun(
    head("400 Bad", { ...jsonHead, "content-length": "131072" }) + repeated("api-key=sk-", 5_800),
  ),
  "a line without an end": begun(`${STREAM}data: {"a":"${repeated("x", 20 * MEBIBYTE)}`),
};

for (const dialect of DIALECTS) {
  Deno.test(`${dialect}: an answer that is laborious to read keeps nobody waiting`, () =>
    withDriver({ ...OPTIONS, dialect }, async ({ driver, endpoint }) => {
      for (const [name, behaviour] of Object.entries(COSTLY)) {
        const sent = Promise.withResolvers<void>();
        endpoint.misbehave(async (conn, request) => {
          const waiting = behaviour(conn, request);
          sent.resolve();
          await waiting;
        });
        const end = await driver.prompt(name);
        await sent.promise;
        await new Promise((resolve) => setTimeout(resolve, 150));
        // It fails at the process's time limit if the abort is not read.
        await driver.abort();
        const how = await end();
        assert(how === "aborted" || how === "error", `${name}: ${how}`);
        endpoint.behave();
        assertEquals(await (await driver.prompt("again"))(), "answer", `after ${name}`);
      }
    }));
}
