/**
 * Notices that nobody reads our stdout any more, although nothing is written to it. Deno cannot ask; a small program of the system that has
 * the same stdout can.
 */

import { findProgram, pathOf, startName } from "./find_program.ts";
import { readEnvironment } from "./permissions.ts";

/** A program that ends when the reader of its stdout has gone. */
interface Watcher {
  readonly program: string;
  readonly args: readonly string[];
  /** Whether it ended because of that, and not because it could not watch. */
  tells(status: Deno.CommandStatus): boolean;
}

const GONE = 42;

/** Ends with `GONE`; when its stdin is closed, which this process does at the latest by its end, with 0. */
const POLL = `
use IO::Poll qw(POLLHUP POLLERR);
my $poll = IO::Poll->new;
$poll->mask(*STDIN => POLLHUP);
$poll->mask(*STDOUT => POLLHUP | POLLERR);
1 until $poll->poll > 0;
exit($poll->events(*STDIN) ? 0 : ${GONE});
`;

/** Perl can watch pipes and sockets (what Node gives its children); GNU tail watches pipes only, and is where perl is not. */
const WATCHERS: readonly Watcher[] = Deno.build.os !== "linux" ? [] : [
  { program: "perl", args: ["-e", POLL], tells: ({ code }) => code === GONE },
  {
    program: "tail",
    args: [`--pid=${Deno.pid}`, "--sleep-interval=0.2", "-f", "/dev/null"],
    tells: ({ signal }) => signal === "SIGPIPE",
  },
];

/**
 * Calls `onGone` once when the reader of stdout has gone. Does nothing on systems that cannot tell; there it is noticed at the next write. Disposing
 * ends it, and so does the end of this process.
 */
export function watchOutput(onGone: () => void): Disposable {
  const stop = new AbortController();
  if (!Deno.stdout.isTerminal()) void watch(onGone, stop.signal);
  return { [Symbol.dispose]: () => stop.abort() };
}

/** Lets the first program watch that can. */
async function watch(onGone: () => void, signal: AbortSignal): Promise<void> {
  const where = { search: pathOf(readEnvironment()), folder: "/" };
  for (const { program, args, tells } of WATCHERS) {
    const path = findProgram(program, where);
    if (path === undefined) continue;
    try {
      const child = new Deno.Command(startName(program, path), {
        args: [...args],
        clearEnv: true,
        stdin: "piped",
        stdout: "inherit",
        stderr: "null",
        signal,
      }).spawn();
      const status = await child.status;
      await child.stdin.close().catch(() => {});
      if (signal.aborted) return;
      if (tells(status)) return onGone();
    } catch {
      // It cannot be started; the next one may.
    }
    if (signal.aborted) return;
  }
}
