/**
 * Everything that one started process has started in turn, and how it is ended. Knows no pipe and no command.
 *
 * A member is in the group or session of the first process, is the child of a member, or carries the marker in its environment, which
 * finds those that left the group and whose parents are gone; one that cleared its environment too is known by the pipe it still
 * writes to. Markers nest, so that a program like this one, run as a command of another one, does not hide its own children.
 */

import { sendSignals } from "./ask_shell.ts";
import { readVariable } from "./permissions.ts";
import {
  listProcesses,
  type ProcessList,
  type ProcessRow,
  readRow,
  stdoutOf,
} from "./process_table.ts";

const MARKER = "WEIR_TREE";
/** What a process that hangs in the kernel can hold up an end. */
const GIVE_UP_MS = 5000;

/** The marker of a new tree and the variable that the first process must be started with. */
export function createTreeMarker(): { id: string; variables: Record<string, string> } {
  const id = crypto.randomUUID();
  const ownMarker = readVariable(MARKER);
  return { id, variables: { [MARKER]: ownMarker ? `${ownMarker}:${id}` : id } };
}

/** What is enough to find a tree again. */
export interface TreeIdentity {
  readonly root: number;
  /** When the first process started. */
  readonly startTicks: number;
  readonly marker: string;
}

/** The processes that `root`, the leader of a new group, has started, itself included. */
export class ProcessTree {
  readonly #root: number;
  readonly #marker: string;
  /** Nothing that is older can be a member. */
  readonly #startTicks: number;
  /** The pipe that the first process writes to, which nobody but its descendants can hold. */
  readonly #pipe: Promise<string | undefined>;
  /** The number of the group may be a stranger's by now, so only what carries the marker is a member, with what it started. */
  readonly #isDead: boolean;
  /** Pids that were seen as members, with their start, so that they are found when their parents are gone. */
  readonly #known = new Map<number, number>();
  /** Once gone, the number of the group may be given to a stranger. */
  #gone = false;
  #killAt = Infinity;
  #ending: Promise<void> | undefined;

  constructor(root: number, marker: string, dead?: { startTicks: number }) {
    this.#root = root;
    this.#marker = marker;
    this.#isDead = dead !== undefined;
    this.#startTicks = dead?.startTicks ?? readRow(root)?.startTicks ?? 0;
    this.#pipe = this.#isDead ? Promise.resolve(undefined) : pipeOf(root);
  }

  /** The tree of a process that nobody holds any more, because whoever started it was killed. */
  static ofDead({ root, startTicks, marker }: TreeIdentity): ProcessTree {
    return new ProcessTree(root, marker, { startTicks });
  }

  get identity(): TreeIdentity {
    return { root: this.#root, startTicks: this.#startTicks, marker: this.#marker };
  }

  /** Whether anything of it runs. Reads the table of processes, so about a millisecond per hundred of them. */
  async isRunning(): Promise<boolean> {
    return (await this.#members()).length > 0;
  }

  /**
   * SIGTERM to all, SIGKILL to what still runs after `graceMs`, also to what is started meanwhile. Resolves when nothing runs. Another
   * call while it works can only shorten the grace.
   */
  end(graceMs: number): Promise<void> {
    this.#killAt = Math.min(this.#killAt, performance.now() + graceMs);
    return this.#ending ??= Deno.build.os === "windows" ? this.#endOnWindows() : this.#end();
  }

  /** SIGKILL to the group and to every member that was ever seen, without waiting. */
  killNow(): void {
    if (this.#gone || Deno.build.os === "windows") return;
    sendSignals([-this.#root, ...this.#known.keys()], "SIGKILL");
  }

  async #end(): Promise<void> {
    const told = new Set<number>();
    for (let pauseMs = 1;; pauseMs = Math.min(pauseMs * 2, 20)) {
      const members = await this.#members();
      if (members.length === 0) return;
      const late = performance.now() - this.#killAt;
      if (late > GIVE_UP_MS) return;
      if (late >= 0) {
        sendSignals([...this.#group(members), ...members.map(({ pid }) => pid)], "SIGKILL");
      } else {
        const target = told.size === 0 ? this.#group(members) : [];
        // The group gets its signal as such; a second one would reach handlers twice.
        const others = members.filter(({ pid, group }) =>
          !told.has(pid) && !target.includes(-group)
        );
        sendSignals([...target, ...others.map(({ pid }) => pid)], "SIGTERM");
        for (const member of members) told.add(member.pid);
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  /** The group as a target of signals, while a member is in it. */
  #group(members: readonly ProcessRow[]): number[] {
    if (this.#isDead) return [];
    return members.some((member) => member.group === this.#root) ? [-this.#root] : [];
  }

  async #endOnWindows(): Promise<void> {
    const args = ["/T", "/F", "/PID", String(this.#root)];
    await new Deno.Command("taskkill", { args, stdin: "null", stdout: "null", stderr: "null" })
      .output().catch(() => {});
    this.#gone = true;
  }

  async #members(): Promise<ProcessRow[]> {
    if (this.#gone || Deno.build.os === "windows") return [];
    const members: ProcessRow[] = [];
    const pids = new Set<number>();
    let others: ProcessRow[] = [];
    const signs = { variable: MARKER, text: this.#marker, pipe: await this.#pipe };
    const list = await listProcesses(signs);
    for (const row of list.rows) {
      if (row.startTicks < this.#startTicks) continue;
      if (this.#isMember(row, list)) {
        members.push(row);
        pids.add(row.pid);
      } else {
        others.push(row);
      }
    }
    for (let before = -1; before !== members.length && others.length > 0;) {
      before = members.length;
      const rest: ProcessRow[] = [];
      for (const row of others) {
        if (!pids.has(row.parent)) {
          rest.push(row);
          continue;
        }
        members.push(row);
        pids.add(row.pid);
      }
      others = rest;
    }
    for (const row of members) this.#known.set(row.pid, row.startTicks);
    if (members.length === 0) this.#gone = true;
    return members;
  }

  #isMember(row: ProcessRow, list: ProcessList): boolean {
    if (this.#known.get(row.pid) === row.startTicks) return true;
    const isNumbered = row.group === this.#root || row.session === this.#root ||
      row.pid === this.#root;
    return (isNumbered && !this.#isDead) || list.hasSign(row.pid);
  }
}

/** Begins to look at once: when the process is gone, nobody knows any more. */
async function pipeOf(pid: number): Promise<string | undefined> {
  const stdout = await stdoutOf(pid);
  return stdout?.startsWith("pipe:") ? stdout : undefined;
}
