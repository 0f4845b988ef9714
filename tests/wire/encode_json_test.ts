import { assertEquals } from "@std/assert";
import { encodeJson } from "../../src/wire/encode_json.ts";

Deno.test("encodeJson() writes what JSON.stringify writes", () => {
  const value = { a: [1, "x", null, { b: undefined, c: true }], d: "\ud800 \u2028 é" };
  assertEquals(encodeJson(value), JSON.stringify(value));
});

Deno.test("encodeJson() writes values that are nested too deep for the engine", () => {
  const text = '{"a":[1,'.repeat(50_000) + '"x"' + "]}".repeat(50_000);
  assertEquals(encodeJson(JSON.parse(text)), text);
});

Deno.test("encodeJson() leaves out undefined members in deep values too", () => {
  const deep = JSON.parse("[".repeat(100_000) + "]".repeat(100_000));
  assertEquals(encodeJson({ a: undefined, b: deep }).slice(0, 8), '{"b":[[[');
});
