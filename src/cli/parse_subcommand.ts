/** The arguments of `weir setup`, `weir trust` and the other sub-commands -> what to do. Pure. */

import { GivenOptions } from "./given_options.ts";
import { type OptionTable, readArguments, usage } from "./read_arguments.ts";
import { readSetupOptions, SETUP_OPTIONS, type SetupOptions } from "./setup_options.ts";

export interface SetupCommand extends SetupOptions {
  readonly kind: "setup";
}

export interface TrustCommand {
  readonly kind: "trust";
  readonly action: "add" | "remove" | "list";
  /** `undefined`: the current folder. */
  readonly folder: string | undefined;
}

export interface SessionsCommand {
  readonly kind: "sessions";
  /** Those of every folder. */
  readonly all: boolean;
  readonly json: boolean;
  readonly sessionDir: string | undefined;
}

export interface ExportCommand {
  readonly kind: "export";
  /** The id or the end of it. */
  readonly session: string;
  readonly file: string | undefined;
  readonly sessionDir: string | undefined;
}

export interface SchemaCommand {
  readonly kind: "schema";
  /** As it was written, not checked; `undefined` when not given. */
  readonly dialect: string | undefined;
  /** TypeScript in place of JSON Schema. */
  readonly types: boolean;
}

export interface DoctorCommand {
  readonly kind: "doctor";
  readonly json: boolean;
}

export type Subcommand =
  | SetupCommand
  | TrustCommand
  | SessionsCommand
  | ExportCommand
  | SchemaCommand
  | DoctorCommand
  | { readonly kind: "help" };

interface SubcommandRules {
  readonly options: OptionTable;
  /** Most words that it takes. */
  readonly words: number;
  read(given: GivenOptions, words: readonly string[]): Subcommand;
}

const help = { kind: "switch", key: "help" } as const;
const HELP: OptionTable = { "-h": help, "--help": help };
const JSON_OPTION: OptionTable = { "--json": { kind: "switch", key: "json" } };
const SESSION_DIR: OptionTable = { "--session-dir": { kind: "text", key: "sessionDir" } };

const RULES: Readonly<Record<string, SubcommandRules>> = {
  setup: {
    options: SETUP_OPTIONS,
    words: 0,
    read: (given) => ({ kind: "setup", ...readSetupOptions(given) }),
  },
  trust: {
    options: {
      "--remove": { kind: "switch", key: "remove" },
      "--list": { kind: "switch", key: "list" },
    },
    words: 1,
    read: (given, [folder]) => {
      if (given.flag("remove") && given.flag("list")) {
        throw usage("--remove and --list cannot go together");
      }
      if (given.flag("list") && folder !== undefined) throw usage("--list takes no folder");
      const action = given.flag("remove") ? "remove" : given.flag("list") ? "list" : "add";
      return { kind: "trust", action, folder };
    },
  },
  sessions: {
    options: { "--all": { kind: "switch", key: "all" }, ...JSON_OPTION, ...SESSION_DIR },
    words: 0,
    read: (given) => ({
      kind: "sessions",
      all: given.flag("all") ?? false,
      json: given.flag("json") ?? false,
      sessionDir: given.text("sessionDir"),
    }),
  },
  export: {
    options: SESSION_DIR,
    words: 2,
    read: (given, [session, file]) => {
      if (session === undefined) {
        throw usage("weir export needs the id of a session; weir sessions lists them");
      }
      return { kind: "export", session, file, sessionDir: given.text("sessionDir") };
    },
  },
  schema: {
    options: {
      "--dialect": { kind: "text", key: "dialect" },
      "--types": { kind: "switch", key: "types" },
    },
    words: 0,
    read: (given) => ({
      kind: "schema",
      dialect: given.text("dialect"),
      types: given.flag("types") ?? false,
    }),
  },
  doctor: {
    options: JSON_OPTION,
    words: 0,
    read: (given) => ({ kind: "doctor", json: given.flag("json") ?? false }),
  },
};

/**
 * The sub-command, when the first argument is the name of one. Throws `StartError` (`usage`) for options and words that it does not take.
 */
export function parseSubcommand(args: readonly string[]): Subcommand | undefined {
  const name = args[0] ?? "";
  if (!Object.hasOwn(RULES, name)) return undefined;
  const rules = RULES[name];
  const { options, words, rest } = readArguments(args.slice(1), { ...HELP, ...rules.options });
  const given = new GivenOptions(options);
  if (given.flag("help")) return { kind: "help" };
  const all = [...words, ...rest];
  if (all.length > rules.words) {
    throw usage(`weir ${name} does not take "${all[rules.words]}"; see weir --help`);
  }
  return rules.read(given, all);
}
