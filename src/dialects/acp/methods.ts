/** The methods of the protocol but `initialize`: their parameters, and what they do. Knows no line. */

import type { Seat } from "../../session/seat.ts";
import type { SeatKeeper, SeatListing } from "../../session/seats.ts";
import type { AcpSession, SessionLink } from "./acp_session.ts";
import { CONFIGURATION_ID } from "./describe_agent.ts";
import {
  type Json,
  readOptionalText,
  readServers,
  readText,
  refuseMoreFolders,
  type ServerParams,
} from "./read_params.ts";
import { readPrompt } from "./read_prompt.ts";
import { INVALID_REQUEST, paramError, RpcError, type RpcId } from "./rpc.ts";
import { toRpcError } from "./seat_errors.ts";

/** What methods work with. */
export interface MethodContext extends SessionLink {
  readonly keeper: SeatKeeper;
  readonly isEnding: boolean;
  /** Throws the error for a session that is not open. */
  session(id: string): AcpSession;
  findSession(id: string): AcpSession | undefined;
  addSession(session: AcpSession): void;
  removeSession(id: string): void;
}

/** A request whose parameters are right. */
export interface Work {
  /** The session that it concerns. */
  readonly sessionId?: string;
  /** Later requests for the same session wait for it. */
  readonly isLong?: boolean;
  /** Answers, or throws the error to answer with. */
  run(context: MethodContext, signal: AbortSignal): Promise<void> | void;
}

export interface Method {
  /** Unknown where sessions are not stored. */
  readonly needsStore?: boolean;
  /** Checks the parameters. Throws `RpcError`. */
  read(params: Json, id: RpcId): Work;
}

const PAGE_LENGTH = 50;

export const METHODS: Readonly<Record<string, Method>> = {
  "authenticate": {
    read: (params, id) => {
      if (readText(params, "methodId") !== CONFIGURATION_ID) {
        throw paramError("methodId", `must be ${CONFIGURATION_ID}`);
      }
      return {
        run: async (context, signal) => {
          await context.keeper.checkModel(signal);
          context.answer(id, {});
        },
      };
    },
  },
  "session/new": {
    read: (params, id) => {
      const place = readPlace(params, { serversRequired: true });
      return {
        run: async (context, signal) => {
          const session = await openSession(undefined, place, { context, signal });
          context.answer(id, { sessionId: session.id, ...session.describe() });
          session.greet();
        },
      };
    },
  },
  "session/load": {
    needsStore: true,
    read: (params, id) => readOpening(params, { id, replays: true }),
  },
  "session/resume": {
    needsStore: true,
    read: (params, id) => readOpening(params, { id, replays: false }),
  },
  "session/list": {
    needsStore: true,
    read: (params, id) => {
      const folder = readOptionalText(params, "cwd");
      if (folder !== undefined) checkAbsolute(folder);
      const cursor = readOptionalText(params, "cursor");
      const skip = cursor === undefined ? 0 : readCursor(cursor);
      return {
        run: async (context, signal) => {
          const wanted = { folder, skip, limit: PAGE_LENGTH + 1, signal };
          const found = await context.keeper.list(wanted);
          const sessions = found.slice(0, PAGE_LENGTH).map(describeListing);
          const nextCursor = createCursor(skip + PAGE_LENGTH);
          context.answer(id, { sessions, ...(found.length > PAGE_LENGTH && { nextCursor }) });
        },
      };
    },
  },
  "session/close": {
    read: (params, id) => {
      const sessionId = readText(params, "sessionId");
      return {
        sessionId,
        isLong: true,
        run: async (context) => {
          const session = context.session(sessionId);
          await session.close();
          context.removeSession(sessionId);
          context.answer(id, {});
        },
      };
    },
  },
  "session/prompt": {
    read: (params, id) => {
      const sessionId = readText(params, "sessionId");
      const prompt = readPrompt(params);
      return {
        sessionId,
        run: (context) => {
          const session = context.session(sessionId);
          if (context.isEnding) context.answer(id, { stopReason: "cancelled" });
          else session.prompt(id, prompt);
        },
      };
    },
  },
  "_weir/steer": {
    read: (params, id) => {
      const sessionId = readText(params, "sessionId");
      const prompt = readPrompt(params);
      return {
        sessionId,
        run: (context) => {
          context.session(sessionId).steer(prompt);
          context.answer(id, {});
        },
      };
    },
  },
  "session/set_mode": {
    read: (params, id) => {
      const sessionId = readText(params, "sessionId");
      const modeId = readText(params, "modeId");
      return {
        sessionId,
        run: (context) => {
          const tell = context.session(sessionId).setMode(modeId);
          context.answer(id, {});
          tell();
        },
      };
    },
  },
  "session/set_config_option": {
    read: (params, id) => {
      const sessionId = readText(params, "sessionId");
      const configId = readText(params, "configId");
      const { value } = params;
      return {
        sessionId,
        isLong: true,
        run: async (context) => {
          const change = { configId, value };
          const { configOptions, after } = await context.session(sessionId).setOption(change);
          context.answer(id, { configOptions });
          after();
        },
      };
    },
  },
};

/** Where a session is to be opened. */
interface Place {
  readonly folder: string;
  readonly servers: Readonly<Record<string, ServerParams>>;
}

function readPlace(params: Json, options: { serversRequired: boolean }): Place {
  const folder = readText(params, "cwd");
  checkAbsolute(folder);
  refuseMoreFolders(params);
  return { folder, servers: readServers(params, { required: options.serversRequired }) };
}

/** Drive and UNC paths count wherever we run: whether the folder exists is seen when it is opened. */
function checkAbsolute(path: string): void {
  if (!/^(?:\/|[A-Za-z]:[\\/]|\\\\)/.test(path)) {
    throw paramError("cwd", "must be an absolute path");
  }
}

function readOpening(params: Json, { id, replays }: { id: RpcId; replays: boolean }): Work {
  const sessionId = readText(params, "sessionId");
  const place = readPlace(params, { serversRequired: replays });
  return {
    sessionId,
    isLong: true,
    run: async (context, signal) => {
      const session = await findOrOpen(sessionId, place, { context, signal });
      if (replays) await session.replay(signal);
      context.answer(id, session.describe());
      session.greet();
      session.tellLastUsage();
    },
  };
}

async function findOrOpen(
  sessionId: string,
  place: Place,
  { context, signal }: { context: MethodContext; signal: AbortSignal },
): Promise<AcpSession> {
  const open = context.findSession(sessionId);
  if (open === undefined) return await openSession(sessionId, place, { context, signal });
  if (!await context.keeper.isSameFolder(place.folder, open.seat.folder)) {
    throw paramError("cwd", "must be the folder of the session");
  }
  if (open.isBusy) throw new RpcError(INVALID_REQUEST, "A turn of this session is running");
  return open;
}

async function openSession(
  sessionId: string | undefined,
  place: Place,
  { context, signal }: { context: MethodContext; signal: AbortSignal },
): Promise<AcpSession> {
  const { AcpSession } = await import("./acp_session.ts");
  const session = new AcpSession({ link: context, folder: place.folder });
  let seat: Seat;
  try {
    seat = await context.keeper.open({
      sessionId,
      folder: place.folder,
      servers: place.servers,
      client: session.client,
      signal,
      onEvent: (event) => session.takeEvent(event),
      onJobEnd: (job) => session.takeJobEnd(job),
      onWarning: (text) => session.takeWarning(text),
    });
  } catch (error) {
    throw toRpcError(error, sessionId) ?? error;
  }
  session.attach(seat);
  context.addSession(session);
  return session;
}

function describeListing({ sessionId, folder, modifiedMs, title }: SeatListing) {
  return {
    sessionId,
    cwd: folder,
    updatedAt: new Date(modifiedMs).toISOString(),
    ...(title === "" ? {} : { title }),
  };
}

const CURSOR = /^weir-([0-9]{1,9})$/;

function createCursor(skip: number): string {
  return btoa(`weir-${skip}`);
}

function readCursor(cursor: string): number {
  let text = "";
  try {
    text = atob(cursor);
  } catch {
    // Judged below.
  }
  const skip = CURSOR.exec(text)?.[1];
  if (skip === undefined) throw paramError("cursor", "must be one that session/list gave");
  return Number(skip);
}
