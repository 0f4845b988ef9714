// `deno task demo`: drives the real program as an editor would and shows both directions of the wire. The model is Weir's built-in
// stand-in, so it needs no key and no network. Everything it makes is in a temporary folder, which it removes.
import { chooseSource, sourceOptions } from "./choose_source.ts";
import { type Delivery, WeirClient } from "../mod.ts";

const LIMIT_MS = 60_000;
/** Characters of a line that a terminal is shown; elsewhere lines are whole. */
const SHOWN_LENGTH = 240;
const FILES = {
  "README.md": "# Kettle\n\nBoils water, one cup at a time.\n",
  "notes.md": "Next: a lid.\n",
  "kettle.py": 'print("boiling")\n',
};

const isTerminal = Deno.stdout.isTerminal();
const stop = new AbortController();
const limit = setTimeout(
  () => stop.abort(new Error(`no end after ${LIMIT_MS / 1000} s`)),
  LIMIT_MS,
);
for (const signal of ["SIGINT", ...Deno.build.os === "windows" ? [] : ["SIGTERM"]] as const) {
  Deno.addSignalListener(signal as Deno.Signal, () => stop.abort(new Error(`got ${signal}`)));
}
try {
  console.log(await runDemo(stop.signal));
} catch (error) {
  const cause = stop.signal.aborted ? stop.signal.reason : error;
  const reason = cause instanceof Error ? cause.message : String(cause);
  console.error(`✖ Cannot finish the demo: ${reason}`);
  Deno.exitCode = 1;
} finally {
  clearTimeout(limit);
}
Deno.exit();

/** Resolves to what happened, in one line. */
async function runDemo(signal: AbortSignal): Promise<string> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "weir_demo_" }));
  try {
    const workspace = `${root}/kettle`;
    await Deno.mkdir(workspace);
    for (const [name, text] of Object.entries(FILES)) {
      await Deno.writeTextFile(`${workspace}/${name}`, text);
    }
    return await drive(workspace, { home: `${root}/home`, signal });
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

async function drive(
  workspace: string,
  { home, signal }: { home: string; signal: AbortSignal },
): Promise<string> {
  const args = ["--model", "demo", "--trust", workspace];
  const source = sourceOptions(await chooseSource());
  const seen = new Map<string, number>();
  console.log(paint(`$ weir --mode rpc --dialect circle ${args.join(" ")}`, "1"));
  await using weir = await WeirClient.start({
    program: [Deno.execPath(), "run", "-A", ...source, "src/main.ts"],
    args,
    cwd: new URL("..", import.meta.url),
    env: { WEIR_HOME: home },
    onLine(direction, line) {
      show(direction, line);
      const type = direction === "<" ? /"type":"(\w+)"/.exec(line)?.[1] ?? "" : "";
      seen.set(type, (seen.get(type) ?? 0) + 1);
    },
    signal,
  });
  const events = weir.events();
  const until = async (type: string) => {
    for (let next = await events.next(); !next.done; next = await events.next()) {
      if (next.value.type === type) return;
    }
    throw new Error(`Weir ended before ${type}`);
  };
  let running = 0;
  /** A message that starts work is followed by one `agent_settled`; a queued one belongs to work that runs. */
  const note = ({ disposition }: Delivery) => {
    if (disposition === "started") running++;
  };
  const settle = async () => {
    for (; running > 0; running--) await until("agent_settled");
  };

  await weir.getState();
  note(await weir.prompt("What is this project?"));
  await until("turn_start");
  note(await weir.steer("Only notes.md, please."));
  note(await weir.followUp("And now run `wc -l notes.md`"));
  await settle();

  await weir.setEventDetail("full");
  note(await weir.prompt("Tell me everything again."));
  await until("thinking_delta");
  await weir.abort();
  await settle();

  const { text: answer } = await weir.getLastAssistantText();
  await weir.getSessionStats();
  const exit = await weir.close();
  if (exit?.code !== 0) throw new Error(`Weir ended with ${JSON.stringify(exit)}`);
  if (answer === "") throw new Error("there was no answer");
  if (!seen.has("jobs_stopped")) throw new Error("Weir's last line is missing");
  const count = (type: string) => seen.get(type) ?? 0;
  return `Done: ${count("turn_start")} turns with ${count("tool_result")} tool calls ` +
    `(${count("not_run")} not run, because commands need approval), ${
      count("steer")
    } steering message, ` +
    `1 abort; Weir exited with 0 when its input closed.`;
}

function show(direction: string, line: string): void {
  if (!isTerminal) return console.log(`${direction} ${line}`);
  const text = line.length > SHOWN_LENGTH ? `${line.slice(0, SHOWN_LENGTH).toWellFormed()}…` : line;
  const type = /"type":"\w+"/.exec(text)?.[0];
  const coloured = type === undefined ? text : text.replace(type, paint(type, "1"));
  console.log(`${paint(direction, direction === ">" ? "36" : "32")} ${coloured}`);
}

/** `code` is an SGR code, such as 1 for bold. */
function paint(text: string, code: string): string {
  return isTerminal && !Deno.noColor ? `\x1b[${code}m${text}\x1b[0m` : text;
}
