import { assertEquals } from "@std/assert";
import { CIRCLE_ONE_SHOT } from "../../../src/dialects/circle/one_shot.ts";

const { compose, exitCode } = CIRCLE_ONE_SHOT;

Deno.test("circle's compose() puts stdin before the first message that is not blank", () => {
  assertEquals(compose({ stdin: "", words: [] }), []);
  assertEquals(compose({ stdin: " \n", words: ["", " "] }), []);
  assertEquals(compose({ stdin: " in \n", words: [] }), [{ text: " in" }]);
  assertEquals(compose({ stdin: "", words: [" a ", "b"] }), [{ text: " a " }, { text: "b" }]);
  assertEquals(compose({ stdin: "in\n", words: ["", "a", "b"] }), [
    { text: "in\n\na", mentionsFrom: 4 },
    { text: "b" },
  ]);
});

Deno.test("circle's exitCode() is 0 only for a run that came to its end with an answer", () => {
  const end = { cause: "input", success: true, answered: true, signalCode: undefined } as const;
  assertEquals(exitCode(end), 0);
  assertEquals(exitCode({ ...end, success: false, answered: false }), 1);
  assertEquals(exitCode({ ...end, cause: "client_gone" }), 1);
  assertEquals(exitCode({ ...end, cause: "signal", signalCode: 130 }), 130);
});
