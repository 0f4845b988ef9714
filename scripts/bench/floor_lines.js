// The floor for start, memory and round trips: a program that answers every line with as many fields as a state has.
const encoder = new TextEncoder();
const data = { model: "m", thinkingLevel: "", isStreaming: false, sessionId: crypto.randomUUID() };
const state = { ...data, sessionName: "", messageCount: 0, pendingMessageCount: 0 };
let rest = "";
for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  let out = "";
  for (const line of lines) {
    const { id, type } = JSON.parse(line);
    out += JSON.stringify({ type: "response", command: type, success: true, id, data: state }) +
      "\n";
  }
  const bytes = encoder.encode(out);
  for (let written = 0; written < bytes.length;) {
    written += Deno.stdout.writeSync(bytes.subarray(written));
  }
}
