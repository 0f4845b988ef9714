/** Answers the first line with its own arguments and ends. */

const input = Deno.stdin.readable.pipeThrough(new TextDecoderStream()).getReader();
const { id, type: command } = JSON.parse((await input.read()).value!);
const data = { args: Deno.args };
console.log(JSON.stringify({ type: "response", command, success: true, id, data }));
while (!(await input.read()).done);
