// Stands in for `jsr:@std/cli/parse-args` where only the npm registry is reachable. Knows nothing of the project.
// `node:util` has a parser too, but no numbers, no unknown-option hook and no `--flag value` without a schema.

type Names = string | undefined;
type AliasMap = Record<string, string | readonly string[]>;

/** The names that mean the same option as `Key`. */
type NamesOf<Key, Aliases> = Key extends keyof Aliases
  ? Key | (Aliases[Key] extends readonly (infer Item)[] ? Item : Aliases[Key])
  : Key;
type WithAliases<Flags, Aliases> = {
  [Key in keyof Flags as Extract<NamesOf<Key, Aliases>, PropertyKey>]: Flags[Key];
};
type Negated<Key, Negatable> = Key extends Negatable ? false : never;
type StringFlags<Strings, Collected, Negatable> =
  & { [Key in Extract<Exclude<Strings, Collected>, string>]?: string | Negated<Key, Negatable> }
  & { [Key in Extract<Extract<Strings, Collected>, string>]: string[] | Negated<Key, Negatable> };
type BooleanFlags<Booleans, Collected> = {
  [Key in Extract<Booleans, string>]: Key extends Collected ? boolean[] : boolean;
};
type OtherCollected<Strings, Booleans, Collected> = {
  [Key in Extract<Exclude<Collected, Strings | Booleans>, string>]: unknown[];
};
type WithDefaults<Flags, Defaults> = Defaults extends Record<string, unknown> ?
    & Omit<Flags, keyof Defaults>
    & {
      [Key in keyof Defaults]: Key extends keyof Flags ? NonNullable<Flags[Key]> | Defaults[Key]
        : unknown;
    }
  : Flags;
type Flat<T> = { [Key in keyof T]: T[Key] };
/** Without any declared name the flags may be anything. */
type Flags<Booleans, Strings, Collected, Negatable, Defaults, Aliases> =
  [Extract<Booleans | Strings | Collected, string>] extends [never]
    // deno-lint-ignore no-explicit-any -- the real signature
    ? Record<string, any>
    :
      & { [x: string]: unknown }
      & Flat<
        WithAliases<
          WithDefaults<
            & StringFlags<Strings, Collected, Negatable>
            & BooleanFlags<Booleans, Collected>
            & OtherCollected<Strings, Booleans, Collected>,
            Defaults
          >,
          Aliases
        >
      >;

/** What {@linkcode parseArgs} returns: the flags, the rest in `_`, and with the option `"--"` what came after `--`. */
export type Args<
  // deno-lint-ignore no-explicit-any -- the real signature
  TArgs extends Record<string, unknown> = Record<string, any>,
  TDoubleDash extends boolean | undefined = undefined,
> =
  & TArgs
  & { _: Array<string | number> }
  & (true extends TDoubleDash ? { "--": string[] } : unknown);

/** How {@linkcode parseArgs} reads the arguments. */
export interface ParseOptions<
  Booleans extends boolean | Names = boolean | Names,
  Strings extends Names = Names,
  Collected extends Names = Names,
  Negatable extends Names = Names,
  Defaults extends Record<string, unknown> | undefined = Record<string, unknown> | undefined,
  Aliases extends AliasMap | undefined = AliasMap | undefined,
  DoubleDash extends boolean | undefined = boolean | undefined,
> {
  /** Arguments after `--` go to the result's `"--"` instead of its `_`. */
  "--"?: DoubleDash;
  /** Other names of an option; each is set in the result. */
  alias?: Aliases;
  /** Options without a value; false when absent. `true`: every `--option` without `=` is one. */
  boolean?: Booleans | ReadonlyArray<Extract<Booleans, string>>;
  /** Values of absent options. */
  default?: Defaults;
  /** Everything from the first argument that is no option goes to `_`. */
  stopEarly?: boolean;
  /** Options whose value stays text, also when it looks like a number. */
  string?: Strings | ReadonlyArray<Extract<Strings, string>>;
  /** Options that may be repeated; their value is an array. */
  collect?: Collected | ReadonlyArray<Extract<Collected, string>>;
  /** Options that `--no-option` sets to false. */
  negatable?: Negatable | ReadonlyArray<Extract<Negatable, string>>;
  /** Asked about each argument that is not declared; returning false leaves it out. */
  unknown?: (arg: string, key?: string, value?: unknown) => unknown;
}

type Value = string | number | boolean;

/** Reads command line arguments into an object. Never throws because of an argument. */
export function parseArgs<
  DoubleDash extends boolean | undefined = undefined,
  Booleans extends boolean | Names = undefined,
  Strings extends Names = undefined,
  Collected extends Names = undefined,
  Negatable extends Names = undefined,
  Defaults extends Record<string, unknown> | undefined = undefined,
  const Aliases extends AliasMap | undefined = undefined,
>(
  args: string[],
  options: ParseOptions<Booleans, Strings, Collected, Negatable, Defaults, Aliases, DoubleDash> =
    {},
): Args<Flags<Booleans, Strings, Collected, Negatable, Defaults, Aliases>, DoubleDash> {
  const dashes = args.indexOf("--");
  const reader = new ArgumentReader(options as ParseOptions);
  reader.read(dashes < 0 ? args : args.slice(0, dashes));
  const rest = dashes < 0 ? [] : args.slice(dashes + 1);
  return reader.finish(rest) as Args<
    Flags<Booleans, Strings, Collected, Negatable, Defaults, Aliases>,
    DoubleDash
  >;
}

class ArgumentReader {
  readonly #options: ParseOptions;
  readonly #names = new Map<string, Set<string>>();
  readonly #booleans: Set<string>;
  readonly #strings: Set<string>;
  readonly #collected: Set<string>;
  readonly #negatable: Set<string>;
  readonly #result: Record<string, unknown> & { _: Array<string | number> } = { _: [] };

  constructor(options: ParseOptions) {
    this.#options = options;
    for (const [key, value] of Object.entries(options.alias ?? {})) {
      const names = new Set([key, ...(typeof value === "string" ? [value] : value)]);
      for (const name of names) this.#names.set(name, names);
    }
    const { boolean } = options;
    this.#booleans = this.#withAliases(typeof boolean === "boolean" ? undefined : boolean);
    this.#strings = this.#withAliases(options.string);
    this.#collected = this.#withAliases(options.collect);
    this.#negatable = this.#withAliases(options.negatable);
  }

  #withAliases(names: string | readonly string[] | undefined): Set<string> {
    const list = (typeof names === "string" ? [names] : names ?? []).filter(Boolean);
    return new Set(list.flatMap((name) => [name, ...this.#names.get(name) ?? []]));
  }

  read(args: string[]): void {
    for (let index = 0; index < args.length; index++) {
      const arg = args[index];
      const next = args[index + 1];
      if (/^--./s.test(arg)) {
        if (this.#readLong(arg, next)) index++;
      } else if (/^-./s.test(arg)) {
        if (this.#readShort(arg, next)) index++;
      } else {
        if (this.#options.unknown?.(arg) !== false) {
          this.#result._.push(this.#strings.has("_") ? arg : toNumber(arg));
        }
        if (this.#options.stopEarly) {
          this.#result._.push(...args.slice(index + 1));
          return;
        }
      }
    }
  }

  /** Returns true when the option took `next` as its value. */
  #readLong(arg: string, next: string | undefined): boolean {
    // The first `=` that has something before it; without anything after it it belongs to the name.
    const equals = arg.indexOf("=", 3);
    if (equals > 0 && equals < arg.length - 1) {
      // The prefix `no-` is no part of the name here, whatever the option.
      const key = arg.slice(/^--no-[^=]/.test(arg) ? 5 : 2, equals);
      const value = arg.slice(equals + 1);
      this.#set(key, this.#booleans.has(key) ? value !== "false" : value, arg);
      return false;
    }
    const key = equals > 0 ? arg.slice(2, equals) : arg.slice(2);
    const negated = key.startsWith("no-") ? key.slice(3) : "";
    if (negated !== "" && this.#negatable.has(negated)) {
      this.#set(negated, false, arg, { collect: false });
      return false;
    }
    const takesValue = !this.#booleans.has(key) && this.#options.boolean !== true;
    return this.#setWithNext(key, arg, { next, takesValue: takesValue && !next?.startsWith("-") });
  }

  /** Reads `-abc`: flags `a`, `b` and `c`, or a flag with the rest as its value. */
  #readShort(arg: string, next: string | undefined): boolean {
    for (let index = 1; index < arg.length - 1; index++) {
      const key = arg[index];
      const rest = arg.slice(index + 1);
      if (rest === "-") {
        this.#set(key, rest, arg);
        continue;
      }
      if (/[A-Za-z]/.test(key) && rest.includes("=")) {
        this.#set(key, rest.slice(rest.indexOf("=") + 1), arg);
        return false;
      }
      const isNumber = /[A-Za-z]/.test(key) && /-?\d+(\.\d*)?(e-?\d+)?$/.test(rest);
      if (isNumber || /^\W./.test(rest)) {
        this.#set(key, rest, arg);
        return false;
      }
      this.#set(key, this.#strings.has(key) ? "" : true, arg);
    }
    const key = arg.slice(-1);
    if (key === "-") return false;
    const takesValue = !this.#booleans.has(key) && !/^--?[^-]/.test(next ?? "");
    return this.#setWithNext(key, arg, { next, takesValue });
  }

  #setWithNext(
    key: string,
    arg: string,
    { next, takesValue }: { next: string | undefined; takesValue: boolean },
  ): boolean {
    if (next && takesValue) {
      this.#set(key, next, arg);
      return true;
    }
    if (next === "true" || next === "false") {
      this.#set(key, next === "true", arg);
      return true;
    }
    this.#set(key, this.#strings.has(key) ? "" : true, arg);
    return false;
  }

  #set(key: string, value: Value, arg: string, { collect = true } = {}): void {
    const isKnown = this.#booleans.has(key) || this.#strings.has(key) || this.#names.has(key) ||
      (this.#options.boolean === true && /^--[^=]+$/.test(arg));
    if (!isKnown && this.#options.unknown?.(arg, key, value) === false) return;
    const stored = typeof value === "string" && !this.#strings.has(key) ? toNumber(value) : value;
    for (const name of this.#names.get(key) ?? [key]) {
      if (collect && this.#collected.has(key)) {
        const before = getNested(this.#result, name);
        setNested(this.#result, name, [...(Array.isArray(before) ? before : []), stored]);
      } else {
        setNested(this.#result, name, stored);
      }
    }
  }

  finish(rest: string[]): Record<string, unknown> {
    for (const [key, value] of Object.entries(this.#options.default ?? {})) {
      if (getNested(this.#result, key) !== undefined) continue;
      for (const name of this.#names.get(key) ?? [key]) setNested(this.#result, name, value);
    }
    for (const key of [...this.#booleans, ...this.#strings]) {
      if (getNested(this.#result, key) !== undefined) continue;
      if (this.#collected.has(key)) setNested(this.#result, key, []);
      else if (this.#booleans.has(key)) setNested(this.#result, key, false);
    }
    if (this.#options["--"]) this.#result["--"] = rest;
    else this.#result._.push(...rest);
    return this.#result;
  }
}

function toNumber(text: string): string | number {
  const isNumber = /^0x[0-9a-f]+$/i.test(text) ||
    /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(e[-+]?\d+)?$/.test(text);
  return isNumber ? Number(text) : text;
}

/** Own properties only: `--__proto__.x` must not reach a prototype. */
function getNested(target: Record<string, unknown>, path: string): unknown {
  let value: unknown = target;
  for (const key of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

function setNested(target: Record<string, unknown>, path: string, value: unknown): void {
  const keys = path.split(".");
  const last = keys.pop() ?? "";
  let object = target;
  for (const key of keys) {
    const inner = Object.hasOwn(object, key) ? object[key] : undefined;
    if (typeof inner === "object" && inner !== null) {
      object = inner as Record<string, unknown>;
    } else {
      const made: Record<string, unknown> = {};
      define(object, key, made);
      object = made;
    }
  }
  define(object, last, value);
}

function define(object: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(object, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}
