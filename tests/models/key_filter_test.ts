import { assertEquals } from "@std/assert";
import { KeyFilter } from "../../src/models/key_filter.ts";

const KEY = "sk-sk-4711$&.*sk-Ab";

function filtered(pieces: readonly string[], secrets: readonly string[] = [KEY]): string {
  const filter = new KeyFilter(secrets);
  return pieces.map((piece) => filter.add(piece)).join("") + filter.end();
}

Deno.test("KeyFilter takes a key out wherever the text is cut", () => {
  const text = `a sk-${KEY}${KEY} sk-sk b`;
  for (let one = 0; one <= text.length; one++) {
    for (let two = one; two <= text.length; two++) {
      const pieces = [text.slice(0, one), text.slice(one, two), text.slice(two)];
      assertEquals(filtered(pieces), "a sk-[redacted][redacted] sk-sk b");
    }
  }
  assertEquals(filtered([...text]), "a sk-[redacted][redacted] sk-sk b");
});

Deno.test("KeyFilter holds back only what may be the beginning of a key", () => {
  const filter = new KeyFilter([KEY]);
  assertEquals(filter.add("hello"), "hello");
  assertEquals(filter.add("hellos"), "hello");
  assertEquals(filter.add("k-"), "");
  assertEquals(filter.add("x"), "sk-x");
  assertEquals(filter.add(KEY.slice(0, -1)), "");
  assertEquals(filter.end(), KEY.slice(0, -1));
  assertEquals(filter.end(), "");
});

Deno.test("KeyFilter leaves words alone that are put in where no key is needed", () => {
  for (const word of ["ollama", "sk-no-key-required", "EMPTY", "lm-studio", "key-1", ""]) {
    assertEquals(filtered([`the ${word} is `, word], [word]), `the ${word} is ${word}`);
  }
});

Deno.test("KeyFilter takes the longer one of two keys", () => {
  assertEquals(filtered([`${KEY}-2 ${KEY}`], [KEY, `${KEY}-2`]), "[redacted] [redacted]");
});
