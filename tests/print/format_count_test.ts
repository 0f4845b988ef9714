import { assertEquals } from "@std/assert";
import { formatCount } from "../../src/print/format_count.ts";

Deno.test("formatCount() shows two or three digits that count", () => {
  const shown: [number, string][] = [
    [0, "0"],
    [68, "68"],
    [999, "999"],
    [1000, "1k"],
    [1049, "1k"],
    [1050, "1.1k"],
    [2400, "2.4k"],
    [99_949, "99.9k"],
    [99_950, "100k"],
    [123_456, "123k"],
    [999_499, "999k"],
    [999_500, "1M"],
    [1_240_000, "1.2M"],
    [250_000_000, "250M"],
  ];
  assertEquals(shown.map(([count]) => formatCount(count)), shown.map(([, text]) => text));
});
