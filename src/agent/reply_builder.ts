/**
 * Gathers the pieces of a streamed reply into the blocks of a message. Knows no endpoint: any order of blocks, mixed pieces of several
 * blocks and a reply that breaks off are fine.
 */

import type { AssistantMessage, TextBlock, ThinkingBlock, ToolCall } from "./message.ts";
import type { ModelEvent } from "./model.ts";

type Block = TextBlock | ThinkingBlock | ToolCall;

export class ReplyBuilder {
  readonly #blocks: (Block | undefined)[] = [];
  /** Indexes of texts that have begun and not ended. */
  readonly #open = new Set<number>();
  /** Whether anything has come that a client could have seen. */
  begun = false;

  /** Takes the next piece. Adding to a text is linear in the length of the piece. */
  add(event: ModelEvent): void {
    this.begun = true;
    switch (event.type) {
      case "text_start":
        this.#open.add(event.index);
        this.#blocks[event.index] = { type: "text", text: "" };
        break;
      case "thinking_start":
        this.#open.add(event.index);
        this.#blocks[event.index] = { type: "thinking", thinking: "" };
        break;
      case "text_delta": {
        const block = this.#blocks[event.index];
        if (block?.type === "text") block.text += event.delta;
        break;
      }
      case "thinking_delta": {
        const block = this.#blocks[event.index];
        if (block?.type === "thinking") block.thinking += event.delta;
        break;
      }
      case "tool_input_end":
        this.#blocks[event.index] = event.call;
        break;
      case "text_end":
      case "thinking_end":
        this.#open.delete(event.index);
        break;
      case "tool_input_start":
      case "tool_input_delta":
        break;
    }
  }

  /** The ends that texts still lack, for a reply that is given up. */
  missingEnds(): ModelEvent[] {
    const ends: ModelEvent[] = [];
    for (const index of this.#open) {
      const block = this.#blocks[index];
      if (block?.type === "text") ends.push({ type: "text_end", index, text: block.text });
      if (block?.type === "thinking") {
        ends.push({ type: "thinking_end", index, text: block.thinking });
      }
    }
    return ends;
  }

  /** The blocks of a reply that came to its end. */
  complete(): AssistantMessage["content"] {
    return this.#blocks.filter((block) => block !== undefined);
  }

  /** What is kept of a reply that broke off: its text and thinking, no calls. */
  partial(): AssistantMessage["content"] {
    return this.complete().filter((block) =>
      (block.type === "text" && block.text !== "") ||
      (block.type === "thinking" && block.thinking !== "")
    );
  }
}
