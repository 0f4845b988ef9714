/** Which conversation a circle RPC process opens, what it stores, and what it finds again. */

import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertStringIncludes,
} from "@std/assert";
import { prepareHome } from "../fakes/prepare_home.ts";
import { startWeir } from "../fakes/weir_process.ts";
import { calls, type Circle, saidIn, withCircle } from "./_with_circle.ts";

/** Starts the program with options that it has to refuse. */
async function expectRefusal(
  circle: Circle,
  args: readonly string[],
  expected: { code: number; text: string },
  folder = circle.workspace,
): Promise<void> {
  await using weir = await startWeir({
    args: ["--mode", "rpc", ...args, folder],
    home: circle.home.home,
  });
  assertEquals((await weir.waitForExit()).code, expected.code, weir.stderr);
  assertEquals(weir.records, []);
  assertStringIncludes(weir.stderr, `✖ ${expected.text}`);
}

/** Every file below the home's sessions, with its lines as JSON. */
async function sessionFiles(
  circle: Circle,
): Promise<{ path: string; lines: Record<string, unknown>[] }[]> {
  const found: { path: string; lines: Record<string, unknown>[] }[] = [];
  const walk = async (folder: string) => {
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      const path = `${folder}/${name}`;
      if (isDirectory) await walk(path);
      else if (name.endsWith(".jsonl")) {
        const text = await Deno.readTextFile(path);
        assert(text.endsWith("\n"));
        found.push({ path, lines: text.trimEnd().split("\n").map((line) => JSON.parse(line)) });
      }
    }
  };
  await walk(`${circle.home.home}/sessions`).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  return found;
}

async function contents(circle: Circle): Promise<unknown[]> {
  return (await circle.messages()).map(({ data }) => (data as Record<string, unknown>).content);
}

Deno.test("circle session file is made with the first entry", async () => {
  await withCircle({ replies: [{ text: "a" }] }, async (circle) => {
    const { sessionId } = await circle.state();
    await circle.messages();
    await circle.data({ type: "get_session_stats" });
    await circle.data({ type: "new_session" });
    assertEquals(await sessionFiles(circle), []);
    await circle.turn("hello");
    const { sessionId: current } = await circle.state();
    assertNotEquals(current, sessionId);
    const [file, ...more] = await sessionFiles(circle);
    assertEquals(more, []);
    const [header, ...entries] = file.lines;
    assertEquals([header.type, header.version, header.id, header.cwd], [
      "session",
      3,
      current,
      circle.workspace,
    ]);
    assertMatch(file.path, new RegExp(`/sessions/--[^/]*--/[^/]*_${current}\\.jsonl$`));
    const messages = entries.filter(({ type }) => type === "message");
    const [, answer] = await circle.messages();
    assertEquals((answer.data as Record<string, unknown>).id, messages[1].id);
    for (const [index, entry] of entries.entries()) {
      assertEquals(entry.parentId ?? undefined, index === 0 ? undefined : entries[index - 1].id);
      assertMatch(String(entry.timestamp), /^\d{4}-\d\d-\d\dT/);
    }
  });
});

Deno.test("circle --session-id opens the same conversation again", async () => {
  const replies = [{ text: "a" }, { text: "b" }];
  await withCircle({ args: ["--session-id", "s-1"], replies }, async (circle) => {
    assertEquals((await circle.state()).sessionId, "s-1");
    await circle.turn("remember 41");
    const before = await circle.messages();
    const native = await circle.messages("get_native_messages");
    const stats = await circle.data({ type: "get_session_stats" });
    await circle.start(["--session-id", "s-1"]);
    assertEquals(await circle.messages(), before);
    assertEquals(await circle.messages("get_native_messages"), native);
    assertEquals(await circle.data({ type: "get_session_stats" }), stats);
    assertEquals((await circle.state()).sessionName, "remember 41");
    assertEquals(await circle.data({ type: "get_last_assistant_text" }), { text: "a" });
    await circle.turn("what was it?");
    assertEquals(saidIn(circle.lastRequest), [
      "user: remember 41",
      "assistant: a",
      "user: what was it?",
    ]);
    assertEquals((await sessionFiles(circle)).length, 1);
  });
});

Deno.test("circle --fork copies everything under a new id", async () => {
  const replies = [calls({ id: "c", name: "ls", args: {} }), { text: "a" }, { text: "b" }];
  await withCircle(
    { args: ["--session-id", "s-1", "--name", "origin"], replies },
    async (circle) => {
      await circle.turn("one");
      const before = await circle.messages();
      const stats = await circle.data({ type: "get_session_stats" });
      await circle.start(["--fork", "s-1"]);
      const { sessionId, sessionName } = await circle.state();
      assertNotEquals(sessionId, "s-1");
      assertEquals(sessionName, "origin");
      assertEquals(await circle.messages(), before);
      assertEquals(await circle.data({ type: "get_session_stats" }), { ...stats, sessionId });
      await circle.turn("two");
      await circle.start(["--fork=-1", "--session-id", "s-2"]);
      assertEquals((await circle.state()).sessionId, "s-2");
      assertEquals(await circle.messages(), before);
      await circle.start(["--session-id", "s-1"]);
      assertEquals(await circle.messages(), before);
      await circle.end();
      await expectRefusal(circle, ["--fork", "s-1", "--session-id", "s-1"], {
        code: 2,
        text: "session s-1 exists already",
      });
      const copies = (await sessionFiles(circle)).filter(({ lines }) => lines[0].id !== "s-1");
      for (const { lines: [header] } of copies) assertMatch(String(header.parentSession), /s-1/);
      assertEquals(copies.length, 2);
    },
  );
});

Deno.test("circle --session finds a conversation by the end of its id", async () => {
  const replies = [{ text: "a" }, { text: "b" }, { text: "c" }];
  await withCircle({ args: ["--session-id", "alpha-1"], replies }, async (circle) => {
    await circle.turn("first");
    await circle.start(["--session-id", "beta-1"]);
    await circle.turn("second");
    await circle.start(["--session", "ha-1"]);
    assertEquals((await circle.state()).sessionId, "alpha-1");
    await circle.start(["--session", "beta-1"]);
    assertEquals(await contents(circle), ["second", "b"]);
    await circle.end();
    const ambiguous = { code: 1, text: "session id is ambiguous: a-1" };
    await expectRefusal(circle, ["--session", "a-1"], ambiguous);
    await expectRefusal(circle, ["--fork", "a-1"], ambiguous);
    // The beginning of an id is not enough.
    await expectRefusal(circle, ["--session", "alpha"], {
      code: 1,
      text: "unknown session: alpha",
    });
  });
});

Deno.test("circle --session copies a conversation of another folder, --session-id refuses it", async () => {
  await withCircle(
    { args: ["--session-id", "home-1"], replies: [{ text: "a" }] },
    async (circle) => {
      await circle.turn("first");
      const before = await circle.messages();
      const other = `${circle.workspace}/src`;
      await circle.end();
      await expectRefusal(circle, ["--session-id", "home-1"], {
        code: 1,
        text: `session belongs to a different workspace: ${circle.workspace}`,
      }, other);
      await expectRefusal(
        circle,
        ["-c"],
        { code: 1, text: "no saved session in this folder" },
        other,
      );
      await circle.start(["--session", "home-1"], { folder: other });
      const { sessionId } = await circle.state();
      assertNotEquals(sessionId, "home-1");
      assertEquals(await circle.messages(), before);
      await circle.end();
      const copy = (await sessionFiles(circle)).find(({ lines }) => lines[0].id === sessionId)!;
      assertEquals(copy.lines[0].cwd, other);
      assertMatch(String(copy.lines[0].parentSession), /home-1/);
    },
  );
});

Deno.test("circle -c continues the conversation that was written last", async () => {
  const replies = [{ text: "a" }, { text: "b" }, { text: "c" }];
  await withCircle({ args: ["--session-id", "old"], replies }, async (circle) => {
    await circle.turn("first");
    await circle.start(["--session-id", "new"]);
    await circle.turn("second");
    await circle.start(["-c"]);
    assertEquals((await circle.state()).sessionId, "new");
    await circle.start(["--session-id", "old"]);
    await circle.turn("third");
    await circle.start(["--continue"]);
    assertEquals(await contents(circle), ["first", "a", "third", "c"]);
  });
});

Deno.test("circle conversation is open in one process at a time", async () => {
  await withCircle(
    { args: ["--session-id", "s-1"], replies: [{ text: "a" }, { text: "b" }] },
    async (circle) => {
      await circle.turn("first");
      const text = `session s-1 is open in process ${circle.weir.pid}`;
      for (const args of [["--session-id", "s-1"], ["--session", "s-1"], ["-c"]]) {
        await expectRefusal(circle, args, { code: 1, text });
      }
      // The lock of a process that was killed is taken over.
      await circle.kill();
      await circle.start(["--session-id", "s-1"]);
      assertEquals(await contents(circle), ["first", "a"]);
      // new_session gives the conversation free.
      await circle.data({ type: "new_session" });
      await using second = await startWeir({
        args: ["--mode", "rpc", "--session-id", "s-1", circle.workspace],
        home: circle.home.home,
      });
      const { data } = await second.request({ type: "get_state" });
      assertEquals((data as Record<string, unknown>).messageCount, 2);
    },
  );
});

Deno.test("circle --no-session writes nothing into the home, also after new_session", async () => {
  const replies = [calls({ name: "bash", args: { command: "seq 1 3000" } }), { text: "a" }, {
    text: "b",
  }];
  await withCircle({ args: ["--no-session", "--yolo"], replies }, async (circle) => {
    const list = async () => {
      const names: string[] = [];
      for await (const { name } of Deno.readDir(circle.home.home)) names.push(name);
      return names.sort();
    };
    const before = await list();
    await circle.turn("first");
    await circle.data({ type: "set_session_name", name: "kept in memory" });
    assertEquals((await circle.state()).messageCount, 4);
    await circle.data({ type: "new_session" });
    await circle.turn("second");
    assertEquals((await circle.state()).messageCount, 2);
    await circle.end();
    assertEquals(await list(), before);
  });
});

Deno.test("circle --session-dir keeps conversations directly in that folder", async () => {
  const place = await Deno.realPath(await Deno.makeTempDir());
  try {
    const args = ["--session-dir", place, "--session-id", "s-1"];
    await withCircle({ args, replies: [{ text: "a" }] }, async (circle) => {
      await circle.turn("first");
      const names = [...Deno.readDirSync(place)].map(({ name }) => name);
      assertEquals(names.filter((name) => name.endsWith("_s-1.jsonl")).length, 1);
      await circle.start(["--session-dir", place, "-c"]);
      assertEquals(await contents(circle), ["first", "a"]);
    });
  } finally {
    await Deno.remove(place, { recursive: true });
  }
});

Deno.test("circle names are stored, and replace the automatic title", async () => {
  const args = ["--session-id", "s-1", "--name", "  first \t name " + "x".repeat(100)];
  await withCircle({ args, replies: [{ text: "a" }] }, async (circle) => {
    const cut = `first name ${"x".repeat(69)}`;
    assertEquals((await circle.state()).sessionName, cut);
    await circle.turn("hello");
    assertEquals((await circle.state()).sessionName, cut);
    await circle.start(["--session-id", "s-1", "-n", "second"]);
    assertEquals((await circle.state()).sessionName, "second");
    await circle.ask({ type: "set_session_name", name: "third" });
    await circle.start(["-c"]);
    assertEquals((await circle.state()).sessionName, "third");
  });
});

Deno.test("circle reopened conversation takes model and thinking level from the options", async () => {
  const args = ["--session-id", "s-1", "--model", "first", "--thinking", "high"];
  await withCircle({ args, replies: [{ text: "a" }] }, async (circle) => {
    await circle.turn("hello");
    await circle.start(["-c"]);
    const { model, thinkingLevel } = await circle.state();
    assertEquals([model, thinkingLevel], ["test-model", ""]);
  });
});

Deno.test("circle session file with a torn last line and an unreadable one opens with what is whole", async () => {
  const replies = [{ text: "a" }, { text: "b" }, { text: "c" }];
  await withCircle({ args: ["--session-id", "s-1"], replies }, async (circle) => {
    await circle.turn("first");
    await circle.turn("second");
    const before = await circle.messages();
    await circle.end();
    const [{ path }] = await sessionFiles(circle);
    await Deno.writeTextFile(path, '{"type":"message","id":"torn', { append: true });
    await circle.start(["-c"]);
    assertEquals(await circle.messages(), before);
    await circle.turn("third");
    assertEquals(circle.weir.stderr.trim().split("\n").length, 1, circle.weir.stderr);
    assertMatch(circle.weir.stderr, /./);
    await circle.end();
    // Every line is whole again; now one in the middle is spoilt.
    await sessionFiles(circle);
    const lines = (await Deno.readTextFile(path)).split("\n");
    const spoilt = lines.findIndex((line) => line.includes('"b"'));
    lines[spoilt] = lines[spoilt].slice(0, 20);
    await Deno.writeTextFile(path, lines.join("\n"));
    await circle.start(["-c"]);
    assertEquals(await contents(circle), ["first", "a", "second", "third", "c"]);
    assertEquals(circle.weir.stderr.trim().split("\n").length, 1, circle.weir.stderr);
  });
});

Deno.test("circle home keeps its sessions private", async () => {
  if (Deno.build.os === "windows") return;
  await withCircle({ replies: [{ text: "a" }] }, async (circle) => {
    await circle.turn("hello");
    const [{ path }] = await sessionFiles(circle);
    const folder = path.slice(0, path.lastIndexOf("/"));
    assertEquals((await Deno.stat(`${circle.home.home}/sessions`)).mode! & 0o077, 0);
    assertEquals((await Deno.stat(folder)).mode! & 0o077, 0);
  });
});

Deno.test("circle -c finds nothing in a home without sessions", async () => {
  await using home = await prepareHome();
  await using weir = await startWeir({
    args: ["--mode", "rpc", "-c", home.workspace],
    home: home.home,
  });
  assertEquals((await weir.waitForExit()).code, 1);
  assertStringIncludes(weir.stderr, "no saved session in this folder");
});
