/**
 * A scripted reply in the words of Chat Completions, streamed or whole. It knows nothing of HTTP,
 * of timing or of the Responses API.
 */

import {
  orderFragments,
  prepareCalls,
  type Reply,
  type ReplyContext,
  type ReplyFrame,
  type ReplyUsage,
  replyUsage,
  textPieces,
  wholeText,
} from "./reply.ts";

/** The chunks of a streamed answer, generated as they are taken, with `[DONE]` at the end. */
export function* chatFrames(reply: Reply, context: ReplyContext): Generator<ReplyFrame> {
  const head = {
    id: `chatcmpl-${context.serial}`,
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: reply.model ?? context.model,
  };
  const noText = reply.nullContent ? { content: null } : {};
  const chunk = (delta: object, finish: string | null = null, more: object = {}) => ({
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish, ...more }],
  });

  if (reply.emptyChoicesFirst) {
    yield { data: { ...head, choices: [], prompt_filter_results: [] }, piece: false };
  }
  const role = { role: "assistant", content: reply.nullContent ? null : "" };
  yield { data: chunk(role), piece: false };

  const thinkingField = reply.thinkingField ?? "reasoning_content";
  for (const thinking of textPieces(reply.thinking)) {
    yield { data: chunk({ ...noText, [thinkingField]: thinking }), piece: true };
  }
  yield* textFrames(reply, (content) => chunk({ content }));

  const calls = prepareCalls(reply, context);
  const begun = new Set<number>();
  for (const [index, fragment] of orderFragments(calls, reply.toolFragmentsInterleaved ?? false)) {
    const call = calls[index];
    if (!begun.has(index)) {
      begun.add(index);
      const first = { name: call.name, arguments: "" };
      const toolCall = { index, id: call.id, type: "function", function: first };
      yield { data: chunk({ ...noText, tool_calls: [toolCall] }), piece: false };
    }
    const id = reply.toolIdRepeated ? { id: call.id } : {};
    const toolCall = { index, ...id, function: { arguments: fragment } };
    yield { data: chunk({ ...noText, tool_calls: [toolCall] }), piece: true };
  }

  if (reply.errorInStream) {
    yield { data: { error: reply.errorInStream }, piece: false };
    return;
  }
  if (reply.noFinish) return;

  const finish = finishReason(reply);
  const usage = replyUsage(reply);
  const inChoice = usage && reply.usageIn === "last-choice" ? { usage: chatUsage(usage) } : {};
  for (let n = 0; n < (reply.finishTwice ? 2 : 1); n++) {
    yield { data: { ...chunk({ ...noText }, finish, inChoice), ...inChoice }, piece: false };
  }
  const wanted = context.includeUsage || reply.usageIn === "last-chunk-without-choices";
  if (usage && wanted && reply.usageIn !== "last-choice") {
    yield { data: { ...head, choices: [], usage: chatUsage(usage) }, piece: false };
  }
  yield { data: "[DONE]", piece: false };
}

/** The answer to a request without `stream: true`. */
export function chatCompletion(reply: Reply, context: ReplyContext): object {
  if (reply.errorInStream) return { error: reply.errorInStream };
  const calls = prepareCalls(reply, context).map((call) => ({
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: call.args },
  }));
  const thinking = wholeText(reply.thinking);
  const usage = replyUsage(reply);
  const message = {
    role: "assistant",
    content: wholeText(reply.text, reply.pieces) || null,
    refusal: null,
    ...(thinking && { [reply.thinkingField ?? "reasoning_content"]: thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return {
    id: `chatcmpl-${context.serial}`,
    object: "chat.completion",
    created: 1_700_000_000,
    model: reply.model ?? context.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(reply) }],
    ...(usage && { usage: chatUsage(usage) }),
  };
}

function* textFrames(reply: Reply, chunk: (content: string) => object): Generator<ReplyFrame> {
  if (typeof reply.text === "string") {
    // One frame object for all repetitions: its bytes are then made only once.
    const frame = { data: chunk(reply.text), piece: true };
    for (let n = 0; n < (reply.pieces ?? 1); n++) yield frame;
    return;
  }
  for (const text of reply.text ?? []) yield { data: chunk(text), piece: true };
}

function finishReason(reply: Reply): string | null {
  if (reply.finish !== undefined) return reply.finish;
  return reply.toolCalls?.length ? "tool_calls" : "stop";
}

function chatUsage(usage: ReplyUsage): object {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    ...(usage.cacheRead !== null && {
      prompt_tokens_details: {
        cached_tokens: usage.cacheRead ?? 0,
        // OpenAI has no such field; OpenRouter reports cache writes under this name.
        ...(usage.cacheWrite !== undefined && { cache_write_tokens: usage.cacheWrite }),
      },
    }),
    completion_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
  };
}
