import { assertEquals } from "@std/assert";
import { textOf } from "../../src/agent/message.ts";
import type { JobRecord } from "../../src/session/job_record.ts";
import type { EndedJob } from "../../src/session/jobs.ts";
import { createNoticeMessage, Notices } from "../../src/session/notices.ts";

function job(
  id: string,
  { output = "", subagent, ...record }: Partial<JobRecord> & { output?: string; subagent?: string },
): EndedJob {
  return {
    record: {
      id,
      kind: "shell",
      title: "make",
      status: "done",
      reason: "exit",
      exitCode: 0,
      startedBy: "model",
      elapsed: 1.5,
      sessionId: "s",
      ...record,
      output: "/log",
    },
    owner: { sessionId: "s", subagent },
    output,
  };
}

/** The lines below the job's own. */
function told(ended: EndedJob, redact = (text: string) => text): string {
  const lines = textOf(createNoticeMessage([ended], { source: "jobs", redact })).split("\n");
  assertEquals([lines[0], lines.at(-1)], [
    '<system-reminder data-source="jobs">',
    "</system-reminder>",
  ]);
  return lines.slice(2, -1).join("\n");
}

Deno.test("Notices wants a turn for a job that nobody stopped and no subagent owns", () => {
  const notices = new Notices();
  assertEquals([notices.isEmpty, notices.wantsTurn], [true, false]);
  notices.add(job("j1", { status: "stopped", reason: "user" }));
  notices.add(job("j2", { subagent: "a" }));
  assertEquals([notices.isEmpty, notices.wantsTurn], [false, false]);
  notices.add(job("j3", { status: "failed" }));
  assertEquals(notices.wantsTurn, true);
});

Deno.test("Notices take() gives each notice once", () => {
  const notices = new Notices();
  for (const id of ["j1", "j2", "j3"]) notices.add(job(id, {}));
  const ids = (jobs: readonly EndedJob[]) => jobs.map(({ record }) => record.id);
  assertEquals(ids(notices.take(({ record }) => record.id === "j2")), ["j2"]);
  assertEquals(ids(notices.take()), ["j1", "j3"]);
  assertEquals([notices.take(), notices.isEmpty], [[], true]);
});

Deno.test("createNoticeMessage() tells of all jobs in one internal message", () => {
  const jobs = [job("j1", { output: "ok\n" }), job("j2", { status: "failed", exitCode: 2 })];
  const message = createNoticeMessage(jobs, { source: "circle-jobs", redact: (text) => text });
  assertEquals(
    textOf(message),
    `<system-reminder data-source="circle-jobs">
j1 · shell · done, exit 0 · 1.5s · make · output /log
ok
j2 · shell · failed, exit 2 · 1.5s · make · output /log
(empty)
</system-reminder>`,
  );
  assertEquals(message.internal, "job_notice");
  assertEquals(message.display, "◆ j1 done · make · 1.5s\n◆ j2 failed · make · 1.5s");
});

Deno.test("createNoticeMessage() has the last 20 lines of a command, all of an agent", () => {
  const output = Array.from({ length: 25 }, (_, i) => `line ${i}`).join("\n");
  assertEquals(
    told(job("j1", { output: `${output}\n\n` })),
    output.slice(output.indexOf("line 5")),
  );
  assertEquals(told(job("j1", { kind: "agent", output })), output);
  assertEquals(told(job("j1", { kind: "agent", output: " \n" })), "(empty)");
});

Deno.test("createNoticeMessage() cuts a command's lines to 32 KiB, never inside a character", () => {
  const line = `${"x".repeat(10)}${"é".repeat(20_000)}`;
  assertEquals(told(job("j1", { output: line })), "é".repeat(16_384));
  assertEquals(told(job("j1", { output: line + "z" })), "é".repeat(16_383) + "z");
});

Deno.test("createNoticeMessage() takes secrets out of everything, also where it cuts", () => {
  const redact = (text: string) => text.replaceAll("SECRET", "[redacted]");
  const ended = job("j1", { title: "echo SECRET", output: `SECRET${"x".repeat(32 * 1024 - 3)}` });
  const message = createNoticeMessage([ended], { source: "s", redact });
  assertEquals(/SECRET|RET/.test(textOf(message) + message.display), false);
});
