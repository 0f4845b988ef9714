import { assert, assertEquals, assertRejects } from "@std/assert";
import { inlineLength, LineMatcher } from "../../src/tools/line_matcher.ts";

const HOSTILE = "a".repeat(60) + "!";

Deno.test("inlineLength() leaves to the process only what takes few steps", () => {
  for (const pattern of ["needle", "a.c|d[*+]e", "\\*x", "^foo$"]) {
    assertEquals(inlineLength(pattern), Infinity, pattern);
  }
  for (const pattern of ["(a+)+$", "(?:a|aa)*b", "(x*){3}", "(ab){2,}"]) {
    assertEquals(inlineLength(pattern), 0, pattern);
  }
  assertEquals(inlineLength("a*b"), 3162);
  assert(inlineLength(".*x.*y") < 300);
  assert(inlineLength("(.)\\1") < 5000);
});

Deno.test("LineMatcher.test() gives the same in the process and in the worker", async () => {
  for (const pattern of [/(a+)+b/u, /(x|y)*z$/iu, /^(\\w+\\s?)*$/u]) {
    using matcher = new LineMatcher(pattern);
    const lines = ["aaab", "xyxyZ", "some words here", "", "é\u2028😀", "\ud800"];
    const { signal } = new AbortController();
    assertEquals(await matcher.test(lines, signal), lines.map((line) => pattern.test(line)));
    assertEquals(await matcher.test(["b"], signal), [pattern.test("b")]);
  }
});

Deno.test("LineMatcher.test() ends at once when it is aborted, and holds nothing up until then", async () => {
  using matcher = new LineMatcher(/(a+)+$/u);
  const stop = new AbortController();
  const reason = new Error("enough");
  const testing = Promise.resolve(matcher.test([HOSTILE], stop.signal));
  testing.catch(() => {});
  // A timer runs, so the event loop is free.
  await new Promise((resolve) => setTimeout(resolve, 50));
  stop.abort(reason);
  assertEquals(await testing.catch((error) => error), reason);
  assertEquals(await matcher.test(["aaa"], new AbortController().signal), [true]);
});

Deno.test("LineMatcher.test() does nothing when it is aborted already", async () => {
  using matcher = new LineMatcher(/(a+)+$/u);
  await assertRejects(
    async () => await matcher.test([HOSTILE], AbortSignal.abort(new Error("before"))),
    Error,
    "before",
  );
});
