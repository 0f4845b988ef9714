/**
 * The command line: arguments -> what to run. Pure: looks at no file and no environment but what it is given. Where the dialects
 * differ, their rules objects say how; nothing here asks for a dialect by name, except that `--mode acp` is short for one.
 */

import type { ThinkingLevel } from "../agent/model.ts";
import { COMMON_OPTIONS } from "./common_options.ts";
import { GivenOptions } from "./given_options.ts";
import { parseSubcommand, type Subcommand } from "./parse_subcommand.ts";
import { type OptionTable, readArguments, usage } from "./read_arguments.ts";
import { COMMAND_LINE_RULES } from "../dialects/command_line_rules.ts";

export const DIALECT_NAMES = ["circle", "nimlet", "pi", "acp"] as const;
export type DialectName = typeof DIALECT_NAMES[number];

/** `line` is the interactive mode, which does not exist yet. */
export type Mode = "rpc" | "json" | "print" | "line";

export type ApprovalMode = "deny" | "ask" | "allow";

/** What parsing may know of the surroundings. */
export interface CommandLineEnvironment {
  /** `WEIR_DIALECT`. */
  readonly dialect?: string | undefined;
  /** Whether a person sits at stdin and stdout. Without a mode, everything else is print mode. */
  readonly isTerminal: boolean;
  /** Whether a word names an existing folder; asked only by dialects whose folder argument depends on it. */
  isFolder(path: string): boolean;
}

/** The settings of a run. What was not given is `undefined`, `false` or empty. */
export interface RunOptions {
  readonly model: string | undefined;
  readonly provider: string | undefined;
  readonly models: readonly string[] | undefined;
  readonly thinking: ThinkingLevel | undefined;
  readonly tools: readonly string[] | undefined;
  readonly excludeTools: readonly string[] | undefined;
  readonly noTools: boolean;
  /** Text, or the name of a file with it. */
  readonly systemPrompt: string | undefined;
  /** Texts, or names of files with them, in the order given. */
  readonly appendSystemPrompt: readonly string[];
  readonly noContextFiles: boolean;
  /** White space collapsed, at most 80 characters. */
  readonly name: string | undefined;
  readonly session: string | undefined;
  readonly sessionId: string | undefined;
  readonly fork: string | undefined;
  readonly continue: boolean;
  readonly resume: boolean;
  readonly noSession: boolean;
  readonly sessionDir: string | undefined;
  /** `allow` after `--yolo` too. */
  readonly approvals: ApprovalMode | undefined;
  readonly extensions: boolean;
  /** Trust in the folder for this run; `undefined` leaves it to the trust store. */
  readonly trust: boolean | undefined;
  readonly apiKey: string | undefined;
  readonly baseUrl: string | undefined;
  readonly verbose: boolean;
}

export interface RunCommandLine {
  readonly kind: "run";
  /** `undefined` on a terminal without a mode: there is nothing to run. */
  readonly mode: Mode | undefined;
  readonly dialect: DialectName;
  readonly folder: string | undefined;
  readonly messages: readonly string[];
  /** Paths of `@path` words, without the `@`. */
  readonly atFiles: readonly string[];
  readonly options: RunOptions;
  /** Lines for stderr about what was accepted without effect. */
  readonly warnings: readonly string[];
}

export type CommandLine =
  | RunCommandLine
  | Subcommand
  | { readonly kind: "help" }
  | { readonly kind: "version" };

/** Options that cannot be given together, or not in a mode. */
export interface OptionConflict {
  /** Key of the option. */
  readonly option: string;
  /** Keys of options that it cannot go with. */
  readonly with?: readonly string[];
  /** Modes that it cannot go with. */
  readonly modes?: readonly Mode[];
  /** The error; both are as they were written, `--mode json` for a mode. */
  text(written: string, other: string): string;
}

/** What a dialect says about the command line. */
export interface CommandLineRules {
  /** More spellings; one that is common too replaces it. */
  readonly options?: OptionTable;
  /** Says something about an option that has no effect. */
  readonly ignored?: (written: string, value: string) => string;
  /** Which word is the folder: the first one without white space, only when it exists, or none. */
  readonly folder: "first_word" | "existing_first_word" | "none";
  /** Whether words that begin with `@` name files; otherwise they are messages. */
  readonly hasAtFiles: boolean;
  /** Modes of the dialect. */
  readonly modes: readonly Mode[];
  /** What follows from a message or `@file` in RPC mode: the error, or `ignore` and a line about the words. */
  readonly rpcWords: {
    readonly error: string;
    readonly ignoreMessages?: (words: string) => string;
  };
  /** Checked in their order. */
  readonly conflicts: readonly OptionConflict[];
  /** Options that need another one. */
  readonly requires?: readonly { option: string; needs: string; text: string }[];
  /** The level that a `--thinking` value means; throws `StartError`. */
  readThinking(value: string): ThinkingLevel;
  /** Throws `StartError` when the value of `--session-id`, `--session` or `--fork` cannot be one. */
  checkSessionText(key: "sessionId" | "session" | "fork", value: string): void;
}

/**
 * Reads the arguments of the program. Throws `StartError` with the text for the user: kind `usage`, or another kind where a dialect treats a
 * bad value as a failed start.
 */
export function parseCommandLine(
  args: readonly string[],
  environment: CommandLineEnvironment,
): CommandLine {
  const subcommand = parseSubcommand(args);
  if (subcommand) return subcommand;
  const dialect = findDialect(args, environment);
  const rules = COMMAND_LINE_RULES[dialect];
  const { options, words, rest } = readArguments(args, { ...COMMON_OPTIONS, ...rules.options });
  const given = new GivenOptions(options);
  if (given.flag("help")) return { kind: "help" };
  if (given.flag("version")) return { kind: "version" };
  if (given.flag("setup")) return parseSubcommand(["setup"])!;

  const mode = findMode(given, environment);
  checkDialect(given, { mode, dialect, rules });
  const runOptions = readRunOptions(given, rules);
  const { folder, messages, atFiles } = sortWords({ words, rest, rules, environment });
  const warnings = options.flatMap(({ written, spec, value }) =>
    spec.key === "ignored" && spec.kind !== "switch" && rules.ignored
      ? [rules.ignored(written, value)]
      : []
  );
  if (mode === "rpc") {
    const { error, ignoreMessages } = rules.rpcWords;
    if (atFiles.length > 0 || given.flag("print")) throw usage(error);
    if (messages.length > 0) {
      if (!ignoreMessages) throw usage(error);
      warnings.push(ignoreMessages(messages.join(" ")));
    }
  }
  checkConflicts(given, { mode, rules });
  const isIgnored = mode === "rpc";
  return {
    kind: "run",
    mode,
    dialect,
    folder,
    messages: isIgnored ? [] : messages,
    atFiles,
    options: runOptions,
    warnings,
  };
}

/** The dialect whose texts an error of these arguments should have; `undefined` when none is meant. Never throws. */
export function dialectOfArguments(
  args: readonly string[],
  environment: CommandLineEnvironment,
): DialectName | undefined {
  try {
    return parseSubcommand(args) === undefined ? findDialect(args, environment) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Finds the dialect before anything else is read, because it decides which options there are. No value can begin with `-`, so each
 * `--dialect` and `--mode` before `--` is that option.
 */
function findDialect(args: readonly string[], environment: CommandLineEnvironment): DialectName {
  const mode = lastValue(args, "--mode");
  const named = lastValue(args, "--dialect");
  if (named !== undefined) {
    const dialect = asDialect(named, "--dialect");
    if (mode === "acp" && named !== "acp") {
      throw usage(`--mode acp and --dialect ${dialect} cannot go together`);
    }
    return dialect;
  }
  if (mode === "acp") return "acp";
  if (!environment.dialect) return "circle";
  const dialect = asDialect(environment.dialect, "WEIR_DIALECT");
  // The environment is only a default: a dialect without one-shot modes does not stand in their way.
  const isOffered = mode === "rpc" || COMMAND_LINE_RULES[dialect].modes.includes("print");
  return isOffered ? dialect : "circle";
}

function lastValue(args: readonly string[], option: string): string | undefined {
  let value: string | undefined;
  for (let index = 0; index < args.length && args[index] !== "--"; index++) {
    if (args[index] === option) value = args[index + 1];
    else if (args[index].startsWith(`${option}=`)) value = args[index].slice(option.length + 1);
  }
  return value === "" || value?.startsWith("-") ? undefined : value;
}

/** The dialect of that name. Throws `StartError` (`usage`), which names `source`. */
export function asDialect(name: string, source: string): DialectName {
  const dialect = DIALECT_NAMES.find((known) => known === name);
  if (!dialect) throw usage(`${source} must be circle, nimlet, pi or acp`);
  return dialect;
}

function findMode(given: GivenOptions, environment: CommandLineEnvironment): Mode | undefined {
  const named = given.text("mode");
  if (named !== undefined && !["text", "json", "rpc", "acp"].includes(named)) {
    throw usage("--mode must be text, json, rpc or acp");
  }
  const mode = named === "acp" ? "rpc" : named === "text" ? "print" : named as Mode | undefined;
  if (given.flag("line")) {
    if (named !== undefined) throw usage(`--mode ${named} and --line cannot go together`);
    if (given.flag("print")) throw usage(`${given.written("print")} and --line cannot go together`);
    return "line";
  }
  if (mode !== undefined) return mode;
  return given.flag("print") || !environment.isTerminal ? "print" : undefined;
}

function checkDialect(
  given: GivenOptions,
  { mode, dialect, rules }: {
    mode: Mode | undefined;
    dialect: DialectName;
    rules: CommandLineRules;
  },
): void {
  if (mode === undefined || rules.modes.includes(mode)) return;
  const written = describeMode(given, mode);
  throw usage(
    written === undefined
      ? `--dialect ${dialect} needs --mode rpc`
      : `${written} and --dialect ${dialect} cannot go together`,
  );
}

/** How the mode was asked for, `undefined` when it follows from the surroundings. */
function describeMode(given: GivenOptions, mode: Mode): string | undefined {
  const named = given.text("mode");
  return named !== undefined ? `--mode ${named}` : given.written(mode);
}

function readRunOptions(given: GivenOptions, rules: CommandLineRules): RunOptions {
  const thinking = given.text("thinking");
  for (const key of ["sessionId", "session", "fork"] as const) {
    const value = given.text(key);
    if (value !== undefined) rules.checkSessionText(key, value);
  }
  return {
    model: given.text("model")?.trim(),
    provider: given.text("provider"),
    models: given.list("models"),
    thinking: thinking === undefined ? undefined : rules.readThinking(thinking),
    tools: given.list("tools"),
    excludeTools: given.list("excludeTools"),
    noTools: given.flag("noTools") ?? false,
    systemPrompt: given.text("systemPrompt"),
    appendSystemPrompt: given.texts("appendSystemPrompt"),
    noContextFiles: given.flag("noContextFiles") ?? false,
    name: readName(given.text("name")),
    session: given.text("session"),
    sessionId: given.text("sessionId"),
    fork: given.text("fork"),
    continue: given.flag("continue") ?? false,
    resume: given.flag("resume") ?? false,
    noSession: given.flag("noSession") ?? false,
    sessionDir: given.text("sessionDir"),
    approvals: readApprovals(given),
    extensions: given.flag("extensions") ?? false,
    trust: readTrust(given),
    apiKey: given.text("apiKey"),
    baseUrl: given.text("baseUrl"),
    verbose: given.flag("verbose") ?? false,
  };
}

function readName(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  return [...text.replace(/\s+/g, " ").trim()].slice(0, 80).join("").trimEnd();
}

function readApprovals(given: GivenOptions): ApprovalMode | undefined {
  const text = given.text("approvals");
  const mode = (["deny", "ask", "allow"] as const).find((known) => known === text);
  if (text !== undefined && !mode) throw usage("--approvals must be deny, ask or allow");
  if (!given.flag("yolo")) return mode;
  if (mode === "deny" || mode === "ask") {
    throw usage(`--yolo and --approvals ${mode} cannot go together`);
  }
  return "allow";
}

function readTrust(given: GivenOptions): boolean | undefined {
  const [trusting] = given.writtenAs("trust", true);
  const [distrusting] = given.writtenAs("trust", false);
  if (trusting !== undefined && distrusting !== undefined) {
    throw usage(`${trusting} and ${distrusting} cannot go together`);
  }
  return given.flag("trust");
}

function sortWords({ words, rest, rules, environment }: {
  words: readonly string[];
  rest: readonly string[];
  rules: CommandLineRules;
  environment: CommandLineEnvironment;
}): { folder: string | undefined; messages: string[]; atFiles: string[] } {
  const isAtFile = (word: string) => rules.hasAtFiles && /^@./s.test(word);
  const atFiles = words.filter(isAtFile).map((word) => word.slice(1));
  const messages = words.filter((word) => !isAtFile(word));
  const [first] = messages;
  let folder: string | undefined;
  if (first !== undefined && /^\S+$/.test(first) && rules.folder !== "none") {
    if (rules.folder === "first_word" || environment.isFolder(first)) folder = messages.shift();
  }
  return { folder, messages: [...messages, ...rest], atFiles };
}

function checkConflicts(
  given: GivenOptions,
  { mode, rules }: { mode: Mode | undefined; rules: CommandLineRules },
): void {
  for (const conflict of rules.conflicts) {
    const written = given.written(conflict.option);
    if (written === undefined) continue;
    if (mode !== undefined && conflict.modes?.includes(mode)) {
      throw usage(conflict.text(written, describeMode(given, mode) ?? mode));
    }
    for (const key of conflict.with ?? []) {
      const other = given.written(key);
      if (other !== undefined) throw usage(conflict.text(written, other));
    }
  }
  for (const { option, needs, text } of rules.requires ?? []) {
    if (given.written(option) !== undefined && given.written(needs) === undefined) {
      throw usage(text);
    }
  }
}
