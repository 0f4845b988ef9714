import { assertEquals } from "@std/assert";
import { applyChanges, type Edit, planChanges } from "../../src/tools/plan_changes.ts";

function edited(text: string, ...edits: Edit[]): string {
  const plan = planChanges(text, edits);
  return plan.ok ? applyChanges(text, plan.changes) : `! ${plan.problem}`;
}

function replace(text: string, oldText: string, newText: string, all?: boolean): string {
  return edited(text, all === undefined ? { oldText, newText } : { oldText, newText, all });
}

Deno.test("planChanges() replaces a text that is there once", () => {
  assertEquals(replace("a b c", "b", "x"), "a x c");
  assertEquals(replace("a b c", "a b c", ""), "");
  assertEquals(replace("$1", "$1", "$&$$"), "$&$$");
});

Deno.test("planChanges() makes all edits on the original text", () => {
  const edits = [
    { oldText: "c", newText: "a" },
    { oldText: "a", newText: "b" },
    { oldText: "b", newText: "c" },
  ];
  assertEquals(edited("a b c", ...edits), "b c a");
  assertEquals(edited("ab", { oldText: "a", newText: "1" }, { oldText: "b", newText: "2" }), "12");
});

Deno.test("planChanges() replaces every place with all", () => {
  assertEquals(replace("a.a.a", "a", "bb", true), "bb.bb.bb");
  assertEquals(replace("aaaaa", "aa", "b", true), "bba");
  assertEquals(replace("x", "x", "y", true), "y");
});

Deno.test("planChanges() says what is wrong with an edit", () => {
  const more = "add lines around it until it matches one";
  assertEquals(replace("a a a", "a", "b"), `! old text matches 3 places, ${more}`);
  assertEquals(replace("ababa", "aba", "x"), `! old text matches 2 places, ${more}`);
  assertEquals(
    replace("a", "b", "c"),
    "! old text was not found, read the file and copy the text exactly",
  );
  assertEquals(
    replace("a", "b", "c", true),
    "! old text was not found, read the file and copy the text exactly",
  );
  assertEquals(replace("a", "", "c"), "! old text is empty, use write to make a file");
  assertEquals(replace("", "", "c"), "! old text is empty, use write to make a file");
  const same = "! old and new text are the same, nothing would change";
  assertEquals(replace("a", "a", "a"), same);
  assertEquals(replace("a\nb", "a\nb", "a\r\nb"), same);
  assertEquals(
    edited("a b", { oldText: "a", newText: "1" }, { oldText: "x", newText: "2" }),
    "! old text of edit 2 was not found, read the file and copy the text exactly",
  );
});

Deno.test("planChanges() refuses edits that overlap", () => {
  const problem = "! edits 1 and 2 overlap, make one edit of them";
  assertEquals(
    edited("abcd", { oldText: "bc", newText: "x" }, { oldText: "ab", newText: "y" }),
    problem,
  );
  assertEquals(
    edited("abcd", { oldText: "bc", newText: "x" }, { oldText: "bc", newText: "y" }),
    problem,
  );
});

Deno.test("planChanges() keeps the line ends of a CRLF file", () => {
  const text = "a\r\nb\r\nc\r\n";
  assertEquals(replace(text, "a\nb", "1\n2\n3"), "1\r\n2\r\n3\r\nc\r\n");
  assertEquals(replace(text, "a\r\nb", "1\n2"), "1\r\n2\r\nc\r\n");
  assertEquals(replace(text, "b", "1\n2"), "a\r\n1\r\n2\r\nc\r\n");
  assertEquals(replace(text, "\nb\n", "\n"), "a\r\nc\r\n");
  assertEquals(replace(text, "\n", "|", true), "a|b|c|");
  assertEquals(replace(text, "c\n", "c"), "a\r\nb\r\nc");
});

Deno.test("planChanges() keeps the line ends of an LF file", () => {
  assertEquals(replace("a\nb\n", "a\r\nb", "1\r\n2"), "1\n2\n");
  assertEquals(replace("a\nb\n", "b", "1\r\n2"), "a\n1\n2\n");
  assertEquals(replace("one", "one", "1\r\n2"), "1\r\n2");
  assertEquals(replace("a\rb\n", "a\rb", "c"), "c\n");
});

Deno.test("planChanges() changes only touched parts of mixed line ends", () => {
  const text = "a\r\nb\nc\r\nd\n\r\n";
  assertEquals(replace(text, "b\nc\n", "1\n2\n"), "a\r\n1\n2\nd\n\r\n");
  assertEquals(replace(text, "a\nb", "1\n2"), "1\r\n2\nc\r\nd\n\r\n");
  assertEquals(replace(text, "d", "1\n2"), "a\r\nb\nc\r\n1\r\n2\n\r\n");
});

Deno.test("planChanges() tells places of mixed line ends apart by their exact text", () => {
  const text = "a\r\nb\na\nb\n";
  assertEquals(replace(text, "a\r\nb", "x"), "x\na\nb\n");
  assertEquals(replace(text, "a\nb", "x"), "a\r\nb\nx\n");
  assertEquals(replace(text, "a\nb", "x", true), "x\nx\n");
});

Deno.test("planChanges() is exact at any place among pairs", () => {
  const text = "\r\n\r\r\n\na\r\n\r\n";
  assertEquals(replace(text, "a", "b"), "\r\n\r\r\n\nb\r\n\r\n");
  assertEquals(replace(text, "\n\na\n", "-"), "\r\n\r-\r\n");
});

Deno.test("planChanges() refuses more than a million places", () => {
  assertEquals(
    replace("a".repeat(1_000_001), "a", "b", true),
    "! old text matches more than 1000000 places, use a script for that",
  );
});
