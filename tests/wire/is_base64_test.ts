import { assertEquals } from "@std/assert";
import { base64Bytes, isBase64 } from "../../src/wire/is_base64.ts";

Deno.test("isBase64() takes whole groups of four with their padding", () => {
  for (const text of ["AAAA", "AAA=", "AA==", "+/9z", "A".repeat(1 << 20)]) {
    assertEquals(isBase64(text), true, text.slice(0, 20));
  }
  for (
    const text of [
      "",
      "A",
      "AAA",
      "====",
      "A===",
      "AA=A",
      "!!!!",
      "AA A",
      "data:image/png;base64,AAAA",
    ]
  ) {
    assertEquals(isBase64(text), false, text);
  }
});

Deno.test("base64Bytes() counts what is behind it", () => {
  assertEquals(["AAAA", "AAA=", "AA=="].map(base64Bytes), [3, 2, 1]);
});
