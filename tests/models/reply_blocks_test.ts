import { assertEquals } from "@std/assert";
import type { ModelEvent } from "../../src/agent/model.ts";
import { ReplyBlocks } from "../../src/models/reply_blocks.ts";

const KEY = "sk-0123456789abcdef";

Deno.test("ReplyBlocks leaves keys out of arguments, wherever their text is cut", () => {
  const text = JSON.stringify({ command: `echo ${KEY} sk-01` });
  for (let cut = 0; cut <= text.length; cut++) {
    const events: ModelEvent[] = [];
    const blocks = new ReplyBlocks((event) => void events.push(event), [KEY]);
    const call = blocks.startCall("a", "bash");
    blocks.addInput(call, text.slice(0, cut));
    blocks.addInput(call, text.slice(cut));
    blocks.endCall(call);
    const deltas = events.flatMap((event) => event.type === "tool_input_delta" ? event.delta : []);
    assertEquals(deltas.join(""), '{"command":"echo [redacted] sk-01"}');
    const end = events.find((event) => event.type === "tool_input_end");
    assertEquals(end?.call.arguments, { command: "echo [redacted] sk-01" });
  }
});
