/**
 * Transcript: the messages of one session in memory, in step with its journal. Counts what statistics need as messages come, so that asking
 * costs nothing. Knows no event and no queue.
 */

import type { Conversation } from "../agent/conversation.ts";
import {
  isPartial,
  type JsonObject,
  type Message,
  type Receipt,
  textOf,
  toolCallsOf,
  type Usage,
} from "../agent/message.ts";
import { missingResults, pairCalls } from "../agent/pair_calls.ts";
import type { ConversationContext, ReceiptTotals, SessionStats, StoredMessage } from "./command.ts";
import type { NewEntry, SessionHeader, StoredEntry } from "./entry.ts";
import { decodeForeignEntry } from "./foreign_message.ts";
import type { AppendOptions, Journal } from "./journal.ts";
import { decodeMessage } from "./stored_message.ts";

/** Begins the result of a call whose process died. */
export const LOST_RESULT =
  "Interrupted before a tool result was saved; the call may or may not have been carried out";

const TITLE_LENGTH = 100;

export class Transcript implements Conversation {
  readonly #journal: Journal;
  readonly #sendsPartial: boolean;
  readonly #messages: StoredMessage[] = [];
  /** What the next append writes first: repairs of an opened session, which opening itself does not write, and what could not be written. */
  readonly #pending: { readonly id: string; readonly entry: NewEntry }[] = [];
  #name = "";
  #title: string | undefined;
  #recordedModel = "";
  #recordedThinking = "";
  #stats = createCounts();
  /** `start`: index of the first message that is still sent; `coveredReplies`: messages that were there already when it was made. */
  #compaction:
    | {
      readonly summary: string;
      readonly start: number;
      readonly coveredReplies: ReadonlySet<string>;
      readonly tokensBefore: number;
      readonly timestamp: number;
    }
    | undefined;

  /** In file order, all branches; `undefined` when nobody asks for them. */
  readonly #entries: StoredEntry[] | undefined;
  /** What the model and level were when it was opened. */
  readonly recorded: { readonly model: string; readonly thinkingLevel: string };

  /** With `allEntries` the entries are kept, these and those that come. */
  constructor(options: {
    /** Whether the model is sent what there is of replies that were given up. */
    sendsPartial?: boolean | undefined;
    journal: Journal;
    entries: readonly StoredEntry[];
    allEntries?: readonly StoredEntry[] | undefined;
  }) {
    this.#journal = options.journal;
    this.#sendsPartial = options.sendsPartial ?? false;
    this.#entries = options.allEntries && [...options.allEntries];
    for (const entry of options.entries) this.#load(entry);
    this.recorded = { model: this.#recordedModel, thinkingLevel: this.#recordedThinking };
    this.#repair();
  }

  /** The first line of the file. */
  get header(): SessionHeader {
    return this.#journal.header;
  }

  /** All entries in file order, if they are kept. */
  get entries(): readonly StoredEntry[] {
    return this.#entries ?? [];
  }

  /** The entry that the next one follows. */
  get leafId(): string | null {
    return this.#journal.leafId;
  }

  /** The name that was given; `""` when there is none. */
  get name(): string {
    return this.#name;
  }

  get id(): string {
    return this.#journal.id;
  }

  /** Absolute path of the file; `undefined` for a session that is kept in memory. */
  get path(): string | undefined {
    return this.#journal.path;
  }

  get messages(): readonly StoredMessage[] {
    return this.#messages;
  }

  /** The setting that was recorded last: `provider/model` and a thinking level, `""` where there is none. */
  get recordedSetting(): { readonly model: string; readonly thinkingLevel: string } {
    return { model: this.#recordedModel, thinkingLevel: this.#recordedThinking };
  }

  /** The name, else the first line of the first prompt, else `""`. */
  get title(): string {
    return this.#name !== "" ? this.#name : this.#title ?? "";
  }

  requestMessages(): readonly Message[] {
    const messages = this.#contextMessages().map((stored) => stored.message)
      .filter((message) => message.role !== "user" || message.isPrivate !== true);
    const summary = this.#compaction && createSummaryMessage(this.#compaction.summary);
    return pairCalls(summary === undefined ? messages : [summary, ...messages], {
      missingText: LOST_RESULT,
      keepPartial: this.#sendsPartial,
    });
  }

  /** What clients see of it; the summary is one message. */
  get view(): ConversationContext {
    const { summary, tokensBefore, timestamp } = this.#compaction ?? {};
    return {
      summary: summary === undefined
        ? undefined
        : { text: summary, tokensBefore: tokensBefore ?? 0, timestamp: timestamp ?? 0 },
      messages: this.#contextMessages(),
    };
  }

  /** How many messages `view` has. */
  get viewCount(): number {
    const { start } = this.#compaction ?? {};
    return start === undefined ? this.#messages.length : this.#messages.length - start + 1;
  }

  /** What the endpoint counted for the last reply and an estimate for what followed; `undefined` when it has counted nothing since a compaction. */
  get countedTokens(): number | undefined {
    const covered = this.#compaction?.coveredReplies;
    const isCounted = covered === undefined ||
      this.#contextMessages().some(({ id, message }) =>
        message.role === "assistant" && message.usage !== undefined && !covered.has(id)
      );
    return isCounted ? this.contextTokens : undefined;
  }

  /** Whether nothing was said since the last compaction. */
  get isJustCompacted(): boolean {
    return this.#compaction !== undefined &&
      this.#messages.length === this.#compaction.start + this.#compaction.coveredReplies.size;
  }

  /** What the model is sent, as far as it can be made shorter: the last summary and the messages that it does not cover. */
  get context(): {
    readonly summary: string | undefined;
    readonly messages: readonly StoredMessage[];
  } {
    return { summary: this.#compaction?.summary, messages: this.#contextMessages() };
  }

  /**
   * Tokens of the next request, about: what the endpoint counted for the last reply, and four characters a token for what came after it, or for
   * everything when nothing was counted since the last compaction.
   */
  get contextTokens(): number {
    const messages = this.#contextMessages();
    let characters = 0;
    for (let i = messages.length - 1; i >= 0; i--) {
      const { id, message } = messages[i]!;
      if (message.role === "assistant" && message.usage !== undefined && !isPartial(message)) {
        // A reply that is older than the compaction was counted with all that is left out now.
        if (this.#compaction === undefined || !this.#compaction.coveredReplies.has(id)) {
          return message.usage.inputTokens + message.usage.outputTokens + Math.ceil(characters / 4);
        }
      }
      characters += countCharacters(message);
    }
    return Math.ceil((characters + (this.#compaction?.summary.length ?? 0)) / 4);
  }

  /** From now on the model is sent the summary in place of everything before `firstKeptId`. What is stored stays as it is. */
  compact(compaction: {
    summary: string;
    firstKeptId: string;
    tokensBefore: number;
    details?: JsonObject;
  }): void {
    const { summary, firstKeptId, tokensBefore } = compaction;
    this.#write({
      type: "compaction",
      summary,
      firstKeptEntryId: firstKeptId,
      tokensBefore,
      ...(compaction.details === undefined ? {} : { details: compaction.details }),
    });
    this.#noteCompaction({ summary, firstKeptId, tokensBefore, timestamp: Date.now() });
  }

  #noteCompaction(
    { summary, firstKeptId, tokensBefore, timestamp }: {
      summary: string;
      firstKeptId: string;
      tokensBefore: number;
      timestamp: number;
    },
  ): void {
    const start = this.#messages.findIndex((stored) => stored.id === firstKeptId);
    if (start < 0) return;
    const coveredReplies = new Set(this.#messages.slice(start).map((stored) => stored.id));
    this.#compaction = { summary, start, coveredReplies, tokensBefore, timestamp };
  }

  omit(id: string): JsonObject {
    const { raw } = this.#write({ type: "context_edit", targetId: id, replacement: null });
    this.#edit(id, undefined);
    return raw;
  }

  /** Takes a message out of what the model is sent, or puts another one in its place. */
  #edit(id: string, message: Message | undefined): void {
    const index = this.#messages.findLastIndex((stored) => stored.id === id);
    if (index < 0) return;
    if (message !== undefined) {
      this.#messages[index] = { id, message };
      return;
    }
    this.#messages.splice(index, 1);
    const compaction = this.#compaction;
    if (compaction === undefined) return;
    const coveredReplies = new Set(compaction.coveredReplies);
    coveredReplies.delete(id);
    const start = index < compaction.start ? compaction.start - 1 : compaction.start;
    this.#compaction = { ...compaction, start, coveredReplies };
  }

  #contextMessages(): readonly StoredMessage[] {
    return this.#compaction === undefined
      ? this.#messages
      : this.#messages.slice(this.#compaction.start);
  }

  reserveId(): string {
    return this.#journal.reserveId();
  }

  /** Makes the file ready for what is appended next. Throws `HostError` with what to do. */
  prepare(): Promise<void> {
    return this.#journal.prepare();
  }

  append(message: Message, options?: { id: string }): string {
    const { id } = this.#write({ type: "message", message }, options);
    this.#add({ id, message });
    return id;
  }

  holdBack(message: Message): string {
    const id = this.#journal.reserveId();
    this.#pending.push({ id, entry: { type: "message", message } });
    this.#add({ id, message });
    return id;
  }

  /**
   * Records the setting that the next messages are made with, where it differs from the last one recorded. With `hold` it waits in memory for
   * the file of a session that has none.
   */
  recordSetting(
    setting: { provider: string; model: string; thinkingLevel: string },
    options: { hold?: boolean } = {},
  ): void {
    const model = `${setting.provider}/${setting.model}`;
    if (model !== this.#recordedModel) {
      this.#write(
        { type: "model_change", provider: setting.provider, modelId: setting.model },
        options,
      );
      this.#recordedModel = model;
    }
    if (setting.thinkingLevel !== this.#recordedThinking) {
      this.#write(
        { type: "thinking_level_change", thinkingLevel: setting.thinkingLevel },
        options,
      );
      this.#recordedThinking = setting.thinkingLevel;
    }
  }

  setName(name: string): void {
    this.#write({ type: "session_info", name });
    this.#name = name;
  }

  /** Records a model call that is not a message of this conversation: a subagent's, a compaction's. */
  recordUsage(kind: string, call: { usage: Usage; receipt: Receipt }): void {
    const { usage, receipt } = call;
    this.#write({
      type: "usage",
      kind,
      provider: receipt.provider,
      model: receipt.model,
      usage,
      receipt,
    });
    this.#count(usage, receipt);
  }

  /** Resolves when everything is on the disk. */
  flush(): Promise<void> {
    return this.#journal.flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#journal[Symbol.asyncDispose]();
  }

  /** The trimmed text of the last complete reply that has text; `""` when there is none. */
  lastReplyText(): string {
    for (let i = this.#messages.length - 1; i >= 0; i--) {
      const { message } = this.#messages[i]!;
      if (message.role !== "assistant" || isPartial(message)) continue;
      const text = textOf(message).trim();
      if (text !== "") return text;
    }
    return "";
  }

  stats(): SessionStats {
    const { usd, ...counts } = this.#stats;
    const { calls, unpricedCalls, priced, ...rest } = counts;
    const receipts: ReceiptTotals = {
      usd: priced ? Math.round(usd * 1e12) / 1e12 : undefined,
      calls,
      unpricedCalls,
    };
    return { sessionId: this.id, ...rest, totalMessages: this.#messages.length, receipts };
  }

  #write(entry: NewEntry, options?: AppendOptions): StoredEntry {
    while (this.#pending.length > 0) {
      const { id, entry: repair } = this.#pending[0]!;
      const stored = this.#journal.append(repair, { id });
      this.#entries?.push(stored);
      this.#pending.shift();
    }
    const stored = this.#journal.append(entry, options);
    this.#entries?.push(stored);
    return stored;
  }

  #load(entry: StoredEntry): void {
    switch (entry.type) {
      case "message":
        this.#add({ id: entry.id, message: entry.message, raw: entry.raw });
        break;
      case "context_edit":
        this.#edit(
          entry.targetId,
          entry.replacement === null ? undefined : decodeMessage(entry.replacement),
        );
        break;
      case "session_info":
        this.#name = entry.name;
        break;
      case "model_change":
        this.#recordedModel = `${entry.provider}/${entry.modelId}`;
        break;
      case "thinking_level_change":
        this.#recordedThinking = entry.thinkingLevel;
        break;
      case "compaction":
        this.#noteCompaction({
          summary: entry.summary,
          firstKeptId: entry.firstKeptEntryId,
          tokensBefore: entry.tokensBefore,
          timestamp: Date.parse(entry.timestamp) || 0,
        });
        this.#count(entry.usage, entry.receipt);
        break;
      case "usage":
        this.#count(entry.usage, entry.receipt);
        break;
      case "custom":
        break;
      case "opaque": {
        const message = decodeForeignEntry(entry.raw);
        if (message !== undefined) this.#add({ id: entry.id, message });
        break;
      }
    }
  }

  /** Gives every call without a result one, so that the conversation can go on; no call is ever run again. */
  #repair(): void {
    const messages = this.#messages.map((stored) => stored.message);
    for (const call of missingResults(messages)) {
      const message: Message = {
        role: "toolResult",
        toolCallId: call.id,
        toolName: call.name,
        content: [{ type: "text", text: LOST_RESULT }],
        isError: true,
        timestamp: Date.now(),
      };
      this.holdBack(message);
    }
  }

  #add(stored: StoredMessage): void {
    this.#messages.push(stored);
    const { message } = stored;
    const stats = this.#stats;
    if (message.role === "user") {
      if (message.internal !== undefined || message.foreign !== undefined) return;
      stats.userMessages++;
      this.#title ??= titleOf(message.display ?? textOf(message));
    } else if (message.role === "assistant") {
      stats.assistantMessages++;
      stats.toolCalls += toolCallsOf(message).length;
      this.#count(message.usage, message.receipt);
    } else {
      stats.toolResults++;
    }
  }

  #count(usage: Usage | undefined, receipt: Receipt | undefined): void {
    if (usage === undefined) return;
    const stats = this.#stats;
    stats.inputTokens += usage.inputTokens;
    stats.outputTokens += usage.outputTokens;
    stats.cacheReadTokens += usage.cacheReadTokens ?? 0;
    stats.cacheWriteTokens += usage.cacheWriteTokens ?? 0;
    stats.calls++;
    if (receipt === undefined || receipt.amount === null) stats.unpricedCalls++;
    else {
      stats.usd += receipt.amount;
      stats.priced = true;
    }
  }
}

function createSummaryMessage(summary: string): Message {
  const text = `<conversation-summary>\n${summary}\n</conversation-summary>`;
  return { role: "user", content: [{ type: "text", text }], timestamp: 0 };
}

/** Characters of a message as the model reads it; an image counts as much as a page of text. */
export function countCharacters(message: Message): number {
  let characters = 0;
  for (const block of message.content) {
    if (block.type === "text") characters += block.text.length;
    else if (block.type === "toolCall") {
      characters += block.name.length + JSON.stringify(block.arguments).length;
    } else if (block.type === "image") characters += IMAGE_CHARACTERS;
  }
  return characters;
}

const IMAGE_CHARACTERS = 4800;

function createCounts() {
  return {
    userMessages: 0,
    assistantMessages: 0,
    toolCalls: 0,
    toolResults: 0,
    inputTokens: 0,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    calls: 0,
    unpricedCalls: 0,
    usd: 0,
    priced: false,
  };
}

function titleOf(text: string): string {
  const line = text.split("\n").find((candidate) => candidate.trim() !== "") ?? "";
  return [...line.trim()].slice(0, TITLE_LENGTH).join("");
}
