/** What each command does. Refusals are thrown as `RequestError`; a dialect has its own texts for some of their codes. */

import { THINKING_LEVELS } from "../agent/model.ts";
import { RequestError } from "../errors.ts";
import type { Command, CommandResult } from "./command.ts";
import { hashImages, imagesWithoutHash } from "./hash_images.ts";
import type { Hub } from "./hub.ts";
import type { QueueName, WaitingMessage } from "./message_queue.ts";

export interface HandledCommand {
  readonly result: CommandResult;
  /** Called when the response is written: what the command causes. Resolves when the next command may be handled. */
  readonly after?: () => Promise<void> | undefined;
}

interface CommandContext {
  readonly hub: Hub;
  /** The id of the command, as the client gave it. */
  readonly requestId: unknown;
}

/** Carries out a command, at once where nothing has to be waited for. Throws `RequestError` when it is refused. */
export function handleCommand(
  command: Command,
  context: CommandContext,
): HandledCommand | Promise<HandledCommand> {
  const { hub } = context;
  const { session } = hub;
  switch (command.type) {
    case "prompt":
      return handlePrompt(command, context);
    case "steer":
    case "follow_up":
      return handleQueued(command, context);
    case "abort":
      return handleAbort(hub);
    case "interrupt": {
      const wasBusy = session.busy;
      if (wasBusy) session.abort();
      return { result: { type: "interrupt", value: { wasBusy } } };
    }
    case "shutdown": {
      const wasBusy = session.busy;
      session.clearQueues();
      return { result: { type: "shutdown", value: { wasBusy } }, after: () => stopHub(hub) };
    }
    case "clear_queue":
      return { result: { type: "clear_queue", value: session.clearQueues() } };
    case "new_session":
      return handleNewSession(hub);
    case "answer_request":
      hub.questions?.answer(command.id, command.answer);
      return { result: { type: "answer_request", value: undefined } };
    case "compact":
      return handleCompact(command.instructions, hub);
    case "cancel_retry":
      session.cancelRetry();
      return { result: { type: "cancel_retry", value: undefined } };
    case "get_state":
      return { result: { type: "get_state", value: readState(hub) } };
    case "get_messages":
      return handleGetMessages(hub);
    case "get_last_answer":
      return { result: { type: "get_last_answer", value: { text: session.lastAnswer } } };
    case "get_stats":
      return { result: { type: "get_stats", value: session.transcript.stats() } };
    case "set_name":
      return handleSetName(command.name, hub);
    case "list_models":
      return handleListModels(hub);
    case "set_model":
      return handleSetModel(command.model, hub);
    case "set_thinking":
      return handleSetThinking(command.level, hub);
    case "set_delivery_mode":
      return handleSetDeliveryMode(command, hub);
    case "set_detail":
      return { result: { type: "set_detail", value: { detail: command.detail } } };
    case "list_jobs":
      return { result: { type: "list_jobs", value: { jobs: hub.jobs.list() } } };
    case "stop_job":
      return handleStopJob(command.jobId, hub);
    case "move_to_background":
      return handleMoveToBackground(hub);
    case "export_html":
      return handleExport(command.outputPath, hub);
    default:
      return import("./handle_session_commands.ts").then(({ handleSessionCommand }) =>
        handleSessionCommand(command, context)
      );
  }
}

async function handleCompact(
  instructions: string | undefined,
  { session, settings }: Hub,
): Promise<HandledCommand> {
  if (settings.model.id === "") throw new RequestError("no_model", "No model selected");
  return { result: { type: "compact", value: await session.compactForClient(instructions) } };
}

function stopHub(hub: Hub): undefined {
  hub.stop("shutdown");
}

function handleGetMessages({ session }: Hub): HandledCommand | Promise<HandledCommand> {
  const { messages } = session.transcript;
  const handled: HandledCommand = { result: { type: "get_messages", value: { messages } } };
  const images = imagesWithoutHash(messages);
  return images.length === 0 ? handled : hashImages(images).then(() => handled);
}

async function handleStopJob(id: string, { jobs }: Hub): Promise<HandledCommand> {
  return { result: { type: "stop_job", value: { job: await jobs.stop(id, "user") } } };
}

async function handleMoveToBackground({ jobs }: Hub): Promise<HandledCommand> {
  const { moved, release } = await jobs.moveToBackground();
  return {
    result: { type: "move_to_background", value: { moved } },
    after: () => void release(),
  };
}

async function handleAbort({ session, settings }: Hub): Promise<HandledCommand> {
  if (session.busy || session.compacting) session.abort();
  else {
    session.holdNoticeTurns();
    if (settings.policy.abortClearsQueues) session.clearQueues();
  }
  await session.idle();
  return { result: { type: "abort", value: undefined } };
}

async function handleNewSession(hub: Hub): Promise<HandledCommand> {
  refuseWhileBusy(hub);
  const created = await hub.replaceSession();
  return { result: { type: "new_session", value: { sessionId: created.id } } };
}

async function handleExport(path: string | undefined, hub: Hub): Promise<HandledCommand> {
  const { session: { id, transcript }, settings } = hub;
  const { host, workspace, model, isCredentialFile, policy } = settings;
  if (policy.exportName !== undefined && transcript.messages.length === 0) {
    throw new RequestError("nothing_to_export", "there is nothing to export");
  }
  const stem = host.paths.basename(transcript.path ?? id).replace(/\.jsonl$/, "");
  const { saveExport } = await import("./save_export.ts");
  const saved = await saveExport(host, {
    sessionId: id,
    title: transcript.title,
    model: model.id,
    workspace,
    // As it is now; a turn may go on meanwhile.
    messages: [...transcript.messages],
    stats: transcript.stats(),
  }, {
    folder: workspace,
    path: path ?? policy.exportName?.(stem),
    sessionPath: transcript.path,
    isCredentialFile,
    signal: new AbortController().signal,
  });
  return { result: { type: "export_html", value: { path: saved } } };
}

async function handleSetName(name: string, { session }: Hub): Promise<HandledCommand> {
  await session.transcript.prepare();
  session.transcript.setName(name);
  await session.transcript.flush();
  await session.tell({ type: "name_change", name });
  return { result: { type: "set_name", value: undefined } };
}

async function handleListModels({ settings }: Hub): Promise<HandledCommand> {
  const models = await settings.model.listModels({ signal: AbortSignal.timeout(LIST_MODELS_MS) });
  return { result: { type: "list_models", value: { models } } };
}

async function handleSetModel(name: string, hub: Hub): Promise<HandledCommand> {
  refuseWhileBusy(hub);
  const { settings } = hub;
  settings.model = await settings.resolveModel(name, settings.model);
  const { provider, id } = settings.model;
  return { result: { type: "set_model", value: { provider, model: id } } };
}

function handleSetThinking(level: string, hub: Hub): HandledCommand {
  refuseWhileBusy(hub);
  const known = THINKING_LEVELS.find((candidate) => candidate === level);
  if (known === undefined) throw new RequestError("invalid", "unknown thinking depth");
  hub.settings.thinkingLevel = known;
  return { result: { type: "set_thinking", value: { level: known } } };
}

async function handleSetDeliveryMode(
  command: Command & { type: "set_delivery_mode" },
  { settings }: Hub,
): Promise<HandledCommand> {
  await settings.saveDeliveryMode(command.queue, command.mode);
  settings[command.queue === "steer" ? "steeringMode" : "followUpMode"] = command.mode;
  return { result: { type: "set_delivery_mode", value: undefined } };
}

/** Asking an endpoint for its models takes two tries of 2.5 s at most; this is only the last resort. */
const LIST_MODELS_MS = 10_000;

function handlePrompt(
  command: Command & { type: "prompt" },
  context: CommandContext,
): HandledCommand {
  const { session, settings } = context.hub;
  refuseWhileEnding(context.hub);
  if (session.compacting && settings.policy.queueNewsFirst) {
    throw new RequestError("compacting", "the conversation is being compacted");
  }
  if (!session.busy) {
    const { model: { lack }, policy: { lackText } } = settings;
    if (lack !== undefined && lackText !== undefined) {
      throw new RequestError("no_model", lackText(lack));
    }
    return startTurn(command, context);
  }
  if (command.whileBusy === "unknown") {
    throw new RequestError("behavior_unknown", "a turn is running, and what to do is not known");
  }
  if (command.whileBusy === "refuse") {
    throw new RequestError(
      "behavior_required",
      "a turn is running, say what to do with the message",
    );
  }
  return enqueue(command.whileBusy, command, context);
}

function handleQueued(
  command: Command & { type: "steer" | "follow_up" },
  context: CommandContext,
): HandledCommand {
  const { session, settings } = context.hub;
  refuseWhileEnding(context.hub);
  if (session.busy) return enqueue(command.type, command, context);
  if (settings.policy.queueWhileIdle === "wait") return enqueue(command.type, command, context);
  if (settings.policy.queueWhileIdle === "refuse") {
    throw new RequestError("idle", "no turn is running");
  }
  return startTurn(command, context);
}

type MessageCommand = Command & { type: "prompt" | QueueName };

function startTurn(command: MessageCommand, { hub, requestId }: CommandContext): HandledCommand {
  const begin = hub.session.start(waitingMessage(command, requestId));
  return { result: { type: command.type, value: { disposition: "started" } }, after: begin };
}

function waitingMessage(command: MessageCommand, requestId: unknown): WaitingMessage {
  const { extras } = command;
  return { text: command.message, requestId, ...(extras === undefined ? {} : { extras }) };
}

function enqueue(
  queue: QueueName,
  command: MessageCommand,
  { hub, requestId }: CommandContext,
): HandledCommand {
  const tell = hub.session.enqueue(queue, waitingMessage(command, requestId));
  if (hub.settings.policy.queueNewsFirst) {
    tell();
    return { result: { type: command.type, value: { disposition: "queued" } } };
  }
  return { result: { type: command.type, value: { disposition: "queued" } }, after: tell };
}

function refuseWhileBusy(hub: Hub): void {
  if (hub.session.busy) throw new RequestError("busy", "a turn is running");
}

function refuseWhileEnding(hub: Hub): void {
  if (hub.ending) throw new RequestError("shutting_down", "the program is shutting down");
}

function readState(hub: Hub) {
  const { session, settings } = hub;
  return {
    sessionId: session.id,
    name: session.transcript.title,
    model: settings.model.id,
    provider: settings.model.provider,
    thinkingLevel: settings.thinkingLevel ?? "",
    busy: session.busy,
    messageCount: session.transcript.messages.length,
    ...session.waiting,
    steeringMode: settings.steeringMode,
    followUpMode: settings.followUpMode,
    activeModel: settings.model,
    path: session.transcript.path,
    ownName: session.transcript.name || undefined,
    compacting: session.compacting,
    autoCompaction: settings.autoCompaction,
    contextCount: session.transcript.viewCount,
  };
}
