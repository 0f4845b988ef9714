/** From JSON-RPC messages to lines. Knows no method. */

import { encodeJson } from "../../wire/encode_json.ts";
import type { RpcOutput } from "./rpc.ts";

/** One line with its LF. Characters that careless readers take for line ends are escaped. Never throws. */
export function encodeRpc(message: RpcOutput): string {
  const text = encodeJson(message);
  return (LINE_ENDS.test(text) ? text.replace(ALL_LINE_ENDS, escapeCharacter) : text) + "\n";
}

const LINE_ENDS = /[\u2028\u2029\u0085]/;
const ALL_LINE_ENDS = /[\u2028\u2029\u0085]/g;

function escapeCharacter(character: string): string {
  return "\\u" + character.charCodeAt(0).toString(16).padStart(4, "0");
}

/** About how many bytes a message has on the wire. */
export function weighRpc(value: unknown): number {
  if (typeof value === "string") return value.length + 8;
  if (typeof value !== "object" || value === null) return 8;
  let weight = 8;
  for (const part of Object.values(value)) weight += weighRpc(part) + 16;
  return weight;
}
