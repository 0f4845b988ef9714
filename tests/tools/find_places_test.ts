import { assertEquals } from "@std/assert";
import { findPlaces } from "../../src/tools/find_places.ts";

Deno.test("findPlaces() finds what indexOf() finds", () => {
  let seed = 3;
  const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
  for (let round = 0; round < 2000; round++) {
    const letters = (length: number) =>
      Array.from({ length }, () => "ab"[random(8) === 0 ? 1 : 0]).join("");
    const text = letters(random(60));
    const wanted = letters(1 + random(6));
    const starts: number[] = [];
    let overlaps = false;
    let end = 0;
    for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) {
      if (at < end) overlaps = true;
      else {
        starts.push(at);
        end = at + wanted.length;
      }
    }
    assertEquals(findPlaces(text, wanted, 1000), { starts, overlaps });
  }
});

Deno.test("findPlaces() gives up beyond the limit", () => {
  assertEquals(findPlaces("a.a.a", "a", 3)?.starts, [0, 2, 4]);
  assertEquals(findPlaces("a.a.a", "a", 2), undefined);
});

Deno.test("findPlaces() ends for texts that repeat themselves", () => {
  const half = "a".repeat(100_000);
  assertEquals(findPlaces("a".repeat(5_000_000), `${half}b${half}`, 1), {
    starts: [],
    overlaps: false,
  });
});
