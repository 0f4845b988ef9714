import { assertEquals } from "@std/assert";
import { OutputTail, TAIL_BYTES, TAIL_LINES } from "../../src/tools/output_tail.ts";

/** The obvious way: everything in memory, cut once. */
function expected(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const lines = text.split("\n");
  const count = text.endsWith("\n") ? lines.length - 1 : lines.length;
  if (bytes.length <= TAIL_BYTES && count <= TAIL_LINES) return text;
  let kept = lines.slice(-(text.endsWith("\n") ? TAIL_LINES + 1 : TAIL_LINES));
  const size = () => new TextEncoder().encode(kept.join("\n")).length;
  const least = text.endsWith("\n") ? 2 : 1;
  while (size() > TAIL_BYTES && kept.length > least) kept = kept.slice(1);
  if (size() <= TAIL_BYTES) return kept.join("\n");
  const whole = new TextEncoder().encode(kept.join("\n"));
  let start = whole.length - TAIL_BYTES;
  while ((whole[start]! & 0xc0) === 0x80) start++;
  return new TextDecoder().decode(whole.subarray(start));
}

const TEXTS: Readonly<Record<string, string>> = {
  "nothing": "",
  "2000 lines": "x\n".repeat(2000),
  "2000 lines and a piece": "x\n".repeat(2000) + "y",
  "2001 lines": "a\n" + "x\n".repeat(2000),
  "exactly 50 KB": "x".repeat(TAIL_BYTES - 1) + "\n",
  "one byte more": "x".repeat(TAIL_BYTES) + "\n",
  "many lines of many bytes": Array.from({ length: 3000 }, (_, i) => `${i} ${"ä€😀".repeat(9)}`)
    .join("\n"),
  "one long line": "ä".repeat(TAIL_BYTES),
  "a long line and a short one": "€".repeat(TAIL_BYTES) + "\nend",
  "a short line and a long one": "start\n" + "😀".repeat(TAIL_BYTES) + "\n",
  "a line break where the cut is": "a\n" + "x".repeat(TAIL_BYTES - 1) + "\n",
  "empty lines": "\n".repeat(100_000),
};

for (const [name, text] of Object.entries(TEXTS)) {
  Deno.test(`OutputTail keeps the right end of ${name}`, () => {
    const wanted = expected(text);
    for (const size of [1, 7, 4096, 1_000_000]) {
      // Pieces of a decoder never split a character.
      const characters = size === 1 && text.length > 20_000 ? [text] : pieces(text, size);
      const tail = new OutputTail();
      for (const piece of characters) tail.add(piece);
      assertEquals(tail.text() === wanted, true);
      assertEquals(tail.isCut, wanted !== text);
    }
  });
}

function pieces(text: string, size: number): string[] {
  const result: string[] = [];
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + size);
    if (end < text.length && (text.charCodeAt(end) & 0xfc00) === 0xdc00) end++;
    result.push(text.slice(at, end));
    at = end;
  }
  return result;
}
