/** What the client itself does for a session, as the core asks for it: files that it has open, forms. Knows no event. */

import type { ClientHelp } from "../../session/client_help.ts";
import type { CallOutcome, PendingCalls } from "../../wire/pending_calls.ts";
import { answerText, createForm, NOT_ANSWERED } from "./questions.ts";
import type { ClientAbilities } from "./read_params.ts";

const READ_TIMEOUT_MS = 10_000;
const WRITE_TIMEOUT_MS = 30_000;

export interface EditorOptions {
  readonly calls: PendingCalls;
  readonly abilities: ClientAbilities;
  readonly sessionId: () => string;
  /** Aborted with the running turn; `undefined` between turns, when the client is asked for nothing. */
  readonly turnSignal: () => AbortSignal | undefined;
  /** The path that the client knows a file by. */
  clientPath(path: string): string;
  /** The id that the client knows a call by. */
  toolCallId(callId: string): string | undefined;
  readonly askApproval: NonNullable<ClientHelp["askApproval"]>;
}

/** Only what the client has announced. */
export function createEditor(options: EditorOptions): ClientHelp {
  const { abilities, calls, askApproval } = options;
  const base = (path: string) => ({
    sessionId: options.sessionId(),
    path: options.clientPath(path),
  });
  return {
    askApproval,
    ...(abilities.readTextFile && {
      readText: async (path: string, signal: AbortSignal) => {
        const turn = options.turnSignal();
        if (turn === undefined) return undefined;
        const { outcome } = calls.call("fs/read_text_file", base(path), {
          signal: AbortSignal.any([signal, turn]),
          timeoutMs: READ_TIMEOUT_MS,
        });
        const came = await outcome;
        signal.throwIfAborted();
        if (came.kind !== "result") return undefined;
        const { content } = asObject(came.value);
        return typeof content === "string" ? content : undefined;
      },
    }),
    ...(abilities.writeTextFile && {
      writeText: async (path: string, content: string, signal: AbortSignal) => {
        const turn = options.turnSignal();
        if (turn === undefined) return false;
        const { outcome } = calls.call("fs/write_text_file", { ...base(path), content }, {
          signal: AbortSignal.any([signal, turn]),
          timeoutMs: WRITE_TIMEOUT_MS,
        });
        const came = await outcome;
        signal.throwIfAborted();
        if (came.kind !== "result") throw new Error(writeProblem(came));
        return true;
      },
    }),
    ...(abilities.form && {
      answerQuestions: async (questions, { callId, signal }) => {
        const turn = options.turnSignal();
        if (turn === undefined) return NOT_ANSWERED;
        const toolCallId = options.toolCallId(callId);
        const { outcome } = calls.call("elicitation/create", {
          mode: "form",
          sessionId: options.sessionId(),
          ...(toolCallId === undefined ? {} : { toolCallId }),
          ...createForm(questions),
        }, { signal: AbortSignal.any([signal, turn]), timeoutMs: undefined });
        const came = await outcome;
        signal.throwIfAborted();
        if (came.kind !== "result") return NOT_ANSWERED;
        const { action, content } = asObject(came.value);
        return action === "accept" ? answerText(questions, content) : NOT_ANSWERED;
      },
    }),
  };
}

function writeProblem(outcome: CallOutcome): string {
  if (outcome.kind === "error") return outcome.message.replace(/\s+/g, " ").trim().slice(0, 1000);
  return outcome.kind === "timeout"
    ? `the editor did not answer in ${
      WRITE_TIMEOUT_MS / 1000
    } seconds, it may or may not be written`
    : "the editor was not waited for, it may or may not be written";
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? value as Record<string, unknown> : {};
}
