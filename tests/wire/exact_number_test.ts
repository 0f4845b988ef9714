import { assertEquals } from "@std/assert";
import { encodeJson } from "../../src/wire/encode_json.ts";
import { keepNumbers } from "../../src/wire/exact_number.ts";

function echo(id: string): string {
  const line = `{"id":${id},"x":{"id":1}}`;
  return encodeJson(keepNumbers(line, "id", JSON.parse(line).id));
}

Deno.test("keepNumbers() keeps what is written where a number would lose it", () => {
  for (
    const id of ["7", '"x"', "null", "[1]", "-0", "1.50", "0", "1e-400", "1e400", "9".repeat(400)]
  ) {
    assertEquals(echo(id), id);
  }
});

Deno.test("keepNumbers() gives the number as it is where the line is nested too deep to look at its text", () => {
  const deep = "[".repeat(50_000) + "]".repeat(50_000);
  assertEquals(keepNumbers(`{"id":-1e999,"x":${deep}}`, "id", -Infinity), -Infinity);
});

Deno.test("keepNumbers() keeps numbers at any depth of the value", () => {
  for (const id of ['{"a":[1e400,{"b":12345678901234567890}],"__proto__":-0}', "[[]]", "{}"]) {
    assertEquals(echo(id), id);
  }
});

Deno.test("keepNumbers() takes the last of several members of the name, and no inner one", () => {
  const line = '{"id":1,"x":{"id":3.0},"id":2.0}';
  assertEquals(encodeJson(keepNumbers(line, "id", { id: 2 })), "2.0");
});

Deno.test("encodeJson() writes numbers as they were written also beside what is deep", () => {
  const deep = JSON.parse("[".repeat(50_000) + "]".repeat(50_000));
  const text = encodeJson([keepNumbers('{"id":1e400}', "id", Infinity), deep]);
  assertEquals(text, `[1e400,${"[".repeat(50_000)}${"]".repeat(50_000)}]`);
});
