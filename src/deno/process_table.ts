/**
 * What runs on this machine: reads the system's table of processes. Knows nothing of who started what.
 */

import { askShell, runQuietly } from "./ask_shell.ts";
import { builtInModule } from "./built_in_module.ts";
import { hasAll } from "./permissions.ts";

/** One process. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** 0 where the system does not tell. */
  readonly session: number;
  /** Clock ticks since the machine started; 0 where the system does not tell. */
  readonly startTicks: number;
}

/** What a process inherits from the one that started it, however far away that is. */
export interface ProcessSigns {
  /** A variable of the environment and a text that is in it. */
  readonly variable: string;
  readonly text: string;
  /** What stdout is, as the system names it: `pipe:[123]`. */
  readonly pipe: string | undefined;
}

/** The processes at one moment, without zombies. */
export interface ProcessList {
  readonly rows: readonly ProcessRow[];
  /** Whether a process has one of the signs. False where the system does not tell. */
  hasSign(pid: number): boolean;
}

const hasProc = Deno.build.os === "linux";
const latin1 = new TextDecoder("latin1");
let readable: boolean | undefined;

/**
 * Takes about a millisecond per hundred processes on Linux, longer elsewhere and where only a shell may read the table: Deno lets nobody do
 * it who was not given all permissions at once.
 */
export async function listProcesses(signs: ProcessSigns): Promise<ProcessList> {
  try {
    if (canReadProc()) return { rows: listProc(), hasSign: (pid) => readSign(pid, signs) };
    if (hasProc) {
      const list = await listWithShell(signs);
      if (list.rows.length > 0) return list;
    }
  } catch {
    // A machine without a mounted /proc.
  }
  return { rows: await listWithPs(), hasSign: () => false };
}

/** Whether a process runs. When this process has no way to know, it does. */
export function isRunning(pid: number): boolean {
  if (readRow(pid) !== undefined) return true;
  try {
    // Signal 0 reaches every living process, on systems that have no table to read too.
    builtInModule<typeof import("node:process")>("node:process").kill(pid, 0);
    return true;
  } catch (error) {
    if (!(error instanceof Error)) return false;
    return error.name === "NotCapable" || ("code" in error && error.code === "EPERM");
  }
}

/**
 * When a process started, in a form that only serves to compare; `undefined` when it does not run (zombies do not), `unknown` when it may run
 * and nobody says since when.
 */
export async function processStart(pid: number): Promise<string | undefined> {
  if (canReadProc()) return readRow(pid)?.startTicks.toString();
  if (hasProc) return await linuxProcessStart(pid);
  if (Deno.build.os === "windows") return await windowsProcessStart(pid);
  const lines = await runQuietly("ps", ["-o", "stat=,lstart=", "-p", String(pid)]);
  const [, state, start] = lines.match(/^\s*(\S+)\s+(.*\S)/) ?? [];
  return state === undefined || state.startsWith("Z") ? undefined : start;
}

/** The row of one process; `undefined` when it does not run or the system has no `/proc`. */
export function readRow(pid: number): ProcessRow | undefined {
  if (!canReadProc()) return undefined;
  try {
    return parseStat(pid, Deno.readTextFileSync(`/proc/${pid}/stat`));
  } catch {
    return undefined;
  }
}

/** What a process's stdout is, as the system names it; `undefined` when it is gone or nobody may look. */
export function stdoutOf(pid: number): string | undefined | Promise<string | undefined> {
  if (!hasProc) return undefined;
  if (!canReadProc()) return linuxStdout(pid);
  try {
    return Deno.readLinkSync(`/proc/${pid}/fd/1`);
  } catch {
    return undefined;
  }
}

function canReadProc(): boolean {
  return readable ??= hasProc && hasAll("read") && parseOwn();
}

function parseOwn(): boolean {
  try {
    return parseStat(Deno.pid, Deno.readTextFileSync(`/proc/${Deno.pid}/stat`)) !== undefined;
  } catch {
    return false;
  }
}

function readSign(pid: number, { variable, text, pipe }: ProcessSigns): boolean {
  return environmentHas(pid, variable, text) || (pipe !== undefined && stdoutOf(pid) === pipe);
}

function environmentHas(pid: number, name: string, text: string): boolean {
  try {
    const environment = latin1.decode(Deno.readFileSync(`/proc/${pid}/environ`));
    // The text alone is unique, so one search rules out nearly all processes.
    if (!environment.includes(text)) return false;
    return environment.split("\0").some((entry) =>
      entry.startsWith(`${name}=`) && entry.includes(text)
    );
  } catch {
    return false;
  }
}

function listProc(): ProcessRow[] {
  const rows: ProcessRow[] = [];
  for (const entry of Deno.readDirSync("/proc")) {
    const first = entry.name.charCodeAt(0);
    if (first < 48 || first > 57) continue;
    const row = readRow(Number(entry.name));
    if (row !== undefined) rows.push(row);
  }
  return rows;
}

/** The program's name is in brackets and may hold anything, so fields are counted from the last bracket. */
function parseStat(pid: number, stat: string): ProcessRow | undefined {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const state = fields[0];
  if (state === undefined || state === "Z" || state === "X" || state === "x") return undefined;
  return {
    pid,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    startTicks: Number(fields[19]),
  };
}

/** Lines of three kinds: rows, `/proc/<pid>/environ` of those with the text, and `… /proc/<pid>/fd/1 -> <pipe>`. */
const PRINT_TABLE = `
cat /proc/[0-9]*/stat
grep -lsaF -e "$1" /proc/[0-9]*/environ
[ -z "$2" ] || ls -l /proc/[0-9]*/fd/1 | grep -F -e "-> $2"`;

async function listWithShell({ text: mark, pipe }: ProcessSigns): Promise<ProcessList> {
  const text = await askShell(PRINT_TABLE, ["sh", mark, pipe ?? ""]);
  const rows: ProcessRow[] = [];
  // A program's name may hold line ends; such a row is found again at the next number and bracket.
  for (const [stat, pid] of text.matchAll(/^(\d+) \([^]*?\) [A-Za-z] [^\n]*$/gm)) {
    const row = parseStat(Number(pid), stat);
    if (row !== undefined) rows.push(row);
  }
  const found = text.matchAll(/\/proc\/(\d+)\/(?:environ|fd\/1 -> \S+)$/gm);
  const signed = new Set(Array.from(found, ([, pid]) => Number(pid)));
  return { rows, hasSign: (pid) => signed.has(pid) };
}

async function linuxStdout(pid: number): Promise<string | undefined> {
  return (await askShell(`readlink /proc/${pid}/fd/1`)).trim() || undefined;
}

async function linuxProcessStart(pid: number): Promise<string | undefined> {
  const line = await askShell(`read -r line </proc/${pid}/stat && printf "%s" "$line"`);
  if (line !== "") return parseStat(pid, line)?.startTicks.toString();
  return isRunning(pid) ? "unknown" : undefined;
}

async function listWithPs(): Promise<ProcessRow[]> {
  const rows: ProcessRow[] = [];
  for (const line of (await runQuietly("ps", ["-A", "-o", "pid=,ppid=,pgid=,stat="])).split("\n")) {
    const [pid, parent, group, state] = line.trim().split(/\s+/);
    if (state === undefined || state.startsWith("Z")) continue;
    rows.push({
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      session: 0,
      startTicks: 0,
    });
  }
  return rows;
}

async function windowsProcessStart(pid: number): Promise<string | undefined> {
  const query = `(Get-Process -Id ${pid}).StartTime.Ticks`;
  const text = await runQuietly("powershell", ["-NoProfile", "-Command", query]);
  return text.trim() || undefined;
}
