import { assertEquals, assertInstanceOf } from "@std/assert";
import { decodeNimlet } from "../../../src/dialects/nimlet/decode.ts";
import { RequestError } from "../../../src/errors.ts";
import { LINE_TOO_LONG } from "../../../src/wire/line_stream.ts";

function refusal(line: string | typeof LINE_TOO_LONG): [unknown, string] {
  const request = decodeNimlet(line)!;
  assertInstanceOf(request.command, RequestError);
  return [request.id, request.command.message];
}

Deno.test("decodeNimlet() gives nothing for white space", () => {
  assertEquals([decodeNimlet(""), decodeNimlet(" \t\r")], [undefined, undefined]);
});

Deno.test("decodeNimlet() refuses a line that was too long", () => {
  assertEquals(refusal(LINE_TOO_LONG), ["", "Invalid JSON: line longer than 64 MiB"]);
});

Deno.test("decodeNimlet() checks the frame before the command", () => {
  const frame = "Command requires string id and type fields.";
  assertEquals(refusal('{"id":"a","type":7,"message":5}'), ["", frame]);
  assertEquals(refusal('{"id":null,"type":"dance"}'), ["", frame]);
  assertEquals(refusal('{"id":"","type":"toString"}'), ["", "Unknown RPC command: toString"]);
  assertEquals(refusal('{"id":"a","type":"prompt"}'), ["a", "prompt requires message."]);
});

Deno.test("decodeNimlet() keeps a message as it was sent and ignores unknown fields", () => {
  assertEquals(decodeNimlet('{"id":"a","type":"steer","message":" x\\n","more":{}}'), {
    id: "a",
    name: "steer",
    command: { type: "steer", message: " x\n" },
  });
});

Deno.test("decodeNimlet() takes any other streamingBehavior for none", () => {
  const whileBusy = (value: unknown) => {
    const line = JSON.stringify({
      id: "a",
      type: "prompt",
      message: "x",
      streamingBehavior: value,
    });
    const { command } = decodeNimlet(line)!;
    return command instanceof RequestError ? command : (command as { whileBusy: string }).whileBusy;
  };
  assertEquals(["steer", "followUp", "follow_up", null, 1, ["steer"]].map(whileBusy), [
    "steer",
    "follow_up",
    "refuse",
    "refuse",
    "refuse",
    "refuse",
  ]);
});
