import { assertEquals, assertThrows } from "@std/assert";
import { globMatcher } from "../../src/tools/glob.ts";

const CASES: readonly [glob: string, matching: string[], other: string[]][] = [
  ["*.ts", ["a.ts", "deep/er/b.ts", ".ts"], ["a.tsx", "a.ts/b"]],
  ["a?c", ["abc", "x/a😀c"], ["ac", "abbc"]],
  ["src/*.ts", ["src/a.ts"], ["src/b/a.ts", "x/src/a.ts"]],
  ["./src/*.ts", ["src/a.ts"], ["src/b/a.ts"]],
  ["/a", ["a"], ["b/a"]],
  ["src/**/*.ts", ["src/a.ts", "src/b/c/a.ts"], ["a.ts", "src/a.js"]],
  ["**/test/*", ["test/a", "x/y/test/a"], ["test/a/b", "mytest/a"]],
  ["src/**", ["src/a", "src/a/b"], ["src", "xsrc/a"]],
  ["a**b", ["ab", "axyb"], ["abc"]],
  ["{a,b}.{js,ts}", ["a.js", "b.ts"], ["c.js", "a.css", "{a,b}.js"]],
  ["{a,{b,c}d}", ["a", "bd", "cd"], ["b", "ad"]],
  ["{a,b", ["{a,b"], ["a"]],
  ["a,b}", ["a,b}"], ["a"]],
  ["[a-c]x", ["ax", "cx"], ["dx", "-x"]],
  ["[!a-c]x", ["dx"], ["ax"]],
  ["[^a]", ["b"], ["a"]],
  ["[]]", ["]"], ["["]],
  ["[a", ["[a"], ["a"]],
  ["[a-]", ["-", "a"], ["b"]],
  ["\\*", ["*"], ["a"]],
  ["a.b+(c)$^|", ["a.b+(c)$^|"], ["axb+(c)$^|"]],
  ["line\nbreak", ["line\nbreak"], ["line"]],
  ["*", ["a", "line\nbreak", ".hidden"], []],
];

for (const [glob, matching, other] of CASES) {
  Deno.test(`globMatcher(${JSON.stringify(glob)}) finds what it should`, () => {
    const matches = globMatcher(glob);
    assertEquals(matching.filter((path) => !matches(path)), []);
    assertEquals(other.filter((path) => matches(path)), []);
  });
}

Deno.test("globMatcher() refuses a range that runs backwards", () => {
  assertThrows(() => globMatcher("[z-a]"), SyntaxError);
});
