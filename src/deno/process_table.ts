/**
 * What runs on this machine: reads the system's table of processes. Knows nothing of who started what.
 */

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

let canReadProc: boolean | undefined;

/** Whether `/proc` is there and may be read: Deno lets a program with single permissions, such as a compiled one, not read it. */
function hasProc(): boolean {
  return canReadProc ??= Deno.build.os === "linux" && isReadable("/proc/self/stat");
}

function isReadable(path: string): boolean {
  try {
    Deno.readTextFileSync(path);
    return true;
  } catch {
    return false;
  }
}

/** All processes but zombies. Takes about a millisecond per hundred processes on Linux, longer elsewhere. */
export async function listProcesses(): Promise<ProcessRow[]> {
  if (hasProc()) return listProc();
  const rows = Deno.build.os === "linux" ? await listWithShell() : [];
  return rows.length > 0 ? rows : await listWithPs();
}

/**
 * The processes that were started with `text` in their environment, where that cannot be read process by process (`environmentHas`); `undefined`
 * where it can.
 */
export async function listMarked(text: string): Promise<ReadonlySet<number> | undefined> {
  if (hasProc()) return undefined;
  if (Deno.build.os !== "linux") return new Set();
  const script = 'grep -lsaF -e "$1" /proc/[0-9]*/environ';
  const found = await runQuietly("/bin/sh", ["-c", script, "sh", text]);
  return new Set([...found.matchAll(/^\/proc\/(\d+)\//gm)].map(([, pid]) => Number(pid)));
}

/** When a process started, in a form that only serves to compare; `undefined` when it does not run (zombies do not). */
export async function processStart(pid: number): Promise<string | undefined> {
  if (hasProc()) return readRow(pid)?.startTicks.toString();
  if (Deno.build.os === "windows") return await windowsProcessStart(pid);
  const lines = await runQuietly("ps", ["-o", "stat=,lstart=", "-p", String(pid)]);
  const [, state, start] = lines.match(/^\s*(\S+)\s+(.*\S)/) ?? [];
  return state === undefined || state.startsWith("Z") ? undefined : start;
}

/** The row of one process; `undefined` when it does not run or the system has no `/proc`. */
export function readRow(pid: number): ProcessRow | undefined {
  if (!hasProc()) return undefined;
  try {
    return parseStat(pid, Deno.readTextFileSync(`/proc/${pid}/stat`));
  } catch {
    return undefined;
  }
}

/** Whether the environment that a process was started with has `text` in the variable `name`. False when it may not be read. */
export function environmentHas(pid: number, name: string, text: string): boolean {
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

/** What a process's stdout is, as the system names it (`pipe:[123]`); `undefined` when it may not be read. */
export function stdoutOf(pid: number): string | undefined {
  if (!hasProc()) return undefined;
  try {
    return Deno.readLinkSync(`/proc/${pid}/fd/1`);
  } catch {
    return undefined;
  }
}

const latin1 = new TextDecoder("latin1");

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

/** A program that Deno does not let read `/proc` may still ask a child to. */
async function listWithShell(): Promise<ProcessRow[]> {
  const text = await runQuietly("/bin/sh", ["-c", "cat /proc/[0-9]*/stat 2>/dev/null"]);
  const rows: ProcessRow[] = [];
  // A program's name may hold line ends; such a row is found again at the next number and bracket.
  for (const [stat, pid] of text.matchAll(/^(\d+) \([^]*?\) [A-Za-z] [^\n]*$/gm)) {
    const row = parseStat(Number(pid), stat);
    if (row !== undefined) rows.push(row);
  }
  return rows;
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

/** The output of a small program, empty when it fails. */
async function runQuietly(program: string, args: string[]): Promise<string> {
  try {
    const { stdout } = await new Deno.Command(program, { args, stdin: "null", stderr: "null" })
      .output();
    return new TextDecoder().decode(stdout);
  } catch {
    return "";
  }
}
