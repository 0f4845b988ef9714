/**
 * Names of sessions and their entries. Knows no file.
 */

/** A new session id: a UUID of version 7, so ids sort by the time they were made. */
export function createSessionId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const view = new DataView(bytes.buffer);
  const now = Date.now();
  view.setUint32(0, Math.floor(now / 0x10000));
  view.setUint16(4, now % 0x10000);
  bytes[6] = 0x70 | bytes[6] & 0x0f;
  bytes[8] = 0x80 | bytes[8] & 0x3f;
  const hex = toHex(bytes);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)]
    .join("-");
}

/**
 * Whether a text may be chosen as session id: letters, digits, `.`, `_` and `-`, beginning and ending with a letter or digit. At most
 * 200 characters, so that the names of its files stay valid.
 */
export function isSessionId(text: string): boolean {
  return text.length <= 200 && /^[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]$/.test(text);
}

/** Eight random hexadecimal characters that `taken` does not have. */
export function createEntryId(taken: { has(id: string): boolean }): string {
  while (true) {
    const id = toHex(crypto.getRandomValues(new Uint8Array(4)));
    if (!taken.has(id)) return id;
  }
}

/**
 * The id of an entry that has none of its own in the file: the same each time the file is read, because it comes from the number of
 * the line.
 */
export function lineEntryId(line: number, taken: { has(id: string): boolean }): string {
  for (let round = 0;; round++) {
    const id = (round * 0x1000000 + line).toString(16).padStart(8, "0");
    if (!taken.has(id)) return id;
  }
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
