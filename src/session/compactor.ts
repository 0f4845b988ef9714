/**
 * Compaction: replaces the older part of a conversation by a summary in what the model is sent. Stored messages stay as they are. Knows no
 * turn; its owner asks before each request and when an endpoint refuses.
 */

import { type Message, textOf, toolCallsOf } from "../agent/message.ts";
import { runStep } from "../agent/run_step.ts";
import { errorText } from "../errors.ts";
import type { StoredMessage } from "./command.ts";
import { encodeMessage } from "./stored_message.ts";
import type { CompactionPhase } from "./event.ts";
import { jobLine } from "./jobs.ts";
import type { Settings } from "./settings.ts";
import { countCharacters } from "./transcript.ts";
import type { WorkshopCustomer } from "./workshop.ts";

type Trigger = "auto" | "overflow";

/** Share of the window that makes a conversation full, and the share that is kept of it. */
const FULL_SHARE = 0.85;
const KEPT_SHARE = 0.1;
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
    const window = this.#settings.model.info.contextWindow;
    if (window === undefined) return;
    const tokens = this.#customer.transcript.contextTokens;
    if (tokens < window * FULL_SHARE) return;
    await this.#compact("auto", { window, tokens, signal });
  }

  /** Compacts because the endpoint refused the request as too long. Returns whether it did. */
  async makeRoom(signal: AbortSignal): Promise<boolean> {
    const tokens = this.#customer.transcript.contextTokens;
    // Whatever the window was thought to be: what does not fit is at least as long as it.
    const window = Math.min(this.#settings.model.info.contextWindow ?? tokens, tokens);
    return await this.#compact("overflow", { window, tokens, signal });
  }

  async #compact(
    trigger: Trigger,
    { window, tokens, signal }: { window: number; tokens: number; signal: AbortSignal },
  ): Promise<boolean> {
    const { transcript } = this.#customer;
    const { messages } = transcript.context;
    // What was refused must get shorter, also where a tenth of the window would hold everything.
    const cut = chooseCut(messages, window * KEPT_SHARE) ||
      (trigger === "overflow" ? chooseCut(messages, 0) : 0);
    if (cut === 0) return false;
    const startedAt = Date.now();
    const older = messages.slice(0, cut);
    const counts = { summarized: older.length, kept: messages.length - cut };
    const tell = (phase: CompactionPhase) =>
      this.#customer.emit({ type: "compaction", trigger, ...phase });
    try {
      await tell({ phase: "start", tokensBefore: tokens, ...counts });
      await tell({ phase: "saving" });
      const file = await this.#saveOriginals(older, signal);
      await tell({ phase: "saved", file });
      await tell({ phase: "summarizing" });
      const { summary, chunks } = await this.#summarize(older, { window, signal, tell });
      await tell({ phase: "summarized", chunks });
      transcript.compact({ summary, firstKeptId: messages[cut]!.id, tokensBefore: tokens });
      const seconds = Math.round((Date.now() - startedAt) / 100) / 10;
      const tokensAfter = transcript.contextTokens;
      await tell({ phase: "done", tokensBefore: tokens, tokensAfter, ...counts, file, seconds });
      return true;
    } catch (error) {
      signal.throwIfAborted();
      await tell({ phase: "error", message: errorText(error).split("\n")[0]! });
      return false;
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
    options: {
      window: number;
      signal: AbortSignal;
      tell: (phase: CompactionPhase) => Promise<void> | undefined;
    },
  ): Promise<{ summary: string; chunks: number }> {
    let { summary } = this.#customer.transcript.context;
    let chunks = 0;
    for (
      const part of splitText(
        older.map(({ message }) => describe(message)),
        options.window * PART_SHARE * 4,
      )
    ) {
      summary = await this.#ask(summary, part, options.signal);
      await options.tell({ phase: "chunks", chunks: ++chunks });
    }
    const jobs = this.#customer.jobs.runningOf(this.#customer.sessionId).map(jobLine);
    const running = jobs.length === 0
      ? ""
      : `\n\nBackground jobs that still run:\n${jobs.join("\n")}`;
    return { summary: (summary ?? "") + running, chunks };
  }

  async #ask(summary: string | undefined, part: string, signal: AbortSignal): Promise<string> {
    const { model, thinkingLevel } = this.#settings;
    const before = summary === undefined
      ? ""
      : `<summary-so-far>\n${summary}\n</summary-so-far>\n\n`;
    const text = `${before}<record>\n${part}\n</record>\n\nWrite the summary${
      summary === undefined ? "" : " of both"
    }.`;
    const result = await runStep({
      model,
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
    if (result.kind !== "complete") {
      throw new Error(result.kind === "aborted" ? "Interrupted" : result.error.message);
    }
    const { usage, receipt } = result.message;
    if (usage !== undefined && receipt !== undefined) {
      this.#customer.transcript.recordUsage("compaction", { usage, receipt });
    }
    const answer = textOf(result.message).trim();
    if (answer === "") throw new Error("the model gave no summary");
    return answer;
  }
}

/**
 * Index of the first message to keep: what fits into `keptTokens` counted from the end, at least the last message, at a message of the person where
 * there is one, and never between a call and its result. 0: nothing to summarise.
 */
export function chooseCut(messages: readonly StoredMessage[], keptTokens: number): number {
  let cut = messages.length;
  let characters = 0;
  while (cut > 0) {
    characters += countCharacters(messages[cut - 1]!.message);
    if (characters / 4 > keptTokens && cut < messages.length) break;
    cut--;
  }
  const roleAt = (index: number) => messages[index]?.message.role;
  for (let i = cut; i < messages.length; i++) if (roleAt(i) === "user") return i;
  while (cut > 0 && roleAt(cut) === "toolResult") cut--;
  return cut;
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
