/**
 * What Deno lets this process do: the `--allow-…` flags it was started with. Asks Deno before something is tried, because where stdin is a
 * terminal Deno would put the question to it and wait. Knows no file and no process.
 */

type Kind = "read" | "write" | "env" | "run" | "net";

const whole = new Map<Kind, boolean>();

/** Whether a permission was given without a list of places. Never prompts. */
export function hasAll(name: Kind): boolean {
  let granted = whole.get(name);
  if (granted === undefined) whole.set(name, granted = isGranted({ name }));
  return granted;
}

/** Whether what is at and below a path may be read or written. */
export function mayUse(name: "read" | "write", path: string): boolean {
  return hasAll(name) || isGranted({ name, path });
}

/** Whether a program may be started under this name. */
export function mayRun(command: string): boolean {
  return hasAll("run") || isGranted({ name: "run", command });
}

/** Whether a host, `name` or `name:port`, may be connected to. */
export function mayConnect(host: string): boolean {
  return hasAll("net") || isGranted({ name: "net", host });
}

/** What was taken out of the process's environment and is still known here. */
const hidden = new Map<string, string>();

/** A variable of the environment; `undefined` also when it may not be read. */
export function readVariable(variable: string): string | undefined {
  if (hidden.has(variable)) return hidden.get(variable);
  if (!hasAll("env") && !isGranted({ name: "env", variable })) return undefined;
  return Deno.env.get(variable);
}

/** Takes variables out of the process's environment, as far as they may be read; the two readers here still find them. */
export function hideVariables(variables: readonly string[]): void {
  for (const variable of variables) {
    const value = readVariable(variable);
    if (value === undefined) continue;
    hidden.set(variable, value);
    Deno.env.delete(variable);
  }
}

/** What commands need at least; looked for one by one when the whole environment may not be read. */
const USUAL = "PATH HOME USER LOGNAME SHELL LANG LC_ALL TZ TERM TMPDIR".split(" ");

/** The environment, or as much of it as may be read. */
export function readEnvironment(): Record<string, string> {
  if (hasAll("env")) return { ...Deno.env.toObject(), ...Object.fromEntries(hidden) };
  const found = USUAL.map((name) => [name, readVariable(name)] as const);
  return Object.fromEntries(
    found.filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
}

function isGranted(descriptor: Deno.PermissionDescriptor): boolean {
  try {
    return Deno.permissions.querySync(descriptor).state === "granted";
  } catch {
    // A host or a path that is none.
    return false;
  }
}
