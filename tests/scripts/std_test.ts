// Holds for both sources of `@std/*`: the packages themselves and the small ones in scripts/std.
import {
  assert,
  assertArrayIncludes,
  assertEquals,
  assertExists,
  assertFalse,
  assertGreater,
  assertGreaterOrEqual,
  assertInstanceOf,
  AssertionError,
  assertLess,
  assertLessOrEqual,
  assertMatch,
  assertNotEquals,
  assertObjectMatch,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
  fail,
  unreachable,
} from "@std/assert";
import { parseArgs } from "@std/cli/parse-args";
import { parse } from "@std/jsonc";
import { TextLineStream } from "@std/streams/text-line-stream";
import { toText } from "@std/streams/to-text";
import { assertSpyCall, assertSpyCalls, spy, stub } from "@std/testing/mock";
import { FakeTime } from "@std/testing/time";
import { afterEach, beforeEach, describe, it } from "@std/testing/bdd";

Deno.test("assertEquals() compares structure", () => {
  assertEquals({ a: [1, { b: new Set([1]) }] }, { a: [1, { b: new Set([1]) }] });
  assertEquals<unknown>(Object.assign(Object.create(null), { a: 1 }), { a: 1 });
  assertEquals(new Uint8Array([1, 2]), new Uint8Array([1, 2]));
  assertEquals({ a: [-0, { b: Object.create(null) }] }, { a: [0, { b: {} }] });
  assertEquals("ab".match(/b/), "ab".match(/b/));
  assertNotEquals("ab".match(/b/), "b".match(/b/));
  assertNotEquals<unknown>({ a: undefined }, {});
  assertNotEquals<unknown>(new Error("a"), new Error("b"));
  assertNotEquals<unknown>([undefined], []);
  assertNotEquals(new Map([[1, 2]]), new Map([[1, 3]]));
  const error = assertThrows(() => assertEquals([1, 2], [1, 3], "numbers"), AssertionError);
  assertStringIncludes(error.message, "numbers");
  assertMatch(error.message, /-.*2/);
  assertMatch(error.message, /\+.*3/);
});

Deno.test("assertions pass when they hold and throw an AssertionError when not", () => {
  const pairs: Array<[() => void, () => void]> = [
    [() => assert(1), () => assert(0)],
    [() => assertFalse(0), () => assertFalse(1)],
    [() => assertStrictEquals("a", "a"), () => assertStrictEquals({}, {})],
    [() => assertExists(0), () => assertExists(null)],
    [() => assertInstanceOf([], Array), () => assertInstanceOf({}, Array)],
    [() => assertMatch("abc", /b/), () => assertMatch("abc", /x/)],
    [() => assertStringIncludes("abc", "b"), () => assertStringIncludes("abc", "x")],
    [() => assertArrayIncludes([{ a: 1 }, 2], [{ a: 1 }]), () => assertArrayIncludes([1], [2])],
    [() => assertGreater(2, 1), () => assertGreater(1, 1)],
    [() => assertGreaterOrEqual(1, 1), () => assertGreaterOrEqual(0, 1)],
    [() => assertLess(1, 2), () => assertLess(1, 1)],
    [() => assertLessOrEqual(1, 1), () => assertLessOrEqual(2, 1)],
    [() => assertObjectMatch({ a: { b: 1, c: 2 } }, { a: { b: 1 } }), () => {
      assertObjectMatch({ a: { b: 1 } }, { a: { b: 1, c: undefined } });
    }],
    [() => {}, () => fail("no")],
    [() => {}, () => unreachable()],
  ];
  for (const [holds, fails] of pairs) {
    holds();
    assertThrows(fails, AssertionError);
  }
});

Deno.test("assertThrows() checks class and message and returns the error", () => {
  const error = assertThrows(() => JSON.parse("{"), SyntaxError, "JSON");
  assertInstanceOf(error, SyntaxError);
  assertThrows(() => assertThrows(() => {}), AssertionError);
  assertThrows(() => assertThrows(() => JSON.parse("{"), TypeError), AssertionError);
  assertThrows(() => assertThrows(() => JSON.parse("{"), SyntaxError, "nope"), AssertionError);
  assertStrictEquals(
    assertThrows(() => {
      throw 7;
    }),
    7,
  );
});

Deno.test("assertRejects() checks class and message and resolves to the error", async () => {
  const reason = new TypeError("bad thing");
  const error = await assertRejects(() => Promise.reject(reason), TypeError, "bad");
  assertStrictEquals(error, reason);
  await assertRejects(() => assertRejects(() => Promise.resolve()), AssertionError);
  await assertRejects(
    () =>
      assertRejects(() => {
        throw reason;
      }),
    AssertionError,
  );
});

Deno.test("parseArgs() reads flags, aliases, defaults and the rest", () => {
  const flags = parseArgs(
    ["--mode", "rpc", "-v", "--extension=a.ts", "--extension", "b.ts", "folder", "7", "--no-color"],
    {
      string: ["mode", "extension"],
      boolean: ["verbose", "color"],
      collect: ["extension"],
      negatable: ["color"],
      alias: { verbose: "v" },
      default: { mode: "print", color: true },
    },
  );
  const mode: string = flags.mode;
  const extensions: string[] = flags.extension;
  const verbose: boolean = flags.verbose;
  assertEquals([mode, extensions, verbose, flags.v, flags.color], [
    "rpc",
    ["a.ts", "b.ts"],
    true,
    true,
    false,
  ]);
  assertEquals(flags._, ["folder", 7]);
});

Deno.test("parseArgs() tells what is not declared", () => {
  const seen: Array<[string, string | undefined, unknown]> = [];
  const flags = parseArgs(["--what", "x", "--known", "1", "rest", "-q"], {
    string: "known",
    unknown(arg, key, value) {
      seen.push([arg, key, value]);
      return key === undefined;
    },
  });
  assertEquals(seen, [["--what", "what", "x"], ["rest", undefined, undefined], ["-q", "q", true]]);
  assertEquals({ ...flags }, { _: ["rest"], known: "1" });
});

Deno.test("parseArgs() keeps text as text, leaves the rest alone when told to", () => {
  assertEquals({ ...parseArgs(["--port", "080", "--", "-x"], { string: ["port"], "--": true }) }, {
    _: [],
    port: "080",
    "--": ["-x"],
  });
  assertEquals(parseArgs(["a", "--b", "c"], { stopEarly: true })._, ["a", "--b", "c"]);
  assertEquals(parseArgs(["--", "5"])._, ["5"]);
  const options = { string: ["name", "list"], collect: ["list"], boolean: ["on"] } as const;
  const { name, list, on } = parseArgs(["--name"], options);
  assertEquals([name, list, on], ["", [], false]);
  assertEquals(parseArgs(["--name", "--on"], options).name, "");
  assertEquals(parseArgs(["-abc", "-n5", "--x.y=1"]), {
    a: true,
    b: true,
    c: true,
    n: 5,
    x: { y: 1 },
    _: [],
  });
  assertEquals(parseArgs(["--name=a=b"], options).name, "a=b");
  assertEquals(parseArgs(["--on=false"], options).on, false);
});

Deno.test("parse() reads JSON with comments and says where it cannot", () => {
  assertEquals(parse('// a\n{ "b": [1, 2,], /* c */ "d": null, }'), { b: [1, 2], d: null });
  assertThrows(() => parse('{"a": 1,}', { allowTrailingComma: false }), SyntaxError);
  assertThrows(() => parse('{"a": what}'), SyntaxError, "in JSONC at position 6");
  assertThrows(() => parse('{"a": 1'), SyntaxError, "Unexpected end of JSONC input");
  assertThrows(() => parse(""), SyntaxError, "Unexpected end of JSONC input");
  assertEquals(Object.keys(parse('{"__proto__": 1}') as Record<string, unknown>), ["__proto__"]);
});

Deno.test("TextLineStream splits wherever the chunks are cut", async () => {
  const text = "one\r\n\ntwo\rtwo\nthree\r";
  for (
    const [allowCR, lines] of [
      [false, ["one", "", "two\rtwo", "three\r"]],
      [true, ["one", "", "two", "two", "three"]],
    ] as const
  ) {
    for (let cut = 0; cut <= text.length; cut++) {
      const stream = ReadableStream.from([text.slice(0, cut), text.slice(cut)])
        .pipeThrough(new TextLineStream({ allowCR }));
      assertEquals(await Array.fromAsync(stream), [...lines]);
    }
  }
});

Deno.test("toText() joins text and bytes", async () => {
  assertEquals(await toText(ReadableStream.from(["a", "b"])), "ab");
  const [first, ...rest] = new TextEncoder().encode("äö");
  const bytes = ReadableStream.from([new Uint8Array([first]), new Uint8Array(rest)]);
  assertEquals(await toText(bytes), "äö");
});

Deno.test("FakeTime moves only when told to", async () => {
  const realDate = Date;
  const heard: string[] = [];
  {
    using time = new FakeTime(1000);
    setTimeout((name: string) => heard.push(name), 50, "timer");
    const every = setInterval(() => heard.push("every"), 30);
    const signal = AbortSignal.timeout(100);
    assertEquals([Date.now(), new Date().getTime(), time.start], [1000, 1000, 1000]);
    time.tick(49);
    assertEquals([heard, time.now], [["every"], 1049]);
    assert(time.next());
    assertEquals([heard, Date.now()], [["every", "timer"], 1050]);
    clearInterval(every);
    assertFalse(signal.aborted);
    await time.tickAsync(50);
    assert(signal.aborted);
    assertEquals(signal.reason.name, "TimeoutError");
    Promise.resolve().then(() => heard.push("micro"));
    await time.runMicrotasks();
    assertEquals(heard.at(-1), "micro");
    assertFalse(await time.nextAsync());
    assertEquals(await FakeTime.restoreFor(() => Date === realDate), true);
    assertFalse(Date === realDate);
  }
  assertStrictEquals(Date, realDate);
  assertThrows(() => FakeTime.restore());
});

Deno.test("spy() and stub() record calls", () => {
  const add = spy((a: number, b: number) => a + b);
  assertEquals(add(1, 2), 3);
  assertSpyCalls(add, 1);
  assertSpyCall(add, 0, { args: [1, 2], returned: 3 });
  const target = { name: () => "real" };
  {
    using fake = stub(target, "name", () => "fake");
    assertEquals(target.name(), "fake");
    assertSpyCalls(fake, 1);
  }
  assertEquals(target.name(), "real");
});

const order: string[] = [];
describe("describe()", () => {
  beforeEach(() => {
    order.push("before");
  });
  afterEach(() => {
    order.push("after");
  });
  it("runs hooks around each test", () => assertEquals(order, ["before"]));
  it("runs tests in order", () => assertEquals(order, ["before", "after", "before"]));
});
