/**
 * A scripted reply in the words of the Responses API, streamed or whole. It knows nothing of HTTP,
 * of timing or of Chat Completions.
 */

import {
  orderFragments,
  prepareCalls,
  type PreparedCall,
  type Reply,
  type ReplyContext,
  type ReplyFrame,
  type ReplyUsage,
  replyUsage,
  textPieces,
  wholeText,
} from "./reply.ts";

/** The events of a streamed answer, generated as they are taken. */
export function* responsesFrames(reply: Reply, context: ReplyContext): Generator<ReplyFrame> {
  let sequence = 0;
  const frame = (type: string, fields: object, piece = false): ReplyFrame => ({
    event: type,
    data: { type, sequence_number: sequence++, ...fields },
    piece,
  });
  const output: object[] = [];
  const response = (fields: object) => responseObject(reply, context, { output: [], ...fields });

  yield frame("response.created", { response: response({ status: "in_progress" }) });
  yield frame("response.in_progress", { response: response({ status: "in_progress" }) });
  if (reply.thinking !== undefined) yield* thinkingFrames(reply, { context, frame, output });
  if (reply.text !== undefined) yield* textFrames(reply, { context, frame, output });
  yield* callFrames(reply, { context, frame, output });

  if (reply.errorInStream && reply.errorEvent === "response.failed") {
    const failed = response({ status: "failed", error: reply.errorInStream, output });
    yield frame("response.failed", { response: failed });
    return;
  }
  if (reply.errorInStream) {
    const fields = { code: null, message: "", param: null, ...reply.errorInStream };
    // An endpoint's error has a `type` of its own; in this API that key is the event's name.
    yield frame("error", { ...fields, type: "error" });
    return;
  }
  if (reply.noFinish) return;
  const end = endFields(reply);
  for (let n = 0; n < (reply.finishTwice ? 2 : 1); n++) {
    const whole = response({ ...end, output, usage: responsesUsage(replyUsage(reply)) });
    yield frame(`response.${end.status}`, { response: whole });
  }
}

/** The answer to a request without `stream: true`. */
export function responsesResponse(reply: Reply, context: ReplyContext): object {
  if (reply.errorInStream) {
    return responseObject(reply, context, { status: "failed", error: reply.errorInStream });
  }
  const output = [
    ...(reply.thinking === undefined ? [] : [reasoningItem(reply, context)]),
    ...(reply.text === undefined ? [] : [messageItem(reply, context)]),
    ...prepareCalls(reply, context).map((call, index) => callItem(call, { context, index })),
  ];
  const usage = responsesUsage(replyUsage(reply));
  return responseObject(reply, context, { ...endFields(reply), output, usage });
}

interface Stream {
  context: ReplyContext;
  frame(type: string, fields: object, piece?: boolean): ReplyFrame;
  /** Finished items; the length is the next `output_index`. */
  output: object[];
}

function* thinkingFrames(reply: Reply, stream: Stream): Generator<ReplyFrame> {
  const { frame, output } = stream;
  const done = reasoningItem(reply, stream.context);
  const at = { item_id: done.id, output_index: output.length, summary_index: 0 };
  const item = { ...done, summary: [] };
  yield frame("response.output_item.added", { output_index: output.length, item });
  const part = { type: "summary_text", text: "" };
  yield frame("response.reasoning_summary_part.added", { ...at, part });
  for (const delta of textPieces(reply.thinking)) {
    yield frame("response.reasoning_summary_text.delta", { ...at, delta }, true);
  }
  const text = wholeText(reply.thinking);
  yield frame("response.reasoning_summary_text.done", { ...at, text });
  yield frame("response.reasoning_summary_part.done", { ...at, part: done.summary[0] });
  yield frame("response.output_item.done", { output_index: output.length, item: done });
  output.push(done);
}

function* textFrames(reply: Reply, stream: Stream): Generator<ReplyFrame> {
  const { frame, output } = stream;
  const done = messageItem(reply, stream.context);
  const at = { item_id: done.id, output_index: output.length, content_index: 0 };
  const item = { ...done, status: "in_progress", content: [] };
  yield frame("response.output_item.added", { output_index: output.length, item });
  const part = { type: "output_text", text: "", annotations: [] };
  yield frame("response.content_part.added", { ...at, part });
  for (const delta of textPieces(reply.text, reply.pieces)) {
    yield frame("response.output_text.delta", { ...at, delta, logprobs: [] }, true);
  }
  const text = wholeText(reply.text, reply.pieces);
  yield frame("response.output_text.done", { ...at, text, logprobs: [] });
  yield frame("response.content_part.done", { ...at, part: done.content[0] });
  yield frame("response.output_item.done", { output_index: output.length, item: done });
  output.push(done);
}

function* callFrames(reply: Reply, stream: Stream): Generator<ReplyFrame> {
  const { frame, output } = stream;
  const first = output.length;
  const calls = prepareCalls(reply, stream.context);
  const items = calls.map((call, index) => callItem(call, { context: stream.context, index }));
  const sent = calls.map(() => 0);
  for (const [index, delta] of orderFragments(calls, reply.toolFragmentsInterleaved ?? false)) {
    const at = { item_id: items[index].id, output_index: first + index };
    if (sent[index] === 0) {
      const item = { ...items[index], status: "in_progress", arguments: "" };
      yield frame("response.output_item.added", { output_index: first + index, item });
    }
    yield frame("response.function_call_arguments.delta", { ...at, delta }, true);
    if (++sent[index] < calls[index].fragments.length) continue;
    const { name, args } = calls[index];
    yield frame("response.function_call_arguments.done", { ...at, name, arguments: args });
    const item = items[index];
    yield frame("response.output_item.done", { output_index: first + index, item });
  }
  output.push(...items);
}

function reasoningItem(reply: Reply, context: ReplyContext) {
  const summary = [{ type: "summary_text", text: wholeText(reply.thinking) }];
  return { id: `rs_${context.serial}`, type: "reasoning", summary, encrypted_content: "opaque" };
}

function messageItem(reply: Reply, context: ReplyContext) {
  const text = wholeText(reply.text, reply.pieces);
  return {
    id: `msg_${context.serial}`,
    type: "message",
    status: endFields(reply).status,
    role: "assistant",
    content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
  };
}

function callItem(call: PreparedCall, place: { context: ReplyContext; index: number }) {
  return {
    id: `fc_${place.context.serial}_${place.index}`,
    type: "function_call",
    status: "completed",
    call_id: call.id,
    name: call.name,
    arguments: call.args,
  };
}

function responseObject(reply: Reply, context: ReplyContext, fields: object): object {
  return {
    id: `resp_${context.serial}`,
    object: "response",
    created_at: 1_700_000_000,
    error: null,
    incomplete_details: null,
    model: reply.model ?? context.model,
    parallel_tool_calls: true,
    usage: null,
    ...fields,
  };
}

function endFields(reply: Reply): { status: string; incomplete_details: object | null } {
  const reasons: Record<string, string> = {
    length: "max_output_tokens",
    content_filter: "content_filter",
  };
  const reason = reasons[reply.finish ?? ""];
  if (reason === undefined) return { status: "completed", incomplete_details: null };
  return { status: "incomplete", incomplete_details: { reason } };
}

function responsesUsage(usage: ReplyUsage | null): object | null {
  return usage && {
    input_tokens: usage.input,
    input_tokens_details: {
      cached_tokens: usage.cacheRead ?? 0,
      ...(usage.cacheWrite !== undefined && { cache_write_tokens: usage.cacheWrite }),
    },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
    total_tokens: usage.input + usage.output,
  };
}
