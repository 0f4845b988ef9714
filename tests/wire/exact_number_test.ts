import { assertEquals } from "@std/assert";
import { encodeJson } from "../../src/wire/encode_json.ts";
import { keepNumber } from "../../src/wire/exact_number.ts";

function echo(id: string): string {
  const line = `{"id":${id},"x":{"id":1}}`;
  return encodeJson(keepNumber(line, "id", JSON.parse(line).id));
}

Deno.test("keepNumber() keeps what is written where a number would lose it", () => {
  for (const id of ["7", '"x"', "null", "[1]", "-0", "1.50", "1e400", "9".repeat(400)]) {
    assertEquals(echo(id), id);
  }
});

Deno.test("keepNumber() gives the number as it is where the line is nested too deep to look at its text", () => {
  const deep = "[".repeat(50_000) + "]".repeat(50_000);
  assertEquals(keepNumber(`{"id":-1e999,"x":${deep}}`, "id", -Infinity), -Infinity);
});
