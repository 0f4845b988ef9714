/**
 * Records compared with what a page or a corpus file says about them: exactly, but for places that differ from run to run, which are
 * written as `<name>`. It knows no dialect.
 */

import { assertEquals } from "@std/assert";

/** What `<kind>` and `<kind:label>` stand for; one text has the same label wherever it stands. */
const KINDS: Record<string, RegExp> = {
  id: /^\S+$/,
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  path: /^\/.+$/,
  line: /^[^\r\n]+$/,
  text: /^[^]*$/,
};

/**
 * Throws when the records are not those expected. A string `"<kind>"` or `"<kind:label>"` stands for any text of the kind; `"<number>"`
 * for any number. The same label stands for the same text in the whole comparison.
 */
export function expectRecords(
  actual: readonly unknown[],
  expected: readonly unknown[],
  labels: Map<string, string> = new Map(),
): void {
  const filled = expected.map((record, index) => fill(record, actual[index], labels));
  assertEquals(actual, filled);
}

/** The expectation with its placeholders replaced by what they met, where that fits. */
function fill(expected: unknown, actual: unknown, labels: Map<string, string>): unknown {
  if (typeof expected === "string") return fillText(expected, actual, labels);
  if (Array.isArray(expected)) {
    const list = Array.isArray(actual) ? actual : [];
    return expected.map((value, index) => fill(value, list[index], labels));
  }
  if (typeof expected !== "object" || expected === null) return expected;
  const fields = (typeof actual === "object" && actual !== null ? actual : {}) as Record<
    string,
    unknown
  >;
  return Object.fromEntries(
    Object.entries(expected).map(([key, value]) => [key, fill(value, fields[key], labels)]),
  );
}

function fillText(expected: string, actual: unknown, labels: Map<string, string>): unknown {
  if (expected === "<number>") return typeof actual === "number" ? actual : expected;
  if (!expected.includes("<") || typeof actual !== "string") return expected;
  const parts = expected.split(/(<[a-z]+(?::[a-z0-9_]+)?>)/);
  const found: string[] = [];
  const pattern = parts.map((part) => {
    const kind = /^<([a-z]+)/.exec(part)?.[1] ?? "";
    if (!part.startsWith("<") || !Object.hasOwn(KINDS, kind)) return escapeText(part);
    found.push(part);
    return kind === "line" || kind === "text" ? "([^]*)" : "(\\S+)";
  });
  const match = new RegExp(`^${pattern.join("")}$`).exec(actual);
  if (!match) return expected;
  for (const [index, part] of found.entries()) {
    const text = match[index + 1];
    const [, kind, label] = /^<([a-z]+)(?::([a-z0-9_]+))?>$/.exec(part)!;
    if (!KINDS[kind].test(text)) return expected;
    if (label === undefined) continue;
    const known = labels.get(label);
    if (known !== undefined && known !== text) return `${expected} (which was ${known})`;
    labels.set(label, text);
  }
  return actual;
}

function escapeText(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
