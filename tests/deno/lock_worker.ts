// Takes the lock, counts in a file that only a holder may touch, and tells what came of it. Run by file_lock_test.ts.

import { createDenoHost } from "../../src/deno/deno_host.ts";
import { HostError } from "../../src/errors.ts";

const [path, counter, end] = Deno.args as [string, string, string];

// Everyone starts when the test closes their input, so that they really race.
await Deno.stdin.read(new Uint8Array(1));
let took = 0;
for (let tries = 0; tries < 1000 && took < 5; tries++) {
  try {
    const lock = await createDenoHost().files.lock(path);
    const before = Number(Deno.readTextFileSync(counter));
    await new Promise((resolve) => setTimeout(resolve, 1));
    Deno.writeTextFileSync(counter, String(before + 1));
    took++;
    if (end === "leave" && took === 5) Deno.exit(0);
    await lock[Symbol.asyncDispose]();
  } catch (error) {
    if (!(error instanceof HostError) || error.code !== "locked") throw error;
  }
  await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 20));
}
if (took < 5) Deno.exit(3);
