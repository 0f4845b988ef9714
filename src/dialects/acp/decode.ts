/** From a line to a JSON-RPC message, or why it is none. Knows no method. */

import { type Line, LINE_TOO_LONG } from "../../wire/line_stream.ts";
import { INVALID_REQUEST, PARSE_ERROR, RpcError, type RpcId, type RpcInput } from "./rpc.ts";

/** The message on a line; `undefined` for a line of blanks. Never throws. */
export function decodeRpc(line: Line): RpcInput | undefined {
  if (line === LINE_TOO_LONG) return invalid(null, PARSE_ERROR, "The line is longer than 64 MiB");
  if (line.trim() === "") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return invalid(null, PARSE_ERROR, "The line is not JSON");
  }
  if (Array.isArray(value)) {
    return invalid(null, INVALID_REQUEST, "Batches are not supported: send one object per line");
  }
  if (typeof value !== "object" || value === null) {
    return invalid(null, INVALID_REQUEST, "Expected a JSON-RPC object");
  }
  return readMessage(value as Record<string, unknown>);
}

function readMessage(record: Record<string, unknown>): RpcInput {
  const has = (key: string) => Object.hasOwn(record, key);
  const id = has("id") ? legalId(record.id) : undefined;
  const refuse = (message: string) => invalid(id ?? null, INVALID_REQUEST, message);
  if (record.jsonrpc !== "2.0") return refuse('Expected "jsonrpc": "2.0"');
  const isAnswer = has("result") || has("error");
  if (!has("method")) {
    if (!has("id")) return refuse("Expected a method");
    const error = has("error") ? readError(record.error) : undefined;
    return {
      kind: "response",
      id: record.id,
      result: record.result,
      error: has("result") && has("error")
        ? { code: undefined, message: "the answer has both a result and an error" }
        : error,
      isWhole: isAnswer,
    };
  }
  const { method, params } = record;
  if (typeof method !== "string") return refuse("method must be a string");
  if (isAnswer) return refuse("A message cannot have both a method and a result or an error");
  if (!has("id")) return { kind: "notification", method, params };
  if (id === undefined) {
    return refuse("id must be a string, null, or a number that can be repeated exactly");
  }
  return { kind: "request", id, method, params };
}

/** `undefined` for an id that cannot be echoed. */
function legalId(id: unknown): RpcId | undefined {
  if (typeof id === "string" || id === null) return id;
  if (typeof id !== "number" || !Number.isFinite(id)) return undefined;
  return !Number.isInteger(id) || Number.isSafeInteger(id) ? id : undefined;
}

function readError(value: unknown): { code: number | undefined; message: string } {
  const { code, message } = (typeof value === "object" && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  return {
    code: typeof code === "number" ? code : undefined,
    message: typeof message === "string" ? message : "the client answered with an error",
  };
}

function invalid(id: RpcId, code: number, message: string): RpcInput {
  return { kind: "invalid", id, error: new RpcError(code, message) };
}
