/** Lines in and lines out of a circle RPC process: what is a command, what is answered, in which form. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { prepareHome } from "../fakes/prepare_home.ts";
import { withCircle } from "./_with_circle.ts";

const PARSE_FAILURE = {
  type: "response",
  command: "parse",
  success: false,
  error: "invalid JSON command",
};

Deno.test("circle framing answers lines that are no commands and goes on", async () => {
  await withCircle({}, async (circle) => {
    const bad = ["{not json", "[1]", '"x"', "5", "null", "true", '{"type":"abort"', "{'a':1}"];
    const text = bad.map((line) => `${line}\n`).join("");
    await circle.sendText(text, bad.map(() => ({ type: "parse" })));
    assertEquals((await circle.state()).messageCount, 0);
    assertEquals(circle.weir.records.slice(0, bad.length), bad.map(() => PARSE_FAILURE));
    assertEquals(circle.weir.records.length, bad.length + 1);
  });
});

Deno.test("circle framing refuses unknown commands by name", async () => {
  await withCircle({}, async (circle) => {
    const failure = (command: string, error: string, id?: unknown) => ({
      type: "response",
      command,
      success: false,
      ...(id !== undefined && { id }),
      error,
    });
    assertEquals(
      await circle.ask({ id: "9", type: "fly" }),
      failure("fly", "Unknown command: fly", "9"),
    );
    for (
      const type of ["constructor", "toString", "__proto__", "hasOwnProperty", "Prompt", " prompt"]
    ) {
      assertEquals(
        await circle.ask({ id: type, type }),
        failure(type, `Unknown command: ${type}`, type),
      );
    }
    assertEquals(await circle.ask({ id: 2, type: 7 }), failure("7", "Unknown command: 7", 2));
    assertEquals(
      await circle.ask({ id: 3, type: true }),
      failure("true", "Unknown command: true", 3),
    );
    const none = "Unknown command: (none)";
    assertEquals(await circle.ask({ id: 1 }), failure("", none, 1));
    for (const [index, type] of ["", null, {}, ["prompt"]].entries()) {
      const id = `none-${index}`;
      assertEquals(await circle.ask({ id, type }), failure("", none, id));
    }
    await circle.sendText('{"__proto__":{"type":"abort"},"id":"p"}\n', [{ id: "p" }]);
    assertEquals(await circle.weir.response("p"), failure("", none, "p"));
  });
});

Deno.test("circle framing echoes ids of every kind", async () => {
  await withCircle({}, async (circle) => {
    for (const id of [0, "", false, {}, [1], -1.5, "ü\u2028", { a: [null] }]) {
      const response = await circle.ask({ type: "abort", id });
      assertEquals(response, { type: "response", command: "abort", success: true, id });
    }
    await circle.sendText('{"type":"abort","id":null}\n{"type":"abort"}\n', [
      { type: "abort" },
      { type: "abort" },
    ]);
    await circle.end();
    const bare = { type: "response", command: "abort", success: true };
    assertEquals(circle.weir.records.slice(-3, -1), [bare, bare]);
  });
});

Deno.test("circle framing ends lines at LF only and skips blank ones", async () => {
  await withCircle({}, async (circle) => {
    const text = "\uFEFF" + [
      '{"id":1,"type":"abort"}\r',
      "",
      "\r",
      "  \t ",
      '{"id":2,\r"type":\r"abort"}',
      '{"id":3,"type":"abort","ignored":"\u2028\u2029\u0085"}\r',
      "",
    ].join("\n");
    await circle.sendText(text, [1, 2, 3].map((id) => ({ id, type: "abort" })));
    await circle.end();
    const ids = circle.weir.records.map(({ id }) => id);
    assertEquals(ids, [1, 2, 3, undefined]);
  });
});

Deno.test("circle framing reads a BOM in the middle of the input as an ordinary character", async () => {
  await withCircle({}, async (circle) => {
    await circle.sendText('{"id":1,"type":"abort"}\n\uFEFF{"id":2,"type":"abort"}\n', [
      { id: 1, type: "abort" },
      { type: "parse" },
    ]);
    await circle.end();
    assertEquals(circle.weir.records[1], PARSE_FAILURE);
  });
});

Deno.test("circle framing keeps the characters of a message", async () => {
  const replies = [{ text: "one" }, { text: "two" }, { text: "three" }];
  await withCircle({ replies }, async (circle) => {
    const message = "a\u2028b\u2029c\u0085d\re ü 漢 😀 \u0000";
    const [start] = await circle.turn(message);
    assertEquals(start, { type: "turn_start", message });
    assertEquals(circle.lastRequest.messages.at(-1)!.content, message);

    const split = "Grüße 😀";
    const bytes = new TextEncoder().encode(
      JSON.stringify({ id: "s", type: "prompt", message: split }) + "\n",
    );
    for (let at = 0; at < bytes.length; at += 3) {
      const end = at + 3 >= bytes.length;
      await circle.sendText(
        bytes.slice(at, at + 3),
        end ? [{ id: "s", type: "prompt" }] : [],
      );
    }
    await circle.weir.response("s");
    assertEquals((await circle.weir.settled())[0], { type: "turn_start", message: split });

    const head = new TextEncoder().encode('{"id":"b","type":"prompt","message":"x');
    const tail = new TextEncoder().encode('y"}\n');
    await circle.sendText(new Uint8Array([...head, 0xff, ...tail]), [{ id: "b", type: "prompt" }]);
    await circle.weir.response("b");
    assertEquals((await circle.weir.settled())[0], { type: "turn_start", message: "x\uFFFDy" });
  });
});

Deno.test("circle framing answers a last line without LF", async () => {
  await withCircle({}, async (circle) => {
    await circle.sendText('{"id":"last","type":"get_state"}', [{ id: "last", type: "get_state" }]);
    await circle.end();
    assertEquals(circle.weir.records.map(({ id, type }) => [type, id]), [
      ["response", "last"],
      ["jobs_stopped", undefined],
    ]);
    assertEquals(circle.weir.records[1], { type: "jobs_stopped", count: 0 });
  });
});

Deno.test("circle framing answers a line that is too long like one that is not JSON", async () => {
  await withCircle({}, async (circle) => {
    const part = new TextEncoder().encode("x".repeat(1024 * 1024));
    await circle.sendText('{"type":"prompt","message":"', []);
    for (let n = 0; n < 64; n++) await circle.sendText(part, []);
    await circle.sendText('"}\n{"id":1,"type":"abort"}\n', [
      { type: "parse" },
      { id: 1, type: "abort" },
    ]);
    await circle.weir.response(1);
    assertEquals(circle.weir.records[0], PARSE_FAILURE);
  });
});

Deno.test("circle framing ignores fields that a command does not know", async () => {
  await withCircle({}, async (circle) => {
    const command = {
      id: "e",
      type: "set_event_detail",
      detail: "full",
      extra: { a: 1 },
      message: 4,
    };
    assertEquals(await circle.ask(command), {
      type: "response",
      command: "set_event_detail",
      success: true,
      id: "e",
      data: { detail: "full" },
    });
  });
});

Deno.test("circle framing answers commands in input order, also those that wait", async () => {
  const models = { gate: Promise.withResolvers<void>() };
  await withCircle(
    { models: { gate: models.gate.promise, body: { data: [{ id: "m" }] } } },
    async (circle) => {
      await circle.send({ id: 1, type: "get_available_models" });
      await circle.send({ id: 2, type: "get_state" });
      await circle.send({ id: 3, type: "abort" });
      await circle.server.waitForListRequests(1);
      assertEquals(circle.weir.records, []);
      models.gate.resolve();
      await circle.weir.response(3);
      assertEquals(circle.weir.records.map(({ id }) => id), [1, 2, 3]);
    },
  );
});

Deno.test("circle framing writes compact JSON with plain characters and nothing else", async () => {
  await using home = await prepareHome();
  const root = new URL("../../", import.meta.url).pathname;
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-A", "--config", `${root}deno.npm.json`, `${root}src/main.ts`],
      ...["--mode", "rpc", "--model", "demo", home.workspace],
    ],
    env: { WEIR_HOME: home.home },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  const input =
    '{"id":"ü😀\u2028","type":"fly\u00e9"}\n{"id":2,"type":"prompt","message":"漢字 \\u0007"}\n';
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const output = await child.output();
  const text = new TextDecoder("utf-8", { fatal: true }).decode(output.stdout);
  assertEquals(output.code, 0);
  assertEquals(new TextDecoder().decode(output.stderr), "");
  assert(text.endsWith('{"type":"jobs_stopped","count":0}\n'), text);
  const lines = text.split("\n").slice(0, -1);
  for (const line of lines) assertEquals(JSON.stringify(JSON.parse(line)), line);
  assertStringIncludes(lines[0], "ü😀");
  assertStringIncludes(lines[0], "Unknown command: flyé");
  assertStringIncludes(text, '"message":"漢字 \\u0007"');
});
