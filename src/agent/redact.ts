/**
 * Makes text of an endpoint fit to be shown: one short line without keys. Knows nothing of HTTP.
 */

const LONGEST = 500;
/** Shorter keys are words that occur in texts by themselves. */
const SHORTEST_SECRET = 4;

const LOOKS_LIKE_KEY = [
  /\b(?:sk|pk|rk|gsk|xai|nvapi|hf|ghp|gho|ghs|glpat|pplx|csk|r8)[-_][\w*.-]{6,}/gi,
  /\bAIza[\w-]{16,}/g,
  /\beyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?/g,
];
/** Words are not keys: these need a digit (or the asterisks of a masked key). */
const AFTER_A_NAME = [
  /\b(bearer\s+)(?=[\w*.~+/=-]*[\d*])[\w*.~+/=-]{6,}/gi,
  /((?:api[-_]?key|access[-_]?token|authorization)["']?\s*[=:]\s*["']?)(?!bearer\b)(?=[\w*.~+/=-]*[\d*])[\w*.~+/=-]{6,}/gi,
];

/** The text on one line of at most about 500 characters, secrets replaced by `[redacted]`. */
export function shownText(text: string, secrets: readonly string[]): string {
  const line = redact(text, secrets).replace(/\s+/g, " ").trim();
  if (line.length <= LONGEST) return line;
  return `${line.slice(0, LONGEST).toWellFormed().trimEnd()}…`;
}

/** The text with the given secrets, and everything that looks like a key, replaced by `[redacted]`. */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  // Longest first: one secret can be the beginning of another.
  for (const secret of secrets.toSorted((a, b) => b.length - a.length)) {
    if (secret.length < SHORTEST_SECRET) continue;
    const inJson = JSON.stringify(secret).slice(1, -1);
    for (const form of [secret, inJson]) clean = clean.replaceAll(form, "[redacted]");
  }
  for (const pattern of AFTER_A_NAME) clean = clean.replace(pattern, "$1[redacted]");
  for (const pattern of LOOKS_LIKE_KEY) clean = clean.replace(pattern, "[redacted]");
  return clean;
}

/** The values that must not be shown: the key, and what headers with telling names carry. */
export function secretsOf(
  apiKey: string | undefined,
  headers: Readonly<Record<string, string>>,
): string[] {
  const secrets = apiKey ? [apiKey] : [];
  for (const [name, value] of Object.entries(headers)) {
    if (!/auth|key|token|secret|cookie/i.test(name)) continue;
    secrets.push(value, value.replace(/^(?:bearer|basic)\s+/i, ""));
  }
  return secrets;
}
