import { assertEquals, assertThrows } from "@std/assert";
import type { Conversation } from "../../src/agent/conversation.ts";
import { keepResult } from "../../src/agent/keep_result.ts";
import type { Message, ToolResultMessage } from "../../src/agent/message.ts";

const RESULT: ToolResultMessage = {
  role: "toolResult",
  toolCallId: "c",
  toolName: "ls",
  content: [{ type: "text", text: "README.md" }],
  isError: false,
  timestamp: 1,
  details: { exitCode: 0 },
};

/** A conversation whose disk is full. */
class FullConversation implements Conversation {
  readonly held: Message[] = [];
  requestMessages = () => [];
  reserveId = () => "r";
  append(): string {
    throw new Error("the disk is full");
  }
  holdBack(message: Message): string {
    this.held.push(message);
    return `h${this.held.length}`;
  }
}

Deno.test("keepResult() holds back why a result could not be kept, and keeps none after it", () => {
  const conversation = new FullConversation();
  const keeping = { conversation, unkept: undefined };
  const first = keepResult(RESULT, { begun: true, isTold: false, keeping });
  const second = keepResult(RESULT, { begun: false, isTold: false, keeping });
  const texts = [first, second].map(({ message }) => message.content);
  assertEquals(texts, [
    [{
      type: "text",
      text: "The result is lost; the call may have been carried out: the disk is full",
    }],
    [{ type: "text", text: "Not run: the disk is full" }],
  ]);
  assertEquals([first.id, first.message.isError, first.message.details], ["h1", true, undefined]);
  assertEquals(conversation.held, [first.message, second.message]);
});

Deno.test("keepResult() holds back the result itself when clients know it", () => {
  const conversation = new FullConversation();
  const keeping = { conversation, unkept: undefined };
  assertEquals(keepResult(RESULT, { begun: true, isTold: true, keeping }).message, RESULT);
  assertEquals(conversation.held, [RESULT]);
});

Deno.test("keepResult() throws where nothing can be held back", () => {
  const { append } = FullConversation.prototype;
  const conversation = { requestMessages: () => [], reserveId: () => "r", append };
  const keeping = { conversation, unkept: undefined };
  assertThrows(
    () => keepResult(RESULT, { begun: true, isTold: false, keeping }),
    Error,
    "the disk is full",
  );
});
