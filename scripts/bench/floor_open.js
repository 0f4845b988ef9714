// The floor for opening a session: reads and parses the file before anything else, answers get_state with the number of its messages
// and anything else with all of them. Argument: the file, or none.
const encoder = new TextEncoder();
const messages = [];
if (Deno.args.length > 0) {
  for (const line of (await Deno.readTextFile(Deno.args[0])).split("\n")) {
    if (line === "") continue;
    const entry = JSON.parse(line);
    if (entry.type === "message") messages.push(entry.message);
  }
}
let rest = "";
for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    const data = JSON.parse(line).type === "get_state"
      ? { messageCount: messages.length }
      : { messages };
    const bytes = encoder.encode(JSON.stringify({ type: "response", success: true, data }) + "\n");
    for (let written = 0; written < bytes.length;) {
      written += Deno.stdout.writeSync(bytes.subarray(written));
    }
  }
}
