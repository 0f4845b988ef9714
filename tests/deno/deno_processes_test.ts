import { assertEquals, assertThrows } from "@std/assert";
import { createDenoHost } from "../../src/deno/deno_host.ts";
import { HostError } from "../../src/errors.ts";
import type { HostProcess, StartOptions } from "../../src/host.ts";

const processes = createDenoHost().processes!;

function start(command: string, options: Partial<StartOptions> = {}): HostProcess {
  return processes.start({
    argv: [...processes.shell, command],
    folder: "/",
    environment: { PATH: Deno.env.get("PATH") ?? "" },
    stderr: "merge",
    ...options,
  });
}

async function readText(process: HostProcess): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of process.output) text += decoder.decode(chunk, { stream: true });
  return text;
}

/** Reads until `count` lines are there, and leaves the rest of the output alone. */
async function readLines(process: HostProcess, count: number): Promise<string[]> {
  const reader = process.output.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (text.split("\n").length <= count) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  reader.releaseLock();
  return text.split("\n").slice(0, count);
}

async function isRunning(pid: number): Promise<boolean> {
  // By a program, because Deno reads this only with all permissions.
  const { stdout } = await new Deno.Command("cat", { args: [`/proc/${pid}/stat`], stderr: "null" })
    .output();
  const stat = new TextDecoder().decode(stdout);
  return stat !== "" && !/[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2)[0] ?? "");
}

Deno.test("start() keeps the write order of both outputs and tells the code", async () => {
  await using process = start("echo a; echo b >&2; echo c; exit 3");
  assertEquals(await readText(process), "a\nb\nc\n");
  assertEquals(await process.exited, { code: 3, signal: undefined });
  assertEquals(await process.isTreeRunning(), false);
});

Deno.test("start() leaves no shell between us and the program", async () => {
  await using process = start("echo $$");
  assertEquals(await readText(process), `${process.pid}\n`);
});

Deno.test("start() gives the environment that it was told and an empty input", async () => {
  await using process = start('cat; echo "$A|$HOME"', {
    environment: { A: "x y", PATH: Deno.env.get("PATH") ?? "" },
  });
  assertEquals(await readText(process), "x y|\n");
});

Deno.test("start() passes input on", async () => {
  await using process = start("cat; echo unseen >&2", { stdin: "piped", stderr: "discard" });
  const writer = process.input!.getWriter();
  await writer.write(new TextEncoder().encode("hello"));
  await writer.close();
  assertEquals(await readText(process), "hello");
});

Deno.test("start() says which program or folder is missing", () => {
  const missing = assertThrows(() => start("", { argv: ["no-such-program"] }), HostError);
  assertEquals([missing.code, missing.path], ["not_found", "no-such-program"]);
  assertEquals(missing.message, "No such program: no-such-program");
  const folder = assertThrows(() => start("true", { folder: "/no/such" }), HostError);
  assertEquals([folder.code, folder.path], ["not_found", "/no/such"]);
});

Deno.test("exited tells a signal as 128 and its number", async () => {
  await using process = start("kill -9 $$");
  assertEquals(await process.exited, { code: 137, signal: "SIGKILL" });
});

Deno.test("isTreeRunning() sees a child that outlives the command", async () => {
  await using process = start("sleep 60 & echo up");
  await process.exited;
  assertEquals(await process.isTreeRunning(), true);
  await process.stop({ graceMs: 1000 });
  assertEquals(await process.isTreeRunning(), false);
  assertEquals(await readText(process), "up\n");
});

const ESCAPES: Readonly<Record<string, string>> = {
  "in the group": "sleep 60 & echo $!",
  "in a session of its own": "setsid sh -c 'echo $$; exec sleep 60' &",
  "forked twice": "(setsid sh -c 'echo $$; exec sleep 60' >&1 &) &",
  "that let go of the pipe":
    "(setsid sh -c 'echo $$; exec sleep 60 </dev/null >/dev/null 2>&1' &) &",
  "with an empty environment": "(env -i setsid sh -c 'echo $$; exec sleep 60' &) &",
  "that ignores SIGTERM": "(trap '' TERM; sh -c 'echo $$; exec sleep 60') &",
  "that is stopped": "sh -c 'echo $$; kill -STOP $$' &",
};

for (const [name, command] of Object.entries(ESCAPES)) {
  Deno.test(`stop() ends a process ${name}`, async () => {
    await using process = start(`${command}\nwait; sleep 60`);
    const [pid] = await readLines(process, 1);
    assertEquals(await isRunning(Number(pid)), true);
    await Promise.all([process.stop({ graceMs: 50 }), process.stop({ graceMs: 50 })]);
    assertEquals(await isRunning(Number(pid)), false);
    assertEquals(await process.isTreeRunning(), false);
    assertEquals(await readText(process), "");
  });
}

Deno.test("stop() lets a process clean up in its grace", async () => {
  await using process = start(
    "trap 'echo bye; exit 7' TERM; echo ready; while :; do :; done",
  );
  await readLines(process, 1);
  await process.stop({ graceMs: 60_000 });
  assertEquals(await readText(process), "bye\n");
  assertEquals((await process.exited).code, 7);
});

Deno.test("stop() ends what is being forked meanwhile", async () => {
  await using process = start("echo go; trap '' TERM; while :; do (sleep 60 &); sleep 0.005; done");
  await readLines(process, 1);
  await process.stop({ graceMs: 30 });
  assertEquals(await process.isTreeRunning(), false);
});

Deno.test("stop() with less grace hurries one that waits", async () => {
  await using process = start("trap '' TERM; echo ready; while :; do sleep 0.05; done");
  await readLines(process, 1);
  const patient = process.stop({ graceMs: 3_600_000 });
  await process.stop({ graceMs: 0 });
  await patient;
  assertEquals((await process.exited).code, 137);
});

Deno.test("stop() ends the output for who is reading it", async () => {
  await using process = start("echo one; sleep 60");
  const text = readText(process);
  await process.stop({ graceMs: 1000 });
  assertEquals(["", "one\n"].includes(await text), true);
});

Deno.test("stop() of an ended process with unread output leaves it readable", async () => {
  await using process = start("head -c 50000 /dev/zero");
  await process.exited;
  await process.stop({ graceMs: 1000 });
  assertEquals((await readText(process)).length, 50_000);
});

Deno.test("stop() does not miss the children of a program like ours", async () => {
  await using process = start("WEIR_TREE=$WEIR_TREE:inner setsid sh -c 'echo $$; exec sleep 60' &");
  const [pid] = await readLines(process, 1);
  await process.exited;
  assertEquals(await process.isTreeRunning(), true);
  await process.stop({ graceMs: 1000 });
  assertEquals(await isRunning(Number(pid)), false);
});

Deno.test("find() looks along PATH", async () => {
  assertEquals((await processes.find("sh"))?.endsWith("/sh"), true);
  assertEquals(await processes.find("/bin/sh"), "/bin/sh");
  assertEquals(await processes.find("no-such-program"), undefined);
});

Deno.test("openAppend() says that there is no space", async () => {
  const file = await createDenoHost().files.openAppend("/dev/full", { mode: 0o600 });
  const error = assertThrows(() => file.write(new Uint8Array(4)), HostError);
  file.close();
  assertEquals([error.code, error.message], ["no_space", "No space left on device: /dev/full"]);
});
