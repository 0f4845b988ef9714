/** What the model of a circle RPC process is told of jobs that have ended, when turns start for it, and where it is kept. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  backgroundCall,
  jobEvent,
  jobOf,
  makeFile,
  noticesIn,
  outline,
  untilFile,
} from "./_jobs.ts";
import { allOf, calls, type Circle, saidIn, withCircle } from "./_with_circle.ts";

const YOLO = ["--yolo"];
const NOTICE_TURN = ["turn_start of jobs", "assistant", "turn_end", "agent_settled"];

/** A job that ends when any turn for the jobs that ended before it would have begun. */
const CLOCK = backgroundCall("clock", untilFile("go", "sleep 1"));
const OTHER = backgroundCall("other", untilFile("other"));

function lastSaid(circle: Circle): string {
  return saidIn(circle.lastRequest).at(-1)!;
}

Deno.test("circle notices of jobs that end together are one message and one turn", async () => {
  const lines = `seq 30; echo 'api_key=sk-abcdefgh1234'; ${untilFile("go")}`;
  const replies = [
    calls(backgroundCall("a", lines), backgroundCall("b", untilFile("go", "exit 2"))),
    { text: "both run" },
    { text: "both ended" },
  ];
  await withCircle({ args: YOLO, replies }, async (circle) => {
    await circle.turn("go");
    await makeFile(circle, "go");
    const records = await circle.weir.settled();
    assertEquals(outline(records).slice(2), NOTICE_TURN);
    const jobs = new Map(allOf(records, "job").map(jobOf).map((job) => [job.id, job]));
    const line = (id: string, status: string) => {
      const { elapsed, title, output } = jobs.get(id)!;
      const shown = String(title).replace("sk-abcdefgh1234", "[redacted]");
      return `${id} · shell · ${status} · ${elapsed}s · ${shown} · output ${output}`;
    };
    const numbers = Array.from({ length: 19 }, (_, i) => String(i + 12));
    const parts = [
      [line("j1", "done, exit 0"), ...numbers, "api_key=[redacted]"],
      [line("j2", "failed, exit 2"), "(empty)"],
    ];
    if (outline(records)[0] === "job ended j2") parts.reverse();
    const text = [
      '<system-reminder data-source="circle-jobs">',
      ...parts.flat(),
      "</system-reminder>",
    ].join("\n");
    assertEquals(lastSaid(circle), `user: ${text}`);
    assertEquals(noticesIn(await circle.messages()), [text]);
    const native = await circle.messages("get_native_messages");
    const notice = native.find(({ internal }) => internal === "job_notice")!;
    assertMatch(String(notice.display), /^◆ j\d (done|failed) · .* · [0-9.]+s\n◆ j\d .*s$/);
  });
});

Deno.test("circle notice is read once, in whatever turn comes first", async () => {
  const replies = [
    calls(backgroundCall("a", untilFile("go", "echo built")), OTHER),
    { text: "runs" },
    calls({ id: "l", name: "ls", args: {} }),
    { text: "still" },
    { text: "the other ended" },
    { text: "again" },
  ];
  await withCircle({ args: YOLO, replies }, async (circle) => {
    await circle.turn("go");
    await makeFile(circle, "go");
    await jobEvent(circle, "ended", "j1");
    await circle.turn("what now?");
    const [, user, notice] = saidIn(circle.server.requests[2]).slice(-3);
    assertEquals(user, "user: what now?");
    assertMatch(notice, /\nj1 · shell · done, exit 0 · .*\nbuilt\n/);
    await makeFile(circle, "other");
    assertEquals(outline(await circle.weir.settled()), ["job ended j2", ...NOTICE_TURN]);
    await circle.turn("and?");
    const told = saidIn(circle.lastRequest).join("\n");
    assertEquals(told.split("\nj1 · shell · done").length, 2);
    assertEquals(told.split("\nj2 · shell · done").length, 2);
    const stats = await circle.data({ type: "get_session_stats" });
    assertEquals([stats.userMessages, stats.totalMessages], [3, 3 + 2 + 6 + 3]);
  });
});

Deno.test("circle abort holds turns for jobs until the next prompt", async () => {
  const replies = [
    calls(backgroundCall("a", untilFile("go")), CLOCK, backgroundCall("c", untilFile("go2"))),
    { text: "runs" },
    { text: "two have ended" },
    { text: "the third has ended" },
  ];
  await withCircle({ args: YOLO, replies }, async (circle) => {
    await circle.turn("go");
    await circle.ask({ type: "abort" });
    await makeFile(circle, "go");
    await jobEvent(circle, "ended", "j2");
    assertEquals(circle.server.requests.length, 2);
    assertEquals((await circle.state()).isStreaming, false);
    await circle.turn("well?");
    const [user, notice] = saidIn(circle.lastRequest).slice(-2);
    assertEquals(user, "user: well?");
    assertMatch(notice, /\nj1 · [^]*\nj2 · /);
    await makeFile(circle, "go2");
    assertEquals(outline(await circle.weir.settled()), ["job ended j3", ...NOTICE_TURN]);
  });
});

Deno.test("circle turn for jobs that fails holds the next ones, and what it said is known later", async () => {
  const replies = [
    calls(backgroundCall("a", untilFile("first", "echo one")), CLOCK),
    { text: "runs" },
    { status: 401, body: { error: { message: "no such key" } } },
    { text: "now I know" },
  ];
  await withCircle({ args: YOLO, replies }, async (circle) => {
    await circle.turn("go");
    await makeFile(circle, "first");
    const failed = await circle.weir.settled();
    assertEquals(outline(failed), [
      "job ended j1",
      "turn_start of jobs",
      "error",
      "agent_settled",
    ]);
    await makeFile(circle, "go");
    await jobEvent(circle, "ended", "j2");
    // The end of input waits for nothing either.
    await circle.turn("well?");
    const [first, user, second] = saidIn(circle.lastRequest).slice(-3);
    assertMatch(first, /\nj1 · shell · done[^]*\none\n/);
    assertEquals(user, "user: well?");
    assertMatch(second, /\nj2 · shell · done/);
  });
});

Deno.test("circle stopped job starts no turn, and the model hears of it in the next one", async () => {
  const replies = [
    calls(backgroundCall("a", "sleep 300"), OTHER),
    { text: "runs" },
    { text: "only the other" },
  ];
  await withCircle({ args: YOLO, replies }, async (circle) => {
    await circle.turn("go");
    await circle.ask({ type: "stop_job", jobId: "j1" });
    await circle.weir.next("job");
    await makeFile(circle, "other");
    assertEquals(outline(await circle.weir.settled()), ["job ended j2", ...NOTICE_TURN]);
    assertMatch(lastSaid(circle), /\nj1 · shell · stopped, exit 130 \(user\) · [^]*\nj2 · /);
  });
});

Deno.test("circle new_session leaves jobs running whose notices are saved where they began", async () => {
  const replies = [
    calls(
      backgroundCall("a", untilFile("go", "echo from the first")),
      backgroundCall("b", untilFile("other")),
    ),
    { text: "runs" },
    { text: "another conversation" },
    { text: "I remember" },
  ];
  await withCircle({ args: ["--yolo", "--session-id", "first"], replies }, async (circle) => {
    await circle.turn("go");
    const { sessionId } = await circle.data({ type: "new_session" });
    await makeFile(circle, "go");
    assertEquals(jobOf(await jobEvent(circle, "ended", "j1")).sessionId, "first");
    await makeFile(circle, "other");
    assertEquals(jobOf(await jobEvent(circle, "ended", "j2")).sessionId, "first");
    await circle.turn("hello");
    assertEquals(saidIn(circle.lastRequest), ["user: hello"]);
    const { jobs } = await circle.data({ type: "list_jobs" });
    assertEquals((jobs as Record<string, unknown>[]).map(({ id }) => id), ["j1", "j2"]);
    assertEquals((await circle.state()).messageCount, 2);

    await circle.start(["--yolo", "--session-id", "first"]);
    assert(sessionId !== "first");
    const [text, ...others] = noticesIn(await circle.messages());
    assertEquals(others, []);
    assertMatch(text, /\nj1 · shell · done, exit 0 · [^]*\nfrom the first\nj2 · /);
    await circle.turn("and?");
    assertEquals(saidIn(circle.lastRequest).slice(-2), [`user: ${text}`, "user: and?"]);
  });
});

Deno.test("circle new_session saves what the model had not read yet", async () => {
  const replies = [calls(backgroundCall("a", "sleep 300")), { text: "runs" }];
  await withCircle({ args: ["--yolo", "--session-id", "first"], replies }, async (circle) => {
    await circle.turn("go");
    await circle.ask({ type: "stop_job", jobId: "j1" });
    await circle.data({ type: "new_session" });
    await circle.start(["--session-id", "first"]);
    const [text] = noticesIn(await circle.messages());
    assertStringIncludes(text, "j1 · shell · stopped, exit 130 (user)");
    assertEquals((await circle.data({ type: "list_jobs" })).jobs, []);
  });
});
