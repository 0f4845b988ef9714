// The floor for streaming: asks the endpoint itself and prints one record for each piece. Arguments: URL of the endpoint.
const encoder = new TextEncoder();
const response = await fetch(`${Deno.args[0]}/chat/completions`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "go" }] }),
});
let rest = "";
for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    if (!line.startsWith("data: {")) continue;
    const delta = JSON.parse(line.slice(6)).choices[0]?.delta?.content;
    if (delta === undefined || delta === null) continue;
    const record = JSON.stringify({ type: "message_delta", id: "x", delta }) + "\n";
    Deno.stdout.writeSync(encoder.encode(record));
  }
}
