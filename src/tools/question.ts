/**
 * The `question` tool where nobody can answer during a run: the model is told to put its questions into its answer. A dialect that can
 * ask uses the parsed arguments and never runs it.
 */

import type { JsonObject, JsonValue } from "../agent/message.ts";
import { type ParsedArguments, textOutcome, type Tool } from "../agent/tool.ts";

/** One question, whatever names the model used for its parts. */
export interface Question {
  readonly question: string;
  readonly header: string | undefined;
  readonly options: readonly QuestionOption[];
  /** Whether several options may be chosen. */
  readonly multiple: boolean;
}

export interface QuestionOption {
  readonly label: string;
  readonly description: string | undefined;
}

/** Arguments of `question`, read. */
export interface QuestionArguments {
  readonly questions: readonly Question[];
}

const PARAMETERS: JsonObject = {
  type: "object",
  properties: {
    questions: {
      type: "array",
      items: {
        type: "object",
        properties: {
          question: { type: "string", minLength: 1 },
          header: { type: "string", description: "A word or two that name the question" },
          options: {
            type: "array",
            items: {
              type: "object",
              properties: { label: { type: "string" }, description: { type: "string" } },
              required: ["label"],
              additionalProperties: false,
            },
          },
          multiple: { type: "boolean", description: "Whether several options may be chosen" },
        },
        required: ["question"],
        additionalProperties: false,
      },
    },
  },
  required: ["questions"],
  additionalProperties: false,
};

/**
 * Answers with a text that begins with `USER_QUESTIONS`, lists the questions and tells the model to put them to the person. Takes
 * `prompt` for `question`, `choices` for `options` (strings, or objects with `label` or `text`) and `multiSelect` for `multiple`; other
 * keys of a question are ignored.
 */
export const questionTool: Tool<QuestionArguments> = {
  name: "question",
  description:
    "Asks the person something that only they can decide. Use it rarely, and ask everything at once; offer options where you can.",
  parameters: PARAMETERS,
  parse: parseQuestions,
  run({ questions }, { signal }) {
    if (signal.aborted) return Promise.reject(signal.reason);
    return Promise.resolve(textOutcome(questionsText(questions)));
  },
};

function questionsText(questions: readonly Question[]): string {
  const lines = ["USER_QUESTIONS"];
  for (const [index, { question, header, options, multiple }] of questions.entries()) {
    const several = multiple ? " (several may be chosen)" : "";
    lines.push(`${index + 1}. ${header ? `${header}: ` : ""}${question}${several}`);
    for (const { label, description } of options) {
      lines.push(`   - ${label}${description ? `: ${description}` : ""}`);
    }
  }
  lines.push(
    "",
    "Nobody can answer while you work. Put these questions, with their options, to the person in your answer and end your turn.",
  );
  return lines.join("\n");
}

/** Not by the schema: models know several names for the parts of a question. */
function parseQuestions(args: JsonObject): ParsedArguments<QuestionArguments> {
  const unknown = Object.keys(args).find((key) => key !== "questions");
  if (unknown !== undefined) {
    return { ok: false, problem: `unknown argument: ${unknown.slice(0, 100)}` };
  }
  if (!Object.hasOwn(args, "questions")) return { ok: false, problem: "questions is required" };
  try {
    const questions = asList(args.questions, "questions").map((value, index) =>
      toQuestion(value, `questions[${index}]`)
    );
    if (questions.length > 0) return { ok: true, value: { questions } };
    return { ok: false, problem: "questions: expected at least one question" };
  } catch (error) {
    if (error instanceof Mismatch) return { ok: false, problem: error.message };
    throw error;
  }
}

/** `<argument>: expected <what>`; never leaves this file. */
class Mismatch extends Error {
  constructor(name: string, expected: string) {
    super(`${name}: expected ${expected}`);
  }
}

function toQuestion(value: JsonValue, name: string): Question {
  if (!isObject(value)) throw new Mismatch(name, "an object");
  const question = first(value, ["question", "prompt"]);
  if (typeof question !== "string" || question.trim() === "") {
    throw new Mismatch(`${name}.question`, "a string that is not empty");
  }
  const header = first(value, ["header"]);
  if (header !== undefined && typeof header !== "string") {
    throw new Mismatch(`${name}.header`, "a string");
  }
  const multiple = first(value, ["multiple", "multiSelect"]) ?? false;
  if (typeof multiple !== "boolean") throw new Mismatch(`${name}.multiple`, "true or false");
  const options = asList(first(value, ["options", "choices"]) ?? [], `${name}.options`);
  return {
    question,
    header,
    multiple,
    options: options.map((option, index) => toOption(option, `${name}.options[${index}]`)),
  };
}

function toOption(value: JsonValue, name: string): QuestionOption {
  if (typeof value === "string") return { label: value, description: undefined };
  if (!isObject(value)) throw new Mismatch(name, "a string or an object");
  const label = first(value, ["label", "text"]);
  if (typeof label !== "string") throw new Mismatch(`${name}.label`, "a string");
  const description = first(value, ["description"]);
  if (description !== undefined && typeof description !== "string") {
    throw new Mismatch(`${name}.description`, "a string");
  }
  return { label, description };
}

/** The first of the keys that has a value; `null` is none. */
function first(value: JsonObject, keys: readonly string[]): JsonValue | undefined {
  for (const key of keys) {
    if (Object.hasOwn(value, key) && value[key] !== null) return value[key];
  }
  return undefined;
}

function asList(value: JsonValue | undefined, name: string): JsonValue[] {
  if (Array.isArray(value)) return value;
  throw new Mismatch(name, "a list");
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
