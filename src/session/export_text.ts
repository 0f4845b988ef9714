/**
 * Text of a conversation as HTML that is only text: whatever it holds, it cannot end an element, begin one, leave an attribute or turn the
 * direction of what stands around it. Knows no message.
 */

/**
 * What cannot stand in HTML as it is: its own characters, control characters, line separators, overrides of the direction of writing, and code
 * points that are no characters. LF and tab stay.
 */
const UNSAFE =
  /[&<>"'\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069\p{Noncharacter_Code_Point}]|(?![\n\t])\p{Cc}/gu;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Colours and cursor movements of a terminal; without their first character they would be noise. */
const TERMINAL_SEQUENCE = new RegExp(
  String.raw`${String.fromCharCode(27)}\[[0-?]*[ -/]*[@-~]`,
  "g",
);

/**
 * The text for the inside of an element or of a quoted attribute. Control characters are shown (`␛`, `[U+202E]`), colour codes of terminals
 * left out, CRLF and CR become LF. Linear in the length of the text.
 */
export function escapeText(text: string): string {
  return escapeLines(text.replace(/\r\n?/g, "\n"));
}

/** One line of at most `limit` characters, not escaped; `…` stands for what is left out. */
export function shortenText(text: string, limit: number): string {
  // Only the beginning is looked at, however long the text is.
  const start = text.slice(0, limit * 4 + 1).replace(/\s+/g, " ").trim();
  const characters = [...start];
  if (characters.length <= limit && text.length <= limit * 4) return start;
  return `${characters.slice(0, limit - 1).join("").trimEnd()}…`;
}

/** A text as it is, in a box that scrolls by itself and can be reached with the keyboard. */
export function renderBox(text: string): string {
  return box(escapeText(text));
}

/** A text as people wrote it: white space kept, no marks understood. */
export function renderPlain(text: string): string {
  return prose(escapeText(text));
}

/** The text of a model: of its Markdown only fenced and inline code and bold words are drawn, everything else stays as written. */
export function renderAnswer(text: string): string {
  let html = "";
  let lines: string[] = [];
  let fence: { readonly mark: string; readonly indent: number } | undefined;
  const flush = () => {
    const block = lines.join("\n");
    lines = [];
    if (fence !== undefined) html += box(escapeLines(block));
    else if (block.trim() !== "") html += prose(renderInline(block.replace(/^\n+/, "").trimEnd()));
  };
  for (const line of text.replace(/\r\n?/g, "\n").split("\n")) {
    const [start, spaces = "", mark = ""] = /^( {0,3})(`{3,}|~{3,})/.exec(line) ?? [""];
    const rest = line.slice(start.length);
    if (fence === undefined && opensFence(mark, rest)) {
      flush();
      fence = { mark, indent: spaces.length };
    } else if (fence !== undefined && mark.startsWith(fence.mark) && rest.trim() === "") {
      flush();
      fence = undefined;
    } else {
      lines.push(fence === undefined ? line : dedent(line, fence.indent));
    }
  }
  flush();
  return html;
}

/** Inline code, or bold words. Each alternative reads on to the next mark at most, so the whole is linear. */
const INLINE =
  /(?<!`)(`{1,2})(?!`)([^`\n]+)\1(?!`)|(?<![*\w])\*\*(?=[^\s*])([^*\n]+)(?<!\s)\*\*(?![*\w])/g;

function renderInline(text: string): string {
  let html = "";
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    html += escapeLines(text.slice(end, match.index));
    end = match.index + match[0].length;
    html += match[3] === undefined
      ? `<code>${escapeLines(match[2]!)}</code>`
      : `<strong>${renderInline(match[3])}</strong>`;
  }
  return html + escapeLines(text.slice(end));
}

/** What stands behind backticks on the same line must have none, else it is inline code. */
function opensFence(mark: string, rest: string): boolean {
  return mark !== "" && (mark.startsWith("~") || !rest.includes("`"));
}

function dedent(line: string, indent: number): string {
  let start = 0;
  while (start < indent && line[start] === " ") start++;
  return line.slice(start);
}

/** The parser drops one LF behind the tag, so there is one that may be dropped. */
function box(html: string): string {
  return `<pre tabindex="0" dir="ltr">\n${html}</pre>\n`;
}

function prose(html: string): string {
  return `<div class="text" dir="auto">${html}</div>\n`;
}

function escapeLines(text: string): string {
  return text.replace(TERMINAL_SEQUENCE, "").replace(
    UNSAFE,
    (found) => ENTITIES[found] ?? showCharacter(found.codePointAt(0)!),
  );
}

function showCharacter(code: number): string {
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`;
}
