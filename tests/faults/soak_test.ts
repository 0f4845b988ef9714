import { assert, assertEquals } from "@std/assert";
import { checkCircleRecords } from "../fakes/grammar_circle.ts";
import { startModelServer } from "../fakes/model_server.ts";
import { prepareHome } from "../fakes/prepare_home.ts";
import { startWeir } from "../fakes/weir_process.ts";
import { createRandom, rounds } from "./_rounds.ts";

function openFiles(pid: number): number {
  return [...Deno.readDirSync(`/proc/${pid}/fd`)].length;
}

function residentMiB(pid: number): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

Deno.test({
  name: "many turns with commands, jobs, steering and aborts leave nothing behind",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    const { below, random } = createRandom();
    await using server = await startModelServer();
    server.answer((request) => {
      const last = (request.messages as { role: string }[]).at(-1)!;
      if (last.role === "tool") return { text: "done" };
      switch (below(5)) {
        case 0:
          return {
            toolCalls: [{ name: "bash", args: { command: "echo out; (sleep 0.05) & true" } }],
          };
        case 1:
          return {
            toolCalls: [{
              name: "bash",
              args: { command: "sleep 0.02; echo job", background: true },
            }],
          };
        case 2:
          return { toolCalls: [{ name: "bash", args: { command: "sleep 5" } }] };
        case 3:
          return {
            toolCalls: [{ name: "read", args: { path: "README.md" } }, { name: "ls", args: {} }],
          };
        default:
          return { text: ["some ", "text"] };
      }
    });
    await using place = await prepareHome({ server });
    await using weir = await startWeir({
      args: ["--mode", "rpc", "--yolo", place.workspace],
      home: place.home,
      timeoutMs: 30_000,
    });
    const turns = rounds(60);
    let files = 0;
    let memory = 0;
    for (let turn = 0; turn < turns; turn++) {
      // The same conversation would grow, and with it each request.
      if (turn % 10 === 0) await weir.request({ type: "new_session" });
      await weir.request({ type: "prompt", message: `turn ${turn}` });
      if (random() < 0.3) await weir.request({ type: "steer", message: "steer" });
      await new Promise((resolve) => setTimeout(resolve, random() * 60));
      await weir.request({ type: "abort" });
      if (turn === Math.floor(turns / 4)) {
        files = openFiles(weir.pid);
        memory = residentMiB(weir.pid);
      }
    }
    const { data } = await weir.request({ type: "list_jobs" });
    for (const job of (data as { jobs: { id: string; status: string }[] }).jobs) {
      if (job.status === "running") await weir.request({ type: "stop_job", jobId: job.id });
    }
    assert(openFiles(weir.pid) <= files + 3, `${files} open files grew to ${openFiles(weir.pid)}`);
    assert(residentMiB(weir.pid) < memory + 40, `${memory} MiB grew to ${residentMiB(weir.pid)}`);
    assertEquals(await weir.livingProcesses(), [weir.pid]);
    weir.closeInput();
    assertEquals((await weir.exit).code, 0);
    checkCircleRecords(weir.records);
  },
});
