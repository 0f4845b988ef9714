/**
 * The tool `grep`: matching lines of the files in the workspace. Knows how results read; refuses to know how a file is searched.
 */

import type { JsonObject } from "../agent/message.ts";
import {
  errorOutcome,
  type ParsedArguments,
  textOutcome,
  type Tool,
  type ToolContext,
  type ToolOutcome,
} from "../agent/tool.ts";
import { errorText, HostError } from "../errors.ts";
import { parseArguments } from "./arguments.ts";
import { type FileFilter, findFilter, mayMatch } from "./file_filter.ts";
import { globMatcher } from "./glob.ts";
import { LineMatcher, SlowPatternError } from "./line_matcher.ts";
import { searchFile } from "./search_file.ts";
import { parseSearchPattern, type SearchPattern } from "./search_pattern.ts";
import { SearchResult, shownLine, shownPath } from "./search_result.ts";
import { openSearchRoot, type SearchRoot } from "./search_root.ts";
import { walk } from "./walk.ts";

/** The arguments of `grep`. */
export interface GrepArguments {
  readonly pattern: string;
  readonly path?: string;
  readonly glob?: string;
  readonly ignoreCase?: boolean;
  readonly literal?: boolean;
  readonly context?: number;
  readonly limit?: number;
}

const DEFAULT_LIMIT = 100;
/** Fewer files are read faster than another program starts. */
const MIN_FOR_FILTER = 16;
const BATCH_FILES = 4000;
/** Of names on one command line. Windows allows 32,767 characters, other systems a mebibyte or more. */
const BATCH_LENGTH = { windows: 20_000, others: 240_000 };

const PARAMETERS: JsonObject = {
  type: "object",
  properties: {
    pattern: { type: "string", description: "A JavaScript regular expression, tried on each line" },
    path: { type: "string", description: "Folder or file to search; default: the workspace" },
    glob: { type: "string", description: "Only files like this, e.g. *.ts or src/**/*.{js,ts}" },
    ignoreCase: { type: "boolean" },
    literal: { type: "boolean", description: "Take the pattern as plain text" },
    context: { type: "integer", minimum: 0, description: "Lines shown around each match" },
    limit: { type: "integer", minimum: 1, description: "Matching lines at most; default 100" },
  },
  required: ["pattern"],
  additionalProperties: false,
};

/** The tool `grep`. Passes files over that are binary, hold secrets or cannot be read. */
export const grepTool: Tool<GrepArguments> = {
  name: "grep",
  description: "Searches files for lines that match, sorted by path. Hidden files are included; " +
    "what .gitignore names, .git and binary files are not. Symlinks are not followed.",
  parameters: PARAMETERS,
  group: "read",

  parse(args: JsonObject): ParsedArguments<GrepArguments> {
    const parsed = parseArguments(PARAMETERS, args);
    return parsed.ok ? { ok: true, value: parsed.value as unknown as GrepArguments } : parsed;
  },

  async run(args: GrepArguments, context: ToolContext): Promise<ToolOutcome> {
    context.signal.throwIfAborted();
    try {
      const { literal = false, ignoreCase = false } = args;
      const pattern = parseSearchPattern(args.pattern, { literal, ignoreCase });
      const accepts = globFilter(args.glob);
      const root = await openSearchRoot(args.path, context);
      if ("problem" in root) return errorOutcome(root.problem);
      if (root.kind === "file" && root.isCredentialFile("")) {
        return errorOutcome(`Denied by approval policy: ${args.path} is a credential file`);
      }
      using grep = new Grep(args, { pattern, root, context });
      const files = root.kind === "file" ? oneFile() : grep.filesLike(accepts);
      return textOutcome(await grep.run(files));
    } catch (error) {
      context.signal.throwIfAborted();
      if (error instanceof SyntaxError) return errorOutcome(syntaxProblem(error, args));
      return errorOutcome(`Cannot search: ${errorText(error)}`);
    }
  },
};

/** Thrown for a glob, to tell it from a pattern. */
class GlobSyntaxError extends SyntaxError {}

function syntaxProblem(error: SyntaxError, args: GrepArguments): string {
  return error instanceof GlobSyntaxError
    ? `glob: ${args.glob} is not a valid glob`
    : `pattern: ${errorText(error)}`;
}

function globFilter(glob: string | undefined): (path: string) => boolean {
  if (glob === undefined) return () => true;
  try {
    if (!glob.startsWith("!")) return globMatcher(glob);
    const excluded = globMatcher(glob.slice(1));
    return (path) => !excluded(path);
  } catch (error) {
    throw new GlobSyntaxError(errorText(error), { cause: error });
  }
}

async function* oneFile(): AsyncGenerator<string> {
  yield "";
}

class Grep implements Disposable {
  readonly #matcher: LineMatcher;
  readonly #pattern: SearchPattern;
  readonly #root: SearchRoot;
  readonly #context: ToolContext;
  readonly #around: number;
  readonly #limit: number;
  readonly #result = new SearchResult();
  #matches = 0;
  #hasLines = false;

  constructor(
    args: GrepArguments,
    options: { pattern: SearchPattern; root: SearchRoot; context: ToolContext },
  ) {
    this.#pattern = options.pattern;
    this.#matcher = new LineMatcher(options.pattern.regExp);
    this.#root = options.root;
    this.#context = options.context;
    this.#around = args.context ?? 0;
    this.#limit = args.limit ?? DEFAULT_LIMIT;
  }

  /** Ends a worker that still looks at a line. */
  [Symbol.dispose](): void {
    this.#matcher[Symbol.dispose]();
  }

  /** Paths below the root, in order. */
  async *filesLike(accepts: (path: string) => boolean): AsyncGenerator<string> {
    for await (const entry of walk(this.#root.path, this.#context)) {
      if (entry.kind !== "file" || !accepts(entry.path)) continue;
      if (!this.#root.isCredentialFile(entry.path)) yield entry.path;
    }
  }

  async run(files: AsyncGenerator<string>): Promise<string> {
    const { host, signal } = this.#context;
    const filter = await findFilter(host, this.#pattern);
    const length = host.platform === "windows" ? BATCH_LENGTH.windows : BATCH_LENGTH.others;
    // When enough is found, what the filter still looks at is of no interest.
    const enough = new AbortController();
    const asking = AbortSignal.any([signal, enough.signal]);
    try {
      let asked: AskedBatch | undefined;
      for await (const batch of batches(files, { length, prefix: this.#root.path.length + 1 })) {
        // The filter looks at this batch while the one before is read and the names of the next are found.
        const next = { batch, worthwhile: this.#ask(batch, { filter, signal: asking }) };
        next.worthwhile.catch(() => {});
        if (asked !== undefined) await this.#searchAll(asked);
        if (this.#result.isFull) return this.#result.text();
        asked = next;
      }
      if (asked !== undefined) await this.#searchAll(asked);
      return this.#result.text();
    } finally {
      enough.abort();
    }
  }

  /** Absolute paths of the files that may match; `undefined` when nobody can tell. */
  async #ask(
    batch: readonly string[],
    { filter, signal }: { filter: FileFilter | undefined; signal: AbortSignal },
  ): Promise<ReadonlySet<string> | undefined> {
    if (filter === undefined || batch.length < MIN_FOR_FILTER) return undefined;
    const files = batch.map((path) => this.#root.resolve(path));
    return await mayMatch(files, {
      host: this.#context.host,
      filter,
      folder: this.#root.path,
      signal,
    });
  }

  async #searchAll({ batch, worthwhile }: AskedBatch): Promise<void> {
    const files = await worthwhile;
    for (const path of batch) {
      if (files?.has(this.#root.resolve(path)) === false) continue;
      await this.#search(path);
      if (this.#result.isFull) return;
    }
  }

  async #search(path: string): Promise<void> {
    const { host, signal } = this.#context;
    const name = shownPath(this.#root.name(path));
    let last: number | undefined;
    try {
      const lines = searchFile(this.#root.resolve(path), {
        host,
        signal,
        matcher: this.#matcher,
        context: this.#around,
      });
      for await (const line of lines) {
        if (line.isMatch && ++this.#matches > this.#limit) {
          const count = this.#limit === 1 ? "1 match" : `${this.#limit} matches`;
          this.#result.cut(`There are more than ${count}; raise limit or narrow the search`);
          return;
        }
        for (const shown of [...line.before, line]) {
          const isApart = last === undefined ? this.#hasLines : shown.number > last + 1;
          if (this.#around > 0 && isApart) this.#result.add("--");
          last = shown.number;
          this.#hasLines = true;
          const text = shownLine(shown.text);
          const mark = shown === line && line.isMatch ? ":" : "-";
          this.#result.add(`${name}${mark}${shown.number}${mark} ${text}`);
        }
        if (this.#result.isFull) return;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof SlowPatternError) throw new Error(`pattern: ${error.message} (${name})`);
      // A file of a folder that cannot be read is passed over; one that was named is not.
      if (path === "" || !(error instanceof HostError)) throw error;
    }
  }
}

interface AskedBatch {
  readonly batch: readonly string[];
  readonly worthwhile: Promise<ReadonlySet<string> | undefined>;
}

async function* batches(
  files: AsyncGenerator<string>,
  limit: { length: number; prefix: number },
): AsyncGenerator<string[]> {
  let batch: string[] = [];
  let length = 0;
  for await (const path of files) {
    batch.push(path);
    length += limit.prefix + path.length;
    if (batch.length < BATCH_FILES && length < limit.length) continue;
    yield batch;
    batch = [];
    length = 0;
  }
  if (batch.length > 0) yield batch;
}
