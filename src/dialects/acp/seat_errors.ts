/** Why a session cannot be opened, in the protocol's codes. */

import { SeatError } from "../../session/seats.ts";
import { AUTH_REQUIRED, INTERNAL_ERROR, NOT_FOUND, paramError, RpcError } from "./rpc.ts";

/** `undefined` for what is a fault of ours. `sessionId`: the one that was asked for. */
export function toRpcError(error: unknown, sessionId?: string): RpcError | undefined {
  if (!(error instanceof SeatError)) return undefined;
  switch (error.code) {
    case "folder":
      return paramError("cwd", "must be a folder that exists");
    case "other_folder":
      return paramError("cwd", "must be the folder of the session");
    case "unknown_session":
      return new RpcError(NOT_FOUND, error.message, { sessionId });
    case "locked": {
      const { pid } = error;
      return new RpcError(INTERNAL_ERROR, error.message, pid === undefined ? {} : { pid });
    }
    case "model":
      return new RpcError(AUTH_REQUIRED, error.message);
    case "failed":
      return new RpcError(INTERNAL_ERROR, error.message);
  }
}
