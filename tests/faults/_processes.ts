/** What runs, as Linux tells it: the processes of a driven program, its memory, its open files. Knows no dialect. */

import type { Driver } from "./_drive.ts";

/** For tests that ask `/proc`. */
export const linuxOnly = { ignore: Deno.build.os !== "linux" };

/** A tree that does not want to end: deaf to SIGTERM, out of the group, without a parent, and holding the pipe. */
export const TREE = [
  "trap '' TERM",
  "sleep 300 &",
  "setsid sleep 300 &",
  "(sleep 300 & ) &",
  "(setsid sh -c 'trap \"\" TERM; sleep 300; sleep 300' & ) &",
  "sleep 300",
].join("\n");

/** Resolves when the processes of the program, itself included, are as wanted; rejects after 15 s. */
export async function waitForProcesses(
  driver: Pick<Driver, "weir">,
  { what, isSo }: { what: string; isSo: (pids: readonly number[]) => boolean },
): Promise<void> {
  const deadline = Date.now() + 15_000;
  for (;;) {
    const pids = await driver.weir.livingProcesses();
    if (isSo(pids)) return;
    if (Date.now() > deadline) throw new Error(`${what}: not within 15 s, there are ${pids}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** How many files and pipes a process has open. */
export function openFiles(pid: number): number {
  return [...Deno.readDirSync(`/proc/${pid}/fd`)].length;
}

/** Memory of a process in MiB: what it has now, or the most it had. */
export function memoryMiB(pid: number, which: "now" | "peak" = "now"): number {
  const name = which === "now" ? "VmRSS" : "VmHWM";
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
}

/** Hundredths of a second that a process has computed. */
export function cpuTicks(pid: number): number {
  const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

/** The time that the program has used does not grow any more: it waits for its client, or is through. */
export async function waitForRest(pid: number): Promise<void> {
  const state = () => cpuTicks(pid);
  let before = -100;
  for (let now = state(); now - before > 2; now = state()) {
    before = now;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
