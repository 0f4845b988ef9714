/**
 * Notices that nobody reads our stdout any more, although nothing is written to it. Deno cannot ask; GNU `tail` looks at its own stdout, which can be
 * ours.
 */

import { mayRun } from "./permissions.ts";

/** The systems whose `tail` ends when its reader is gone. */
const hasGnuTail = Deno.build.os === "linux";

/**
 * Calls `onGone` once when the reader of stdout has gone. Does nothing on systems that cannot tell; there it is noticed at the next write. Disposing
 * ends it, and so does the end of this process.
 */
export function watchOutput(onGone: () => void): Disposable {
  if (!hasGnuTail || Deno.stdout.isTerminal() || !mayRun("tail")) {
    return { [Symbol.dispose]: () => {} };
  }
  let isOver = false;
  let child: Deno.ChildProcess | undefined;
  try {
    child = new Deno.Command("tail", {
      args: [`--pid=${Deno.pid}`, "--sleep-interval=0.2", "-f", "/dev/null"],
      clearEnv: true,
      stdin: "null",
      stdout: "inherit",
      stderr: "null",
    }).spawn();
    child.status.then(({ signal }) => {
      if (!isOver && signal === "SIGPIPE") onGone();
    }, () => {});
  } catch {
    // No tail.
  }
  return {
    [Symbol.dispose]() {
      isOver = true;
      try {
        child?.kill("SIGKILL");
      } catch {
        // It has ended.
      }
    },
  };
}
