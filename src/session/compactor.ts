/**
 * Compaction: replaces the older part of a conversation by a summary in what the model is sent. Stored messages stay as they are. Knows no
 * turn; its owner asks before each request and when an endpoint refuses.
 */

import { type Message, textOf, toolCallsOf, type Usage } from "../agent/message.ts";
import { pause } from "../agent/retry.ts";
import { runStep, type StepResult } from "../agent/run_step.ts";
import { addUsage, NO_USAGE } from "../agent/usage.ts";
import { errorText, RequestError } from "../errors.ts";
import type { CompactionReport, StoredMessage } from "./command.ts";
import { planRetry } from "./plan_retry.ts";
import { encodeMessage } from "./stored_message.ts";
import type { CompactionPhase, CompactionTrigger, SummaryRetryPhase } from "./event.ts";
import { jobLine } from "./jobs.ts";
import type { Settings } from "./settings.ts";
import { countCharacters } from "./transcript.ts";
import type { WorkshopCustomer } from "./workshop.ts";

/** Share of the window that makes a conversation full, and the share that is kept of it. */
const FULL_SHARE = 0.85;
const KEPT_SHARE = 0.1;
/** Tokens of a window that nobody has said. */
const DEFAULT_WINDOW = 128_000;
/** A part that is summarised in one request has at most this share of the window. */
const PART_SHARE = 0.5;
/** The most that a single result contributes to a summary. */
const MAX_RESULT_CHARACTERS = 4000;

const SUMMARY_PROMPT =
  "You shorten the record of a coding agent's work so that it can go on with the summary alone. Write down, in this order and in plain text: what the person wants, with every instruction that still holds; what was done and found, with exact paths, names, commands and numbers; what is open; what should come next. Leave out nothing that would have to be looked up again. Do not add advice.";

let savedCount = 0;

export class Compactor {
  readonly #settings: Settings;
  readonly #customer: WorkshopCustomer;

  constructor(options: { settings: Settings; customer: WorkshopCustomer }) {
    this.#settings = options.settings;
    this.#customer = options.customer;
  }

  /** Compacts when the conversation fills the window. A failure is told and the turn goes on; throws only `signal.reason`. */
  async compactIfFull(signal: AbortSignal): Promise<void> {
    const window = this.#window;
    if (window === undefined || !this.#settings.autoCompaction) return;
    const tokens = this.#customer.transcript.contextTokens;
    if (tokens < this.#fullTokens(window)) return;
    await this.#compact("auto", { window, keptTokens: this.#keptTokens(window), tokens, signal });
  }

  /** Whether `makeRoom` would find something to take out. */
  mayMakeRoom(): boolean {
    if (!this.#settings.autoCompaction) return false;
    const { transcript } = this.#customer;
    const tokens = transcript.contextTokens;
    const { messages } = transcript.context;
    return chooseCut(messages, tokens * KEPT_SHARE) > 0 || chooseCut(messages, 0) > 0;
  }

  /** Compacts because the client wants it. Throws `RequestError` when there is nothing to do or it fails, and `signal.reason`. */
  async compactForClient(
    { instructions, signal }: { instructions: string | undefined; signal: AbortSignal },
  ): Promise<CompactionReport> {
    const tokens = this.#customer.transcript.contextTokens;
    const window = this.#window ?? Math.max(tokens, DEFAULT_WINDOW);
    const keptTokens = this.#keptTokens(window);
    return await this.#tryToCompact("manual", { window, keptTokens, tokens, signal, instructions });
  }

  /** Compacts because a person asks for it; `instructions` say what the summary must keep. Throws `signal.reason`. */
  async compactNow(
    { instructions, signal }: { instructions: string; signal: AbortSignal },
  ): Promise<"done" | "failed" | "nothing_to_do"> {
    const tokens = this.#customer.transcript.contextTokens;
    // However much room there is, only the last part of what there is now is kept.
    const window = Math.min(this.#settings.model.info.contextWindow ?? tokens, tokens);
    const keptTokens = window * KEPT_SHARE;
    if (chooseCut(this.#customer.transcript.context.messages, keptTokens) <= 0) {
      return "nothing_to_do";
    }
    const isDone = await this.#compact("manual", {
      window,
      keptTokens,
      tokens,
      signal,
      instructions,
    });
    return isDone ? "done" : "failed";
  }

  get #window(): number | undefined {
    const { model, policy } = this.#settings;
    return model.info.contextWindow ??
      (policy.compactionSize === "tokens" ? DEFAULT_WINDOW : undefined);
  }

  #fullTokens(window: number): number {
    const { policy, compaction } = this.#settings;
    return policy.compactionSize === "tokens"
      ? Math.max(1, window - compaction.reserveTokens)
      : window * FULL_SHARE;
  }

  #keptTokens(window: number): number {
    const { policy, compaction } = this.#settings;
    return policy.compactionSize === "tokens" ? compaction.keepRecentTokens : window * KEPT_SHARE;
  }

  /** Compacts because the endpoint refused the request as too long. Returns whether it did. */
  async makeRoom(signal: AbortSignal): Promise<boolean> {
    if (!this.#settings.autoCompaction) return false;
    const tokens = this.#customer.transcript.contextTokens;
    // Whatever the window was thought to be: what does not fit is at least as long as it.
    const window = Math.min(this.#settings.model.info.contextWindow ?? tokens, tokens);
    const keptTokens = this.#settings.policy.compactionSize === "tokens"
      ? this.#keptTokens(window)
      : Math.min(this.#keptTokens(window), window * KEPT_SHARE);
    return await this.#compact("overflow", { window, keptTokens, tokens, signal });
  }

  /** Whether it did; a failure is told. */
  async #compact(trigger: CompactionTrigger, options: CompactOptions): Promise<boolean> {
    try {
      await this.#tryToCompact(trigger, options);
      return true;
    } catch {
      options.signal.throwIfAborted();
      return false;
    }
  }

  async #tryToCompact(
    trigger: CompactionTrigger,
    options: CompactOptions,
  ): Promise<CompactionReport> {
    const { keptTokens, tokens, signal } = options;
    const { transcript } = this.#customer;
    const { messages } = transcript.context;
    // What was refused must get shorter, also where what may be kept would hold everything.
    const cut = trigger === "manual" && transcript.isJustCompacted
      ? 0
      : chooseCut(messages, keptTokens) || (trigger === "overflow" ? chooseCut(messages, 0) : 0);
    if (cut <= 0 && trigger !== "manual") throw new NothingToCompactError("nothing to compact");
    const startedAt = Date.now();
    const older = messages.slice(0, cut);
    const counts = { summarized: older.length, kept: messages.length - cut };
    const tell = (phase: CompactionPhase) =>
      this.#customer.emit({ type: "compaction", trigger, ...phase });
    try {
      await tell({ phase: "start", tokensBefore: tokens, ...counts });
      if (cut <= 0) {
        throw new NothingToCompactError(
          transcript.isJustCompacted
            ? "Already compacted"
            : "Nothing to compact (session too small)",
        );
      }
      await tell({ phase: "saving" });
      const file = await this.#saveOriginals(older, signal);
      await tell({ phase: "saved", file });
      await tell({ phase: "summarizing" });
      const { summary, chunks, usage } = await this.#summarize(older, {
        ...options,
        trigger,
        tell,
      });
      await tell({ phase: "summarized", chunks });
      const files = touchedFiles(older);
      const firstKeptId = messages[cut]!.id;
      const details = { readFiles: files.read, modifiedFiles: files.modified };
      transcript.compact({ summary, firstKeptId, tokensBefore: tokens, details });
      await transcript.flush();
      const seconds = Math.round((Date.now() - startedAt) / 100) / 10;
      const tokensAfter = transcript.contextTokens;
      const report = { summary, firstKeptId, tokensBefore: tokens, tokensAfter, usage, files };
      await tell({
        phase: "done",
        tokensBefore: tokens,
        tokensAfter,
        ...counts,
        file,
        seconds,
        report,
      });
      return report;
    } catch (error) {
      if (signal.aborted) await tell({ phase: "aborted" });
      else await tell({ phase: "error", message: errorText(error).split("\n")[0]! });
      throw error;
    }
  }

  async #saveOriginals(older: readonly StoredMessage[], signal: AbortSignal): Promise<string> {
    const { host, outputFolder } = this.#settings;
    const path = host.paths.join(await outputFolder(), `compaction-${++savedCount}.jsonl`);
    const lines = older.map(({ id, message }) =>
      JSON.stringify({ id, message: encodeMessage(message) }) + "\n"
    );
    await host.files.replace(path, new TextEncoder().encode(lines.join("")), {
      mode: 0o600,
      signal,
    });
    return path;
  }

  /** Summarises part after part; each request carries the summary so far. */
  async #summarize(
    older: readonly StoredMessage[],
    options: CompactOptions & {
      trigger: CompactionTrigger;
      tell: (phase: CompactionPhase) => Promise<void> | undefined;
    },
  ): Promise<{ summary: string; chunks: number; usage: Usage | undefined }> {
    let { summary } = this.#customer.transcript.context;
    let usage: Usage | undefined;
    let chunks = 0;
    for (
      const part of splitText(
        older.filter(({ message }) => message.role !== "user" || !message.isPrivate)
          .map(({ message }) => describe(message)),
        options.window * PART_SHARE * 4,
      )
    ) {
      const answer = await this.#ask(summary, part, options);
      summary = answer.text;
      if (answer.usage !== undefined) usage = addUsage(usage ?? NO_USAGE, answer.usage);
      await options.tell({ phase: "chunks", chunks: ++chunks });
    }
    const jobs = this.#customer.jobs.runningOf(this.#customer.sessionId).map(jobLine);
    const running = jobs.length === 0
      ? ""
      : `\n\nBackground jobs that still run:\n${jobs.join("\n")}`;
    return { summary: (summary ?? "") + running, chunks, usage };
  }

  async #ask(
    summary: string | undefined,
    part: string,
    { signal, instructions, trigger }: CompactOptions & { trigger: CompactionTrigger },
  ): Promise<{ text: string; usage: Usage | undefined }> {
    const before = summary === undefined
      ? ""
      : `<summary-so-far>\n${summary}\n</summary-so-far>\n\n`;
    const wish = instructions === undefined || instructions.trim() === ""
      ? ""
      : `\n\nThe person asks for this in particular: ${instructions}`;
    const text = `${before}<record>\n${part}\n</record>\n\nWrite the summary${
      summary === undefined ? "" : " of both"
    }.${wish}`;
    const { message } = await this.#request(text, { signal, trigger });
    const { usage, receipt } = message;
    if (usage !== undefined && receipt !== undefined) {
      this.#customer.transcript.recordUsage("compaction", { usage, receipt });
    }
    const answer = textOf(message).trim();
    if (answer === "") throw new Error("the model gave no summary");
    return { text: answer, usage };
  }

  /** Asks until there is an answer, with the pauses of this dialect. */
  async #request(
    text: string,
    { signal, trigger }: { signal: AbortSignal; trigger: CompactionTrigger },
  ): Promise<StepResult & { kind: "complete" }> {
    const { model, thinkingLevel, policy } = this.#settings;
    const isTold = policy.failures === "told";
    const tell = (phase: SummaryRetryPhase) =>
      this.#customer.emit({ type: "summary_retry", trigger, ...phase });
    for (let attempt = 1;; attempt++) {
      const result = await runStep({
        model,
        retries: !isTold,
        replyId: "",
        signal,
        emit: () => undefined,
        request: {
          systemPrompt: SUMMARY_PROMPT,
          messages: [{ role: "user", content: [{ type: "text", text }], timestamp: Date.now() }],
          tools: [],
          thinkingLevel,
          sessionId: this.#customer.sessionId,
        },
      });
      signal.throwIfAborted();
      if (result.kind === "complete") {
        if (attempt > 1) await tell({ phase: "finished" });
        return result;
      }
      const error = result.kind === "aborted" ? undefined : result.error;
      const plan = error && isTold ? planRetry(this.#settings, error, attempt) : undefined;
      if (error === undefined || plan === undefined) {
        if (attempt > 1) await tell({ phase: "finished" });
        throw new Error(error?.message ?? "Interrupted");
      }
      const { limit, delayMs } = plan;
      await tell({ phase: "scheduled", attempt, limit, delayMs, error: error.message });
      await pause(delayMs, signal);
      await tell({ phase: "started" });
    }
  }
}

/** Nothing is wrong, but there is nothing that could be left out either. */
class NothingToCompactError extends RequestError {
  constructor(text: string) {
    super("unavailable", text);
  }
}

interface CompactOptions {
  readonly window: number;
  /** Tokens of the newest messages that stay. */
  readonly keptTokens: number;
  /** Tokens of the conversation now. */
  readonly tokens: number;
  readonly signal: AbortSignal;
  /** What the person wants of the summary. */
  readonly instructions?: string | undefined;
}

/** The files that calls have named, each once. */
function touchedFiles(messages: readonly StoredMessage[]): { read: string[]; modified: string[] } {
  const read = new Set<string>();
  const modified = new Set<string>();
  for (const { message } of messages) {
    if (message.role !== "assistant") continue;
    for (const { name, arguments: { path } } of toolCallsOf(message)) {
      if (typeof path !== "string") continue;
      if (name === "read") read.add(path);
      if (name === "write" || name === "edit") modified.add(path);
    }
  }
  return { read: [...read].filter((path) => !modified.has(path)), modified: [...modified] };
}

/**
 * Index of the first message to keep: what fits into `keptTokens` counted from the end, at least the last message that the model reads, at a message of
 * the person where there is one, and never between a call and its result. 0: nothing to summarise.
 */
export function chooseCut(messages: readonly StoredMessage[], keptTokens: number): number {
  let cut = messages.length;
  const least = messages.findLastIndex(({ message }) => !isEmptyReply(message));
  let characters = 0;
  while (cut > 0) {
    characters += countCharacters(messages[cut - 1]!.message);
    if (characters / 4 > keptTokens && cut <= least) break;
    cut--;
  }
  const roleAt = (index: number) => messages[index]?.message.role;
  for (let i = cut; i < messages.length; i++) if (roleAt(i) === "user") return i;
  while (cut > 0 && roleAt(cut) === "toolResult") cut--;
  return cut;
}

/** A reply that came to nothing, which is not sent to the model. */
function isEmptyReply(message: Message): boolean {
  return message.role === "assistant" && message.content.length === 0;
}

function describe(message: Message): string {
  const text = textOf(message);
  if (message.role === "user") return `Person: ${text}`;
  if (message.role === "toolResult") return `Result of ${message.toolName}: ${shorten(text)}`;
  const calls = toolCallsOf(message).map((call) =>
    `Call ${call.name} ${shorten(JSON.stringify(call.arguments))}`
  );
  return [...(text === "" ? [] : [`Agent: ${text}`]), ...calls].join("\n");
}

function shorten(text: string): string {
  if (text.length <= MAX_RESULT_CHARACTERS) return text;
  const half = MAX_RESULT_CHARACTERS / 2;
  return `${text.slice(0, half).toWellFormed()}\n[…]\n${text.slice(-half).toWellFormed()}`;
}

/** Joins texts to parts of at most `limit` characters; a longer text is cut. */
function splitText(texts: readonly string[], limit: number): string[] {
  const size = Math.max(1000, Math.floor(limit));
  const parts: string[] = [];
  let part = "";
  for (const text of texts) {
    for (let start = 0; start === 0 || start < text.length; start += size) {
      const piece = text.slice(start, start + size).toWellFormed();
      if (part !== "" && part.length + piece.length > size) {
        parts.push(part);
        part = "";
      }
      part += (part === "" ? "" : "\n\n") + piece;
    }
  }
  if (part !== "") parts.push(part);
  return parts;
}
