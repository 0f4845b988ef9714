import { assertEquals } from "@std/assert";
import { visibleText } from "../../src/agent/visible_text.ts";

Deno.test("visibleText() writes what steers a terminal or cannot be seen as escapes", () => {
  const text = "a\x1b[2J\x07\x08\x00\x7f\x9b31m\u202eb\u2066\u200b\u2060\ufeffc";
  assertEquals(
    visibleText(text),
    "a\\u001b[2J\\u0007\\u0008\\u0000\\u007f\\u009b31m\\u202eb\\u2066\\u200b\\u2060\\ufeffc",
  );
});

Deno.test("visibleText() leaves text, line breaks, tabs and joined characters alone", () => {
  const text = "é 中文 😀 👨‍👩‍👧 می‌خواهم\tb\nc\r\nd\u00a0e\u00ad";
  assertEquals(visibleText(text), text);
  assertEquals(visibleText("a\rb\r\nc"), "a\\u000db\r\nc");
});

Deno.test("visibleText() keeps the meaning of JSON", () => {
  const value = { "k\u202ey": "\u009b\u200b" };
  const shown = visibleText(JSON.stringify(value));
  assertEquals(JSON.parse(shown), value);
  assertEquals(shown, '{"k\\u202ey":"\\u009b\\u200b"}');
});
