/** Whether a text on the wire is base64. Knows no field. */

/** Standard base64 with padding, at least one byte of it; no data URL. */
export function isBase64(text: string): boolean {
  const digits = text.length - paddingOf(text);
  return digits > 0 && text.length % 4 === 0 && !OTHER_THAN_BASE64.test(text.slice(0, digits));
}

/** Bytes that a base64 text stands for. */
export function base64Bytes(text: string): number {
  return text.length / 4 * 3 - paddingOf(text);
}

function paddingOf(text: string): number {
  return text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
}

/** A search, not a match from end to end, which would need memory for each character. */
const OTHER_THAN_BASE64 = /[^A-Za-z0-9+/]/;
