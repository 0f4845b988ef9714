/**
 * The acp dialect, whole. A connection has several conversations and is asked as well as it asks, so it brings its own messages and its own
 * joint in the place of commands, events and the hub.
 */

import type { Dialect } from "../dialect.ts";
import type { Wire } from "../wire.ts";
import { AcpConnection, type ConnectionOptions } from "./connection.ts";
import { decodeRpc } from "./decode.ts";
import { encodeRpc } from "./encode.ts";
import { ACP_POLICY } from "./policy.ts";
import type { RpcInput, RpcOutput } from "./rpc.ts";

type Shared =
  | "policy"
  | "toolAliases"
  | "describeStartError"
  | "furtherSignals"
  | "exitCode";

export interface AcpDialect extends Pick<Dialect, Shared>, Wire<RpcInput, RpcOutput> {
  /** The caller serves it; it closes what it opened. */
  connect(options: ConnectionOptions): AcpConnection;
}

export const ACP: AcpDialect = {
  policy: ACP_POLICY,
  toolAliases: {},
  describeStartError: (error) => ({ text: `✖ ${error.message}`, exitCode: error.exitCode }),
  furtherSignals: "exit",
  exitCode: (end) => end.signalCode ?? 0,
  decode: decodeRpc,
  createEncoder: () => ({ encode: encodeRpc }),
  connect: (options) => new AcpConnection(options),
};
