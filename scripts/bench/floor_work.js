// The floor for turns, streams and tools: does the same requests and reads without an agent. Each line of input is a list of steps, done one
// after another; {"post": FILE} sends the file to the endpoint and prints one record for each piece of the answer, those that come together in
// one go, {"read": FILE} reads it, {"all": STEPS} does them together. Then a record of type floor_settled. Argument: URL of the endpoint.
const encoder = new TextEncoder();
const bodies = new Map();

async function post(file) {
  // Kept, so that reading it does not count from the second time on.
  if (!bodies.has(file)) bodies.set(file, await Deno.readFile(file));
  const response = await fetch(`${Deno.args[0]}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: bodies.get(file),
  });
  let rest = "";
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    let out = "";
    for (const line of lines) {
      if (!line.startsWith("data: {")) continue;
      const delta = JSON.parse(line.slice(6)).choices[0]?.delta?.content;
      if (delta === undefined || delta === null || delta === "") continue;
      out += JSON.stringify({ type: "message_delta", id: "5f0c2a11", delta }) + "\n";
    }
    print(out);
  }
}

async function run(step) {
  if (step.post !== undefined) await post(step.post);
  if (step.read !== undefined) await Deno.readTextFile(step.read);
  if (step.all !== undefined) await Promise.all(step.all.map(run));
}

function print(lines) {
  const bytes = encoder.encode(lines);
  for (let written = 0; written < bytes.length;) {
    written += Deno.stdout.writeSync(bytes.subarray(written));
  }
}

let input = "";
for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (input + text).split("\n");
  input = lines.pop();
  for (const line of lines) {
    for (const step of JSON.parse(line)) await run(step);
    print(`{"type":"floor_settled"}\n`);
  }
}
