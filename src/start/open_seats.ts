/**
 * Opens the conversations of a connection that has several: for each a folder, its trust, the configuration, the model, the servers and the
 * stored session. Reads no input.
 */

import type { ThinkingLevel } from "../agent/model.ts";
import { THINKING_LEVELS } from "../agent/model.ts";
import { type Config, findHome, readConfig } from "../config/config.ts";
import { errorText, HostError, RequestError, StartError } from "../errors.ts";
import type { Host } from "../host.ts";
import { findSessionById, isOfWorkspace, type SessionStore } from "../session/find_session.ts";
import { listSessions } from "../session/list_sessions.ts";
import { openConversation } from "../session/open_session.ts";
import { openSessionFile } from "../session/open_session_file.ts";
import { Seat } from "../session/seat.ts";
import { SeatError, type SeatKeeper, type SeatListing, type SeatWish } from "../session/seats.ts";
import type { OpenedSession, Settings } from "../session/settings.ts";
import { openModel } from "./open_model.ts";
import {
  createSettings,
  decideTrust,
  isLack,
  resolveFolder,
  type StartOptions,
  tryToResolve,
} from "./start_agent.ts";
import { startExtensions } from "./start_extensions.ts";

/** What a server of a conversation may take until it has told its tools. */
const SERVER_TIMEOUT_MS = 10_000;

type SeatStart = Omit<StartOptions, "signal">;

/** A keeper for the program's options. Opens and reads nothing by itself. */
export function createSeatKeeper(start: SeatStart): SeatKeeper {
  return new Keeper(start);
}

class Keeper implements SeatKeeper {
  readonly #start: SeatStart;
  readonly #home: string;
  readonly isStored: boolean;

  constructor(start: SeatStart) {
    this.#start = start;
    this.#home = findHome(start.host, { currentFolder: start.currentFolder });
    this.isStored = !start.commandLine.options.noSession;
  }

  async open(wish: SeatWish): Promise<Seat> {
    try {
      return await this.#open(wish);
    } catch (error) {
      wish.signal.throwIfAborted();
      throw toSeatError(error);
    }
  }

  async list(
    { folder, skip, limit, signal }: {
      folder: string | undefined;
      skip: number;
      limit: number;
      signal: AbortSignal;
    },
  ): Promise<readonly SeatListing[]> {
    const { host } = this.#start;
    const store = this.#store(folder ?? this.#home);
    const found = await listSessions(host, store, {
      signal,
      skip,
      limit,
      everywhere: folder === undefined,
    });
    return found.map(({ header, modifiedMs, name, firstPrompt }) => ({
      sessionId: header.id,
      folder: header.cwd,
      modifiedMs,
      title: titleOf(name, firstPrompt),
    }));
  }

  async checkModel(signal: AbortSignal): Promise<void> {
    const start = { ...this.#start, signal };
    const { currentFolder, host } = start;
    try {
      const options = { home: this.#home, workspace: currentFolder, trusted: false, signal };
      const choice = tryToResolve(await readConfig(host, options), start);
      if (choice instanceof StartError) throw choice;
    } catch (error) {
      signal.throwIfAborted();
      throw toSeatError(error);
    }
  }

  async isSameFolder(one: string, other: string): Promise<boolean> {
    if (one === other) return true;
    const { files } = this.#start.host;
    try {
      return await files.realPath(one) === await files.realPath(other);
    } catch {
      return false;
    }
  }

  #store(workspace: string): SessionStore {
    const { commandLine: { options }, currentFolder, host } = this.#start;
    const sessionDir = options.sessionDir === undefined
      ? {}
      : { sessionDir: host.paths.resolve(currentFolder, options.sessionDir) };
    return { home: this.#home, workspace, ...sessionDir };
  }

  async #open(wish: SeatWish): Promise<Seat> {
    const { signal } = wish;
    const told: Host = {
      ...this.#start.host,
      warn: (line) => {
        this.#start.host.warn(line);
        wish.onWarning(line);
      },
    };
    const start: StartOptions = { ...this.#start, host: told, signal };
    const workspace = await resolveFolder(told, wish.folder);
    const home = this.#home;
    const trusted = await decideTrust(start, { home, workspace });
    const config = await readConfig(told, { home, workspace, trusted, signal });
    const choice = tryToResolve(config, start);
    if (choice instanceof StartError && (wish.sessionId === undefined || !isLack(choice))) {
      throw choice;
    }
    await using held = new AsyncDisposableStack();
    const { settings, store } = await createSettings(start, { home, workspace, config, choice });
    const opened = await this.#openSession(wish, { store, start });
    held.use(opened.journal);
    const servers = { ...config.mcp.servers, ...wish.servers };
    const more = await startExtensions({
      host: told,
      config,
      home,
      workspace,
      trusted,
      secretVariables: settings.secretVariables,
      signal,
      servers,
      serverTimeoutMs: SERVER_TIMEOUT_MS,
      modules: start.commandLine.options.extensions,
    });
    // Somebody may have closed the connection meanwhile.
    if (signal.aborted) {
      await more.stopServers();
      throw signal.reason;
    }
    held.move();
    const whole: Settings = {
      ...settings,
      ...more,
      // From here on warnings are no matter of the opening.
      host: this.#start.host,
      client: wish.client,
      maxTurnRequests: config.acp.maxTurnRequests,
    };
    const seat = new Seat({
      settings: whole,
      opened,
      wish,
      serverNames: Object.keys(servers),
      modelNames: modelNames(config),
      approvalTimeoutMs: config.acp.approvalTimeoutSeconds === 0
        ? undefined
        : config.acp.approvalTimeoutSeconds * 1000,
      requireModel: (settings) => this.#requireModel(settings),
    });
    if (wish.sessionId !== undefined) await restoreSetting(seat, { host: told, config });
    return seat;
  }

  async #openSession(
    wish: SeatWish,
    { store, start }: { store: SessionStore; start: StartOptions },
  ): Promise<OpenedSession> {
    const { host, signal } = start;
    const { sessionId } = wish;
    if (sessionId === undefined) {
      const kind = this.isStored ? "new" : "memory";
      return await openConversation(host, { ...store, choice: { kind }, signal });
    }
    const found = await findSessionById(host, store, { id: sessionId, signal });
    if (found === undefined) {
      throw new SeatError("unknown_session", `There is no session ${sessionId}`);
    }
    if (!await isOfWorkspace(host, store, found)) {
      throw new SeatError("other_folder", `the session belongs to another folder`);
    }
    return await openSessionFile(host, found.path, { workspace: store.workspace, signal });
  }

  async #requireModel(settings: Settings): Promise<void> {
    if (settings.model.id !== "") return;
    const signal = new AbortController().signal;
    const start = { ...this.#start, signal };
    const { workspace } = settings;
    const config = await readConfig(start.host, {
      home: this.#home,
      workspace,
      trusted: false,
      signal,
    }).catch((error) => {
      throw toSeatError(error);
    });
    const choice = tryToResolve(config, start);
    if (choice instanceof StartError) throw toSeatError(choice);
    settings.model = openModel(choice);
  }
}

/** Model and thinking level as the session last had them; a model that is gone is replaced and told. */
async function restoreSetting(
  { session, settings }: Seat,
  { host, config }: { host: Host; config: Config },
): Promise<void> {
  const { model, thinkingLevel } = session.transcript.recordedSetting;
  const known = THINKING_LEVELS.find((level): level is ThinkingLevel => level === thinkingLevel);
  // What was never set is stored like "off".
  if (known !== undefined && known !== "off") settings.thinkingLevel = known;
  if (model === "" || model === `${settings.model.provider}/${settings.model.id}`) return;
  try {
    const found = await settings.resolveModel(model, settings.model);
    if (`${found.provider}/${found.id}` === model && isListed(config, found)) {
      settings.model = found;
      return;
    }
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
  }
  if (settings.model.id === "") return;
  const { provider, id } = settings.model;
  host.warn(`weir: the session's model ${model} is gone; ${provider}/${id} is used instead`);
}

/** Where a provider lists models, others are gone. */
function isListed(config: Config, { provider, id }: { provider: string; id: string }): boolean {
  const models = config.providers[provider]?.models ?? {};
  return Object.keys(models).length === 0 || Object.hasOwn(models, id);
}

function modelNames(config: Config): string[] {
  return Object.entries(config.providers).flatMap(([provider, { models }]) =>
    Object.keys(models).map((id) => `${provider}/${id}`)
  );
}

function titleOf(name: string, firstPrompt: string): string {
  if (name !== "") return name;
  const line = firstPrompt.split("\n").find((candidate) => candidate.trim() !== "") ?? "";
  return [...line.trim()].slice(0, 100).join("");
}

function toSeatError(error: unknown): unknown {
  if (error instanceof SeatError) return error;
  if (error instanceof HostError) return new SeatError("failed", error.message, { cause: error });
  if (!(error instanceof StartError)) return error;
  const { cause, kind } = error;
  if (kind === "folder") return new SeatError("folder", error.message, { cause: error });
  if (isLack(error)) return new SeatError("model", missingText(error), { cause: error });
  if (cause instanceof HostError && cause.code === "locked") {
    const pid = cause.pid === undefined ? {} : { pid: cause.pid };
    return new SeatError("locked", error.message, { cause: error, ...pid });
  }
  return new SeatError("failed", errorText(error), { cause: error });
}

function missingText({ facts }: StartError): string {
  return facts?.about === "key"
    ? `The model has no API key: set ${facts.variable} in the environment, or run weir setup`
    : "No model is set up: set OPENAI_API_KEY in the environment, or run weir setup";
}
