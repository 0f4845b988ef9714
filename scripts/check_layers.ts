// The rules of who may import whom, and that only the host's own folder names what only Deno or Node has. The rules
// are the tables at the top; a type-only import is an import.
import { blankLiterals } from "./blank_literals.ts";

/** A line that breaks a rule. */
export interface Violation {
  path: string;
  /** From 1. */
  line: number;
  message: string;
}

/** What each part of src/ may import besides itself; a path with a dot in it is that file alone. */
const allowed: Record<string, string[]> = {
  host: [],
  errors: [],
  version: [],
  wire: [],
  agent: ["host"],
  models: ["agent"],
  tools: ["agent", "host"],
  mcp: ["agent", "wire", "host"],
  extensions: ["src/tools/arguments.ts", "agent", "wire", "host"],
  // Questions to a client and their answers belong together by number, whatever the wire.
  session: ["src/wire/pending_calls.ts", "agent", "tools", "host"],
  dialects: [
    "src/session/command.ts",
    "src/session/event.ts",
    "src/session/policy.ts",
    "src/session/attachments.ts",
    // The session format is what one of the wire languages speaks.
    "src/session/stored_usage.ts",
    // What a connection with several conversations is made of: their interfaces, and the one queue that keeps everything in order.
    "src/session/client_help.ts",
    "src/session/client_watch.ts",
    "src/session/job_record.ts",
    "src/session/jobs.ts",
    "src/session/plan_change.ts",
    "src/session/record_queue.ts",
    "src/session/seat.ts",
    "src/session/seats.ts",
    "src/session/settings.ts",
    "src/tools/question.ts",
    "agent",
    "wire",
    "host",
  ],
  serve: ["wire", "dialects", "session"],
  config: ["host", "agent"],
  memory: ["host"],
  deno: [
    "host",
    "src/agent/visible_text.ts",
    "src/cli/command_io.ts",
    "src/client/client_process.ts",
    "src/memory/posix_paths.ts",
  ],
  cli: ["config", "dialects", "host", "agent", "models", "session", "start"],
  // A client starts its program through the host's code, the one place outside main that does so, and only when it is asked to.
  client: ["wire", "src/deno/start_program.ts"],
  // What mod.ts gives to other programs; of the start it needs only the dialects by name.
  library: [
    "agent",
    "dialects",
    "host",
    "memory",
    "serve",
    "session",
    "wire",
    "src/start/load_dialect.ts",
  ],
  print: ["agent", "cli", "dialects", "host", "session", "start"],
  start: [
    "src/tools/child_environment.ts",
    "agent",
    "cli",
    "config",
    "dialects",
    "extensions",
    "host",
    "mcp",
    "models",
    "session",
  ],
};
/** Files that a dialect may import besides: how it reads the command line. */
const forCommandLines = [
  "src/cli/command_line.ts",
  "src/cli/session_id.ts",
  "src/cli/read_arguments.ts",
];
/** Everybody may import these. */
const forAll = ["errors", "version"];
/** Parts that may be imported with `import()` only, by whom. */
const lazily: Record<string, string[]> = {
  client: ["deno"],
  cli: ["models"],
  start: ["models", "mcp", "extensions"],
};
/** These join the parts; only they see `deno` and `cli`. */
const joints = ["main"];
const forJoints = ["deno", "cli", "main"];
/** Packages with a single home, and those that only tests may have. */
const homes: Record<string, string> = {
  "openai": "src/models/openai.ts",
  "@std/jsonc": "src/config/config.ts",
};
const forTests = ["@std/assert", "@std/testing", "ajv", "esbuild"];

interface Import {
  specifier: string;
  offset: number;
  isDynamic: boolean;
}

/** Checks mod.ts and the files of src/; `files` maps a path from the repository's root to its text. */
export function findLayerViolations(files: ReadonlyMap<string, string>): Violation[] {
  const violations: Violation[] = [];
  for (const [path, text] of files) {
    const code = blankLiterals(text);
    const report = (offset: number, message: string) =>
      violations.push({ path, line: text.slice(0, offset).split("\n").length, message });
    for (const found of findImports(text, code)) {
      const message = judgeImport(path, found);
      if (message) report(found.offset, message);
    }
    for (const { offset, message } of judgeCode(path, code)) report(offset, message);
  }
  return violations;
}

function findImports(text: string, code: string): Import[] {
  const imports: Import[] = [];
  for (const match of code.matchAll(/\b(?:from|import)\s*(\(?)\s*(["'`])/g)) {
    // `Array.from("abc")` and the like.
    if (match[0].startsWith("from") && match[1]) continue;
    if (code[match.index - 1] === ".") continue;
    const start = match.index + match[0].length;
    const end = code.indexOf(match[2], start);
    imports.push({
      specifier: text.slice(start, end < 0 ? undefined : end),
      offset: match.index,
      isDynamic: match[1] === "(",
    });
  }
  return imports;
}

function judgeImport(path: string, { specifier, isDynamic }: Import): string | undefined {
  if (/^\.{0,2}\//.test(specifier)) {
    const target = decodeURIComponent(new URL(specifier, `file:///${path}`).pathname).slice(1);
    return judgePath(path, target, isDynamic);
  }
  if (specifier.startsWith("node:")) {
    return isHostCode(path) ? undefined : `only src/deno and src/main.ts may import ${specifier}`;
  }
  if (/^\w+:/.test(specifier)) return `${specifier} has to be a package of the import map`;
  const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
  if (forTests.includes(name)) return `only tests and scripts may import ${name}`;
  if (Object.hasOwn(homes, name) && homes[name] !== path) {
    return `only ${homes[name]} may import ${name}`;
  }
  return undefined;
}

function judgePath(path: string, target: string, isDynamic: boolean): string | undefined {
  const from = partOf(path) ?? path;
  const to = partOf(target);
  const refused = `${from} must not import ${to ?? "outside src"} (${target})`;
  if (to === undefined) return refused;
  if (from === "mod") {
    if (to === "main") return isDynamic ? undefined : `mod.ts may only import ${target} lazily`;
    return forJoints.includes(to) ? refused : undefined;
  }
  if (from === "dialects" && to === "dialects") return judgeDialects(path, target);
  if (from === to || forAll.includes(to)) return undefined;
  if (joints.includes(from)) return to === "mod" ? refused : undefined;
  if (/\/command_line_rules\.ts$/.test(path) && forCommandLines.includes(target)) return undefined;
  const rules = allowed[from];
  if (!rules) return `${path} belongs to no known part, add it to scripts/check_layers.ts`;
  if (!rules.includes(to) && !rules.includes(target)) return refused;
  if (lazily[from]?.includes(to) && !isDynamic) {
    return `${from} may only import ${to} lazily, with import() (${target})`;
  }
  return undefined;
}

/** A dialect sees what all dialects share, and nothing of another one. */
function judgeDialects(path: string, target: string): string | undefined {
  const [from, to] = [path, target].map((file) => /^src\/dialects\/([^/]+)\//.exec(file)?.[1]);
  if (from === undefined || to === undefined || from === to) return undefined;
  return `dialect ${from} must not import dialect ${to} (${target})`;
}

/** `src/wire/line_stream.ts` → `wire`, `src/serve.ts` → `serve`, `mod.ts` → `mod`, elsewhere undefined. */
function partOf(path: string): string | undefined {
  if (path === "mod.ts") return "mod";
  return /^src\/([^/]+?)(?:\.tsx?)?(?:\/|$)/.exec(path)?.[1];
}

function isHostCode(path: string): boolean {
  return path.startsWith("src/deno/") || path === "src/main.ts";
}

function* judgeCode(path: string, code: string): Generator<{ offset: number; message: string }> {
  if (!isHostCode(path)) {
    for (
      const { index } of code.matchAll(
        /(?<![\w$)\]]\s*\??\.\s*)\bDeno\b|\bglobalThis\s*\??\.\s*Deno\b/g,
      )
    ) {
      yield { offset: index, message: "only src/deno and src/main.ts may name Deno" };
    }
  }
  if (!path.startsWith("src/dialects/")) {
    const asked =
      /\bdialect(?:\??\.(?:name|id))?\s*[!=]==?\s*["'`]|["'`]\s*[!=]==?\s*(?:[\w$]+\.)*dialect\b|\bswitch\s*\([^()]*\bdialect(?:\??\.(?:name|id))?\s*\)/g;
    for (const { index } of code.matchAll(asked)) {
      yield {
        offset: index,
        message: "only src/dialects may ask which dialect it is, use the session's policy",
      };
    }
  }
}

async function readSources(root: URL): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const read = async (path: string) => {
    files.set(path, await Deno.readTextFile(new URL(path, root)));
  };
  const walk = async (folder: string) => {
    for await (const { name, isDirectory } of Deno.readDir(new URL(folder, root))) {
      if (isDirectory) await walk(`${folder}${name}/`);
      else if (/\.tsx?$/.test(name)) await read(`${folder}${name}`);
    }
  };
  await read("mod.ts");
  await walk("src/");
  return files;
}

if (import.meta.main) {
  const files = await readSources(new URL("..", import.meta.url));
  const violations = findLayerViolations(files);
  for (const { path, line, message } of violations) console.error(`${path}:${line}: ${message}`);
  console.log(`${files.size} files, ${violations.length} layer violations`);
  if (violations.length > 0) Deno.exitCode = 1;
}
