/** A `question` call as a form, and what the person filled in as a result for the model. Knows no request. */

import type { Question } from "../../tools/question.ts";
import type { ElicitationPropertySchema, ElicitationSchema } from "@agentclientprotocol/sdk";

/** One property for each question, `q1`, `q2` and so on. */
export function createForm(questions: readonly Question[]): {
  message: string;
  requestedSchema: ElicitationSchema;
} {
  const properties = Object.fromEntries(
    questions.map((question, i) => [`q${i + 1}`, createProperty(question)]),
  );
  const [only] = questions;
  const message = questions.length === 1 && only !== undefined
    ? only.question
    : "The agent has some questions";
  return { message, requestedSchema: { type: "object", properties } };
}

function createProperty(question: Question): ElicitationPropertySchema {
  const { header, options, multiple } = question;
  const title = header === undefined ? question.question : `${header}: ${question.question}`;
  if (options.length === 0) return { type: "string", title };
  const choices = options.map(({ label, description }) => ({
    const: label,
    title: description === undefined ? label : `${label}: ${description}`,
  }));
  if (multiple) return { type: "array", title, items: { anyOf: choices } };
  return { type: "string", title, oneOf: choices };
}

/** What the model reads. `content` is what the form has; anything may be missing. */
export function answerText(questions: readonly Question[], content: unknown): string {
  const values = (typeof content === "object" && content !== null ? content : {}) as Record<
    string,
    unknown
  >;
  const lines = questions.map(({ question }, i) =>
    `${i + 1}. ${question}\n   ${valueText(values[`q${i + 1}`])}`
  );
  return `The person answered:\n${lines.join("\n")}`;
}

export const NOT_ANSWERED =
  "The person did not answer the questions. Go on without, or ask in your answer.";

function valueText(value: unknown): string {
  const text = Array.isArray(value) ? value.map(String).join(", ") : String(value ?? "");
  return text.trim() === "" ? "(no answer)" : text;
}
