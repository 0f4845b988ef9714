/**
 * Glob patterns for names of files. Knows text only.
 */

/**
 * A test for paths with `/`. Without a slash the pattern is matched against the last name, otherwise against the whole relative path.
 * `*` and `?` stop at slashes, `**` does not; `[a-z]`, `[!a]`, `{a,b}` and `\` before a special character work as usual. Names that
 * begin with a dot are nothing special. Throws `SyntaxError` for a pattern that cannot be.
 */
export function globMatcher(pattern: string): (path: string) => boolean {
  const whole = pattern.includes("/");
  const regExp = new RegExp(`^${globSource(pattern.replace(/^\.?\//, ""))}$`, "su");
  return (path) => regExp.test(whole ? path : path.slice(path.lastIndexOf("/") + 1));
}

function globSource(glob: string): string {
  let source = "";
  let depth = 0;
  for (let at = 0; at < glob.length; at++) {
    const character = glob[at]!;
    if (glob.startsWith("**", at)) {
      const startsPart = at === 0 || "/{,".includes(glob[at - 1]!);
      let end = at + 2;
      while (glob[end] === "*") end++;
      if (startsPart && glob[end] === "/") {
        // Also no folder at all: `a/**/b` finds `a/b`.
        source += "(?:.*/)?";
        end++;
      } else {
        source += ".*";
      }
      at = end - 1;
    } else if (character === "*") {
      source += "[^/]*";
    } else if (character === "?") {
      source += "[^/]";
    } else if (character === "[") {
      const end = classEnd(glob, at);
      if (end === -1) source += "\\[";
      else {
        source += classSource(glob.slice(at + 1, end));
        at = end;
      }
    } else if (character === "{" && closes(glob, at)) {
      source += "(?:";
      depth++;
    } else if (character === "}" && depth > 0) {
      source += ")";
      depth--;
    } else if (character === "," && depth > 0) {
      source += "|";
    } else if (character === "\\" && at + 1 < glob.length) {
      source += escape(glob[++at]!);
    } else {
      source += escape(character);
    }
  }
  return source;
}

/** Where a class ends; a `]` right at its start belongs to it. */
function classEnd(glob: string, start: number): number {
  const first = glob[start + 1] === "!" || glob[start + 1] === "^" ? start + 2 : start + 1;
  return glob.indexOf("]", first + 1);
}

function classSource(content: string): string {
  const isNegated = content.startsWith("!") || content.startsWith("^");
  const body = (isNegated ? content.slice(1) : content).replace(/[\\\]\[^]/g, "\\$&");
  return isNegated ? `[^/${body}]` : `(?!/)[${body}]`;
}

/** Whether the brace at `start` has its partner. */
function closes(glob: string, start: number): boolean {
  let depth = 0;
  for (let at = start; at < glob.length; at++) {
    if (glob[at] === "\\") at++;
    else if (glob[at] === "{") depth++;
    else if (glob[at] === "}" && --depth === 0) return true;
  }
  return false;
}

/** The text as a regular expression that matches just it. */
export function escape(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
