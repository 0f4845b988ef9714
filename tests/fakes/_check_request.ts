/**
 * What a strict OpenAI endpoint refuses in a request. It knows the two request formats and nothing
 * of replies.
 */

type Json = Record<string, unknown>;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Why the Chat Completions request is malformed; `undefined` when it is well formed. */
export function checkChatRequest(body: Json): string | undefined {
  return explain(() => {
    checkBasics(body, "messages");
    let waiting = new Set<string>();
    for (const [index, message] of (body.messages as unknown[]).entries()) {
      const at = `messages[${index}]`;
      const entry = object(message, at);
      if (entry.role === "tool") {
        checkChatResult(entry, { at, waiting });
        continue;
      }
      if (waiting.size > 0) refuse(at, `comes before the tool messages of ${list(waiting)}`);
      if (entry.role === "assistant") waiting = checkChatAssistant(entry, at);
      else if (["system", "developer", "user"].includes(String(entry.role))) {
        checkContent(entry.content, { at: `${at}.content`, parts: CHAT_PARTS[String(entry.role)] });
      } else refuse(`${at}.role`, `is ${JSON.stringify(entry.role)}`);
    }
    if (waiting.size > 0) refuse("messages", `end without the tool messages of ${list(waiting)}`);
    for (const [index, tool] of tools(body).entries()) {
      const fields = object(tool.function, `tools[${index}].function`);
      checkTool(fields, `tools[${index}].function`);
    }
  });
}

/** Why the Responses request is malformed; `undefined` when it is well formed. */
export function checkResponsesRequest(body: Json): string | undefined {
  return explain(() => {
    checkBasics(body, "input");
    for (const [index, tool] of tools(body).entries()) checkTool(tool, `tools[${index}]`);
    if (!Array.isArray(body.input)) return;
    const waiting = new Set<string>();
    let reasoningAt: string | undefined;
    for (const [index, item] of body.input.entries()) {
      const at = `input[${index}]`;
      const entry = object(item, at);
      const type = entry.type ?? "message";
      const continues = type === "function_call" || type === "reasoning" ||
        (type === "message" && entry.role === "assistant");
      if (reasoningAt && !continues) refuse(reasoningAt, "is reasoning without a following item");
      reasoningAt = type === "reasoning" ? at : undefined;
      if (type === "message") checkResponsesMessage(entry, { at, waiting });
      else if (type === "function_call") {
        checkCall(entry, { at, id: entry.call_id, waiting });
      } else if (type === "function_call_output") {
        const known = body.previous_response_id !== undefined;
        takeCall(entry.call_id, { at: `${at}.call_id`, waiting, known });
        checkContent(entry.output, { at: `${at}.output`, parts: RESPONSES_PARTS.user });
      } else if (type !== "reasoning" && type !== "item_reference") {
        refuse(`${at}.type`, `is ${JSON.stringify(type)}`);
      }
    }
    if (reasoningAt) refuse(reasoningAt, "is reasoning without a following item");
    if (waiting.size > 0) refuse("input", `ends without function_call_output of ${list(waiting)}`);
  });
}

class Refusal extends Error {}

function explain(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

function refuse(at: string, why: string): never {
  throw new Refusal(`Malformed request: ${at} ${why}`);
}

function list(ids: ReadonlySet<string>): string {
  return [...ids].map((id) => JSON.stringify(id)).join(", ");
}

function object(value: unknown, at: string): Json {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Json;
  return refuse(at, "is not an object");
}

function checkBasics(body: Json, key: "messages" | "input"): void {
  if (typeof body.model !== "string" || body.model === "") refuse("model", "is not a model id");
  const value = body[key];
  if (key === "input" && typeof value === "string") return;
  if (!Array.isArray(value) || value.length === 0) refuse(key, "is not a list with entries");
}

function tools(body: Json): Json[] {
  if (body.tools === undefined) return [];
  if (!Array.isArray(body.tools) || body.tools.length === 0) {
    refuse("tools", "is not a list with entries; leave it out instead");
  }
  return (body.tools as unknown[]).map((value, index) => {
    const tool = object(value, `tools[${index}]`);
    if (tool.type !== "function") refuse(`tools[${index}].type`, "is not function");
    return tool;
  });
}

function checkTool(fields: Json, at: string): void {
  if (!NAME.test(String(fields.name))) refuse(`${at}.name`, "is not a function name");
  if (fields.parameters !== undefined) object(fields.parameters, `${at}.parameters`);
}

function checkChatAssistant(entry: Json, at: string): Set<string> {
  const waiting = new Set<string>();
  if (entry.tool_calls !== undefined) {
    const calls = entry.tool_calls;
    if (!Array.isArray(calls) || calls.length === 0) {
      refuse(`${at}.tool_calls`, "is not a list with entries; leave it out instead");
    }
    for (const [index, value] of (calls as unknown[]).entries()) {
      const place = `${at}.tool_calls[${index}]`;
      const call = object(value, place);
      if (call.type !== "function") refuse(`${place}.type`, "is not function");
      const fields = object(call.function, `${place}.function`);
      checkCall(fields, { at: place, id: call.id, waiting });
    }
  }
  const { content } = entry;
  const empty = content === undefined || content === null || content === "" ||
    (Array.isArray(content) && content.length === 0);
  if (!empty) checkContent(content, { at: `${at}.content`, parts: CHAT_PARTS.assistant });
  else if (waiting.size === 0) refuse(at, "is an assistant message without content or tool calls");
  return waiting;
}

function checkChatResult(entry: Json, { at, waiting }: { at: string; waiting: Set<string> }): void {
  takeCall(entry.tool_call_id, { at: `${at}.tool_call_id`, waiting, known: false });
  checkContent(entry.content, { at: `${at}.content`, parts: CHAT_PARTS.tool });
}

function checkResponsesMessage(
  entry: Json,
  { at, waiting }: { at: string; waiting: ReadonlySet<string> },
): void {
  const role = String(entry.role);
  const parts = RESPONSES_PARTS[role];
  if (parts === undefined) refuse(`${at}.role`, `is ${JSON.stringify(entry.role)}`);
  // A reply may go on with text after a call; everybody else has to wait for the outputs.
  if (role !== "assistant" && waiting.size > 0) {
    refuse(at, `comes before function_call_output of ${list(waiting)}`);
  }
  const { content } = entry;
  if (role === "assistant" && (content === "" || (Array.isArray(content) && !content.length))) {
    refuse(at, "is an assistant message without content");
  }
  checkContent(content, { at: `${at}.content`, parts });
}

function checkCall(
  fields: Json,
  { at, id, waiting }: { at: string; id: unknown; waiting: Set<string> },
): void {
  if (typeof id !== "string" || id === "") return refuse(at, "has no call id");
  if (waiting.has(id)) refuse(at, `repeats the call id ${JSON.stringify(id)}`);
  waiting.add(id);
  if (typeof fields.name !== "string" || !NAME.test(fields.name)) {
    refuse(at, `calls ${JSON.stringify(fields.name)}, which is not a function name`);
  }
  if (typeof fields.arguments !== "string") {
    return refuse(at, "has arguments that are not a string");
  }
  try {
    JSON.parse(fields.arguments);
  } catch {
    refuse(at, "has arguments that are not JSON");
  }
}

function takeCall(
  id: unknown,
  { at, waiting, known }: { at: string; waiting: Set<string>; known: boolean },
): void {
  if (typeof id !== "string" || id === "") return refuse(at, "is not a call id");
  if (!waiting.delete(id) && !known) refuse(at, `${JSON.stringify(id)} has no open call`);
}

const TEXT_PARTS = { text: "text" };
const CHAT_PARTS: Record<string, Record<string, string>> = {
  system: TEXT_PARTS,
  developer: TEXT_PARTS,
  user: { text: "text", image_url: "image_url" },
  assistant: { text: "text", refusal: "refusal" },
  tool: TEXT_PARTS,
};
const INPUT_PARTS = { input_text: "text", input_image: "image_url" };
const RESPONSES_PARTS: Record<string, Record<string, string>> = {
  system: INPUT_PARTS,
  developer: INPUT_PARTS,
  user: INPUT_PARTS,
  assistant: { output_text: "text", refusal: "refusal" },
};

/** `parts` names, for each allowed part type, the key that has its value. */
function checkContent(
  content: unknown,
  { at, parts }: { at: string; parts: Record<string, string> },
): void {
  if (typeof content === "string") return;
  if (!Array.isArray(content) || content.length === 0) {
    return refuse(at, "is neither text nor a list with parts");
  }
  for (const [index, value] of content.entries()) {
    const part = object(value, `${at}[${index}]`);
    const type = String(part.type);
    if (!Object.hasOwn(parts, type)) refuse(`${at}[${index}].type`, `${type} is not allowed here`);
    const key = parts[type];
    const text = type === "image_url" ? object(part[key], `${at}[${index}].${key}`).url : part[key];
    if (typeof text !== "string") refuse(`${at}[${index}]`, `has no ${key}`);
    if (key === "image_url" && !/^(data:image\/|https?:)/.test(text as string)) {
      refuse(`${at}[${index}].${key}`, "is not a data or http URL");
    }
  }
}
