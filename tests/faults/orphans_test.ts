import { assert, assertEquals } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { prepareHome } from "../fakes/prepare_home.ts";
import { startWeir } from "../fakes/weir_process.ts";

/** Sleeps that ignore SIGTERM, in the group, out of it, and with their parent gone. */
const COMMAND = `trap '' TERM
sleep 300 &
setsid sleep 300 &
(sleep 300 & ) &
echo "pids $(pgrep -f 'sleep 300' -s 0 | tr '\\n' ' ')"
sleep 300`;

function isRunning(pid: number): boolean {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    return !["Z", "X"].includes(stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3));
  } catch {
    return false;
  }
}

Deno.test({
  name: "what a killed process left running is ended by the next one of the same home",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await using server = await startModelServer();
    server.reply({ toolCalls: [{ name: "bash", args: { command: COMMAND } }] });
    await using place = await prepareHome({ server });
    const args = ["--mode", "rpc", "--yolo", place.workspace];
    let left: number[];
    {
      // Not disposed by the test: that would end what it left.
      const weir = await startWeir({ args, home: place.home });
      await weir.request({ type: "set_event_detail", detail: "full" });
      await weir.request({ type: "prompt", message: "go" });
      await weir.next((record) =>
        record.type === "tool_output" && String(record.delta).includes("pids")
      );
      left = (await weir.livingProcesses()).filter((pid) => pid !== weir.pid);
      assert(left.length >= 4, `only ${left}`);
      weir.kill("SIGKILL");
      await weir.exit;
      // The shells in between may have ended meanwhile; what sleeps has not.
      left = left.filter(isRunning);
      assert(left.length >= 3, `only ${left} outlived the program`);
      await using next = await startWeir({ args, home: place.home });
      await next.request({ type: "get_state" });
      const deadline = Date.now() + 10_000;
      const records = () => [...Deno.readDirSync(`${place.home}/running`)].length;
      while ((left.some(isRunning) || records() > 0) && Date.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      assertEquals([left.filter(isRunning), records()], [[], 0]);
      next.closeInput();
      assertEquals((await next.exit).code, 0);
      await weir[Symbol.asyncDispose]();
    }
  },
});
