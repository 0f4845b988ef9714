import { assertEquals } from "@std/assert";
import { readShell } from "../../../src/session/approvals/read_shell.ts";
import type { ShellSyntax } from "../../../src/session/approvals/read_shell.ts";

/** Words of the parts, those of substitutions first, because they end first. */
function wordsOf(text: string, syntax: ShellSyntax = "posix"): string[][] {
  const { parts } = readShell(text, { syntax, isBody: false });
  return parts.map((part) => part.words.map((word) => word.text));
}

Deno.test("readShell() unquotes words as the shell does", () => {
  assertEquals(wordsOf(`a 'b c' "d \\" \\e \\$f" g\\ h ""`), [
    ["a", "b c", 'd " \\e $f', "g h", ""],
  ]);
  assertEquals(wordsOf("$'a\\tb\\'c\\101\\u00e9\\cA\\q' $\"x\""), [["a\tb'cAé\x01q", "x"]]);
  assertEquals(wordsOf("a\\\nb"), [["ab"]]);
  assertEquals(wordsOf("a\\"), [["a"]]);
});

Deno.test("readShell() splits at operators, line breaks and brackets only outside quotes", () => {
  assertEquals(wordsOf("a;b&c&&d||e|f\ng(h){ i; }"), [..."abcdefghi"].map((word) => [word]));
  assertEquals(wordsOf("a{1,2} {} '{' \\; \"|\""), [["a{1,2}", "{}", "{", ";", "|"]]);
});

Deno.test("readShell() takes redirections out of the words", () => {
  const { parts } = readShell("a 2>&1 b>c <d &>>e 3<>f 'g'>h 4 >|i", {
    syntax: "posix",
    isBody: false,
  });
  assertEquals(parts[0].words.map((word) => word.text), ["a", "b", "g", "4"]);
  assertEquals(
    parts[0].redirections.map(({ operator, target }) => operator + target.text),
    [">&1", ">c", "<d", "&>>e", "<>f", ">h", ">|i"],
  );
});

Deno.test("readShell() gives the depth of substitutions and joins the word around them", () => {
  const { parts, nested } = readShell('a "x$(b `c \\`d\\``)y" <(e)', {
    syntax: "posix",
    isBody: false,
  });
  assertEquals(parts.map((part) => [part.depth, ...part.words.map((word) => word.text)]), [
    [1, "b", "$()"],
    [1, "e"],
    [0, "a", "x$()y", "$()"],
  ]);
  assertEquals(nested, [{ text: "c `d`", depth: 2, isBody: false }]);
});

Deno.test("readShell() keeps the bodies of heredocs apart", () => {
  const text = "a <<X <<-'Y' b\n$(c)\nX\n\td\n\tY\ne";
  const { parts, nested } = readShell(text, { syntax: "posix", isBody: false });
  assertEquals(parts.map((part) => part.words.map((word) => word.text)), [["a", "b"], ["e"]]);
  assertEquals(nested, [{ text: "$(c)\n", depth: 0, isBody: true }]);
  // The body is known only when its line is reached, and belongs to the part that asked for it.
  assertEquals(parts[0].heredocs, ["$(c)\n", "\td\n"]);
});

Deno.test("readShell() reads only substitutions in the body of a heredoc", () => {
  const reading = readShell(`it's "a" ; b $(c "d") \\$(e) \${f}`, {
    syntax: "posix",
    isBody: true,
  });
  assertEquals(reading.isBalanced, true);
  assertEquals(reading.parts.map((part) => part.words.map((word) => word.text)), [["c", "d"]]);
});

Deno.test("readShell() keeps what it read of an unbalanced text", () => {
  const reading = readShell("a; b 'c", { syntax: "posix", isBody: false });
  assertEquals(reading.isBalanced, false);
  assertEquals(reading.parts.map((part) => part.words.map((word) => word.text)), [["a"], [
    "b",
    "c",
  ]]);
});

Deno.test("readShell() follows the quoting of PowerShell and cmd", () => {
  assertEquals(wordsOf("a `\"b C:\\d\\e {f} 'g' # h", "powershell"), [
    ["a", '"b', "C:\\d\\e"],
    ["f"],
    ["g"],
  ]);
  assertEquals(wordsOf('a \'b ^& c # $(d) `e` "f & g" & h', "cmd"), [
    ["a", "'b", "&", "c", "#", "$"],
    ["d"],
    ["`e`", "f & g"],
    ["h"],
  ]);
});

Deno.test("readShell() remembers backslashes that quoting takes away", () => {
  const { parts } = readShell("C:\\a\\b 'c'", { syntax: "posix", isBody: false });
  assertEquals(parts[0].words, [
    { text: "C:ab", literal: "C:\\a\\b", isQuoted: true },
    { text: "c", literal: "c", isQuoted: true },
  ]);
});
