/**
 * Which file names hold credentials. Part of the approvals; knows names only and never looks at a
 * disk, so a caller that follows symlinks asks once for each name.
 */

/** Globs of the base names that are always credential files; compared without regard to case. */
export const CREDENTIAL_PATTERNS: readonly string[] = [
  ".env",
  ".env.*",
  "*.env",
  ".netrc",
  ".pgpass",
  ".git-credentials",
  "credentials.json",
  "token.json",
  "id_rsa",
  "id_dsa",
  "id_ecdsa",
  "id_ed25519",
  "*.pem",
  "*.p12",
  "*.pfx",
];

/**
 * Whether the base name of `path` matches a built-in pattern or one of `patterns` (globs with `*`
 * and `?`). `/` and `\` both separate; case is ignored, because many file systems ignore it.
 * Never throws.
 */
export function isCredentialFile(path: string, options: { patterns: readonly string[] }): boolean {
  const name = baseName(path).toLowerCase();
  if (name === "") return false;
  return CREDENTIAL_PATTERNS.some((pattern) => matchesGlob(name, pattern)) ||
    options.patterns.some((pattern) => matchesGlob(name, pattern.toLowerCase()));
}

/** The last part of `path` behind `/` or `\`, trailing separators left out. Never throws. */
export function baseName(path: string): string {
  let end = path.length;
  while (end > 0 && isSeparator(path[end - 1])) end--;
  let start = end;
  while (start > 0 && !isSeparator(path[start - 1])) start--;
  return path.slice(start, end);
}

function isSeparator(char: string): boolean {
  return char === "/" || char === "\\";
}

/** Backs up only to the last `*`, so the cost is at most name times pattern, never exponential. */
function matchesGlob(name: string, pattern: string): boolean {
  let at = 0;
  let inPattern = 0;
  let star = -1;
  let retry = 0;
  while (at < name.length) {
    if (pattern[inPattern] === "*") {
      star = inPattern++;
      retry = at;
    } else if (pattern[inPattern] === "?" || pattern[inPattern] === name[at]) {
      inPattern++;
      at++;
    } else if (star >= 0) {
      inPattern = star + 1;
      at = ++retry;
    } else {
      return false;
    }
  }
  while (pattern[inPattern] === "*") inPattern++;
  return inPattern === pattern.length;
}

/** The environment of a running process, where keys are handed over. */
const PROCESS_ENVIRONMENT = /^\/proc\/(?:.+\/)?environ$/;

/**
 * The check of a process: built-in and configured names, the environments of processes, and Weir's own files with keys, by their whole paths.
 * Everything that opens files asks it, with the path as given and as resolved.
 */
export function createCredentialCheck(
  options: { patterns: readonly string[]; ownFiles: readonly string[] },
): (path: string) => boolean {
  const ownFiles = new Set(options.ownFiles);
  return (path) =>
    ownFiles.has(path) || PROCESS_ENVIRONMENT.test(path) || isCredentialFile(path, options);
}
