/**
 * An MCP server over stdin and stdout that is small enough to start fast. Its first argument says how it misbehaves: `good`, `hang` (never
 * answers), `hang-list` (never tells its tools), `crash` (ends before it answers), `junk` (other lines on stdout) or `stubborn` (does not
 * end with its input or on SIGTERM). Imports nothing.
 */

import { answer } from "./tiny_answers.ts";

const mode = Deno.args[0] ?? "good";
const encoder = new TextEncoder();

function write(text: string): void {
  const bytes = encoder.encode(text);
  for (let done = 0; done < bytes.length;) done += Deno.stdout.writeSync(bytes.subarray(done));
}

if (mode === "crash") {
  console.error("first line\nno database");
  Deno.exit(3);
}
if (mode === "junk") write('starting…\n{"not": "a message"}\n\n');
if (mode === "stubborn") Deno.addSignalListener("SIGTERM", () => {});

let rest = "";
for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split("\n");
  rest = lines.pop()!;
  for (const line of lines) {
    const message = JSON.parse(line);
    if (mode === "hang" || (mode === "hang-list" && message.method === "tools/list")) continue;
    if (message.method === "notifications/cancelled") {
      Deno.writeTextFileSync(`${Deno.cwd()}/cancelled`, "");
    }
    if (message.method === "tools/call" && message.params.name === "die") Deno.exit(7);
    if (message.method === "tools/call" && message.params.name === "leave") {
      new Deno.Command("sleep", { args: ["600"], stdin: "null", stdout: "null" }).spawn().unref();
    }
    const result = answer(message);
    if (result === undefined) continue;
    if (mode === "junk") write("working\r\n");
    write(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...result }) + "\n");
  }
}
if (mode === "stubborn" || mode === "hang") setInterval(() => {}, 1000);
