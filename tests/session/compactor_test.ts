import { assertEquals } from "@std/assert";
import type { Message } from "../../src/agent/message.ts";
import { chooseCut } from "../../src/session/compactor.ts";

/** One letter a message: u user, a reply, e one without content, c reply with a call, r result; the number is its length in tokens. */
function conversation(text: string) {
  return text.split(" ").map((word, index) => {
    const text = "x".repeat(Number(word.slice(1)) * 4);
    const content = word[0] === "e" ? [] : [{ type: "text" as const, text }];
    const roles = { u: "user", a: "assistant", e: "assistant", c: "assistant", r: "toolResult" };
    const role = roles[word[0] as keyof typeof roles];
    return { id: String(index), message: { role, content } as unknown as Message };
  });
}

const CASES: [string, number, number][] = [
  // Everything fits: nothing to summarise.
  ["u1 a1 u1", 10, 0],
  // The newest part that fits, at a message of the person.
  ["u10 a10 u10 a10 u10 a10", 35, 4],
  ["u10 a10 u2 a2", 10, 2],
  // A long first message does not keep the rest from being kept.
  ["u100 c1 r1 c1 r1", 10, 1],
  // A result stays with its call.
  ["u100 a1 c5 r20", 10, 2],
  // A reply that came to nothing is no message to keep.
  ["u1 a1 u100 e0", 10, 2],
  // The last message is kept, however long it is.
  ["u1 a1 u100", 10, 2],
  ["u100", 10, 0],
];

for (const [text, kept, expected] of CASES) {
  Deno.test(`chooseCut() keeps about ${kept} tokens of ${text}`, () => {
    assertEquals(chooseCut(conversation(text), kept), expected);
  });
}
