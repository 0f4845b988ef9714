/** JSON-RPC 2.0 messages, both ways, and the errors that cross the wire. Knows no method. */

/** A legal id, echoed as it came. */
export type RpcId = string | number | null;

/** A line of the client, told apart. */
export type RpcInput =
  | {
    readonly kind: "request";
    readonly id: RpcId;
    readonly method: string;
    readonly params: unknown;
  }
  | { readonly kind: "notification"; readonly method: string; readonly params: unknown }
  | {
    readonly kind: "response";
    readonly id: unknown;
    /** `undefined`: it has neither a result nor an error. */
    readonly result: unknown;
    readonly error: RpcErrorObject | undefined;
    /** Whether it has at least one of the two. */
    readonly isWhole: boolean;
  }
  | { readonly kind: "invalid"; readonly id: RpcId; readonly error: RpcError };

export interface RpcErrorObject {
  readonly code: number | undefined;
  readonly message: string;
}

/** A record that goes out. */
export type RpcOutput =
  & { readonly jsonrpc: "2.0" }
  & (
    | { readonly id: RpcId; readonly result: object }
    | { readonly id: RpcId; readonly error: object }
    | { readonly id: number; readonly method: string; readonly params: unknown }
    | { readonly method: string; readonly params: object }
  );

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
export const REQUEST_CANCELLED = -32800;
export const AUTH_REQUIRED = -32000;
export const NOT_FOUND = -32002;

/** The answer to a request that is not carried out, or failed. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: object | undefined;

  constructor(code: number, message: string, data?: object) {
    super(message);
    this.code = code;
    this.data = data;
  }

  /** As it goes out: one line, of a length that people read. */
  toJSON(): object {
    const message = this.message.replace(/\s*[\r\n]+\s*/g, " ").trim().slice(0, 4000);
    const { code, data } = this;
    return { code, message: message.toWellFormed(), ...(data === undefined ? {} : { data }) };
  }
}

/** A parameter that is missing or not what it has to be. `path` is relative to `params`; the value is not repeated. */
export function paramError(path: string, reason: string, more: object = {}): RpcError {
  const where = path === "" ? "params" : path;
  return new RpcError(INVALID_PARAMS, `Invalid params: ${where} ${reason}`, {
    path,
    reason,
    ...more,
  });
}
