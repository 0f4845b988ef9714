/** What is waited for when the input has ended: jobs that the model started, and the turns that answer them. */

import type { Host } from "../host.ts";
import type { Jobs } from "./jobs.ts";
import type { Session } from "./session.ts";

const DEFAULT_WAIT_SECONDS = 1800;

/**
 * Waits for the jobs of the session that the model started, not for what its commands left running, and runs a turn for those that end, until none
 * runs, turns are held, there were too many in a row, the time is up, or `signal` is aborted. Never throws.
 */
export async function finishWork(options: {
  session: Pick<Session, "id" | "mayTakeNoticeTurns" | "hasNoticeTurn" | "runNoticeTurn">;
  jobs: Pick<Jobs, "runningOf" | "nextEnd">;
  host: Pick<Host, "getEnv">;
  signal: AbortSignal;
}): Promise<void> {
  const { session, jobs, host, signal } = options;
  const waitMs = readWaitSeconds(host) * 1000;
  if (waitMs === 0) return;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(Math.min(waitMs, MAX_TIMER_MS))]);
  while (!limit.aborted && session.mayTakeNoticeTurns) {
    if (session.hasNoticeTurn) {
      await session.runNoticeTurn();
    } else if (jobs.runningOf(session.id).some(({ kind }) => kind !== "adopted")) {
      await jobs.nextEnd((job) => job.owner.sessionId === session.id, limit).catch(() => {});
    } else return;
  }
}

/** The longest that a timer takes. */
const MAX_TIMER_MS = 2 ** 31 - 1;

function readWaitSeconds(host: Pick<Host, "getEnv">): number {
  const text = host.getEnv("WEIR_JOB_WAIT") ?? host.getEnv("CIRCLE_JOB_WAIT");
  if (text === undefined || text.trim() === "") return DEFAULT_WAIT_SECONDS;
  const seconds = Number(text);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : DEFAULT_WAIT_SECONDS;
}
