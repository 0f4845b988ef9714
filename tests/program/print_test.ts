/** `weir -p` against the real process: what is sent, what is on stdout and stderr, and the exit code. */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { calls, lastUserText, withPlace } from "./_run_once.ts";

const IDLE_STDIN =
  "weir: nothing arrived on stdin within 3s; going on without it (use </dev/null to skip the wait)\n";

Deno.test("print mode writes only the last answer of several messages in one conversation", async () => {
  const replies = [{ text: "one" }, { text: "two" }];
  await withPlace({ replies }, async ({ run, server }) => {
    assertEquals(await run(["-p", ".", "first thing", "second"]), {
      code: 0,
      stdout: "two\n",
      stderr: "",
    });
    const roles = server.requests[1]!.messages.map(({ role }) => role);
    assertEquals(roles.slice(-3), ["user", "assistant", "user"]);
  });
});

Deno.test("print mode adds no second line break and leaves the rest of an answer as it is", async () => {
  await withPlace({ replies: [{ text: "  a\n\nb\n" }] }, async ({ run }) => {
    assertEquals((await run(["-p", ".", "go"])).stdout, "  a\n\nb\n");
  });
});

Deno.test("print mode puts stdin before the first message only", async () => {
  const replies = [{ text: "one" }, { text: "two" }];
  await withPlace({ replies }, async ({ run, server }) => {
    const { code, stderr } = await run(["-p", ".", "explain", "again"], {
      stdin: " piped\r\n\n \n",
    });
    assertEquals([code, stderr], [0, ""]);
    const sent = server.requests.map(({ messages }) => lastUserText(messages));
    assertEquals(sent, [" piped\n\nexplain", "again"]);
  });
});

Deno.test("print mode takes stdin for the message when there is none", async () => {
  await withPlace({ replies: [{ text: "ok" }] }, async ({ run, server }) => {
    assertEquals((await run(["-p", "."], { stdin: "from the pipe\n" })).stdout, "ok\n");
    assertEquals(lastUserText(server.requests[0]!.messages), "from the pipe");
  });
});

Deno.test("print mode is the mode of a program without a terminal", async () => {
  await withPlace({ replies: [{ text: "ok" }] }, async ({ run }) => {
    assertEquals((await run([], { stdin: "from the pipe\n" })).stdout, "ok\n");
  });
});

Deno.test("print mode expands mentions in words and not in what is piped in", async () => {
  await withPlace({ replies: [{ text: "ok" }] }, async ({ run, server }) => {
    await run(["-p", ".", "see @README.md"], { stdin: "see @notes.txt" });
    assertEquals(
      lastUserText(server.requests[0]!.messages),
      'see @notes.txt\n\nsee @README.md\n\n<file path="README.md">\n# Sample\n\nA small project for tests.\n\n</file>',
    );
  });
});

Deno.test("print mode goes on without a stdin on which nothing arrives", async () => {
  await withPlace({ replies: [{ text: "ok" }] }, async ({ run }) => {
    assertEquals(await run(["-p", ".", "go on"], { stdin: "open" }), {
      code: 0,
      stdout: "ok\n",
      stderr: IDLE_STDIN,
    });
  });
});

for (const args of [["-p"], ["-p", "."], ["-p", ".", "", " \n"], ["-p", ".", "@notes.txt"]]) {
  Deno.test(`print mode has nothing to do after ${JSON.stringify(args)}`, async () => {
    await withPlace({}, async ({ run }) => {
      assertEquals(await run(args, { stdin: " \n" }), {
        code: 2,
        stdout: "",
        stderr: "✖ Nothing to do: give a prompt after -p or pipe one in.\n",
      });
    });
  });
}

Deno.test("print mode puts files before the first message", async () => {
  const files = { "a b.txt": "A\n", "notes.txt": "N" };
  await withPlace({ files, replies: [{ text: "ok" }] }, async ({ run, server, home }) => {
    const args = ["-p", ".", "@a b.txt", "compare them", "@notes.txt", "@./notes.txt"];
    const { code, stderr } = await run([...args, "--session-id", "with-files"], { stdin: "piped" });
    assertEquals([code, stderr], [0, ""]);
    assertEquals(
      lastUserText(server.requests[0]!.messages),
      '<file path="a b.txt">\nA\n\n</file>\n\n<file path="notes.txt">\nN\n</file>\n\npiped\n\ncompare them',
    );
    server.reply({ text: "ok" });
    const told = await run([
      "--mode",
      "json",
      "--session-id=with-files",
      ".",
      "@notes.txt",
      "go on",
    ]);
    assertEquals(JSON.parse(told.stdout.split("\n")[1]!), { type: "turn_start", message: "go on" });
    assertEquals(home.workspace, JSON.parse(told.stdout.split("\n")[0]!).workspace);
  });
});

Deno.test("print mode attaches an image", async () => {
  await withPlace({ replies: [{ text: "ok" }] }, async ({ run, server, home }) => {
    const png = Uint8Array.fromBase64(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    );
    await Deno.writeFile(`${home.workspace}/dot.png`, png);
    assertEquals((await run(["-p", ".", "@dot.png", "what is it"])).code, 0);
    const content = server.requests[0]!.messages.at(-1)!.content as { type: string }[];
    assertEquals(content.map(({ type }) => type), ["text", "image_url"]);
  });
});

Deno.test("print mode refuses files that it cannot attach before it asks anybody", async () => {
  const files = { ".env": "KEY=1", "notes.txt": "x", "large.txt": "x".repeat(64 * 1024 + 1) };
  await withPlace({ files }, async ({ run, home }) => {
    await Deno.writeFile(`${home.workspace}/data.bin`, new Uint8Array([1, 0, 2, 255]));
    await Deno.mkdir(`${home.workspace}/folder`);
    for (
      const [path, text] of [
        ["none.txt", "no such file: none.txt"],
        ["data.bin", "data.bin is not a text file"],
        ["folder", "folder is not a text file"],
        [".env", ".env is a credential file and is not sent to a model"],
        ["../home/trust.json", "../home/trust.json is outside the folder; pipe it in instead"],
        [
          "large.txt",
          "large.txt is too large: text may have 64 KiB, an image 20 MiB; name it in the message instead",
        ],
      ]
    ) {
      const ended = await run(["-p", ".", "@notes.txt", `@${path}`, "read it"]);
      assertEquals(ended, { code: 2, stdout: "", stderr: `✖ ${text}\n` });
    }
  });
});

Deno.test("print mode has a turn for each message, and the last one decides", async () => {
  const denied = { status: 401, body: { error: { message: "bad key" } } };
  await withPlace({ replies: [denied, { text: "two" }] }, async ({ run }) => {
    const { code, stdout, stderr } = await run(["-p", ".", "the first", "the second"]);
    assertEquals([code, stdout], [0, "two\n"]);
    assertMatch(stderr, /^✖ .*bad key\n$/);
  });
  await withPlace({ replies: [{ text: "one" }, denied] }, async ({ run }) => {
    const { code, stdout, stderr } = await run(["-p", ".", "the first", "the second"]);
    assertEquals([code, stdout], [1, ""]);
    assertMatch(stderr, /^✖ .*bad key\n$/);
  });
});

Deno.test("print mode fails when the model gives no answer", async () => {
  await withPlace({ replies: [{ text: "" }] }, async ({ run }) => {
    assertEquals(await run(["-p", ".", "go"]), {
      code: 1,
      stdout: "",
      stderr: "✖ model ended without an answer\n",
    });
  });
});

Deno.test("print mode says how many calls were not run", async () => {
  const usage = { input: 1200, output: 34 };
  const one = { ...calls(["bash", { command: "make" }]), usage };
  const two = { ...calls(["bash", { command: "make" }], ["bash", { command: "rm x" }]), usage };
  const answer = { text: "done", usage };
  await withPlace({ replies: [one, answer, two, answer] }, async ({ run }) => {
    assertEquals(await run(["-p", ".", "build it"]), {
      code: 0,
      stdout: "done\n",
      stderr: "↑ 2.4k · ↓ 68 · 1 call not run (use --yolo to allow commands and edits)\n",
    });
    const { stderr } = await run(["-p", ".", "build it"]);
    assertStringIncludes(stderr, " · 2 calls not run (use --yolo to allow commands and edits)\n");
  });
});

Deno.test("print mode with --yolo does not recommend --yolo", async () => {
  const replies = [calls(["bash", { command: "rm notes.txt" }]), { text: "done" }];
  await withPlace({ replies }, async ({ run }) => {
    const { stderr } = await run(["-p", "--yolo", ".", "tidy up"]);
    assertEquals(stderr, "↑ 20 · ↓ 10 · 1 call not run\n");
  });
});

Deno.test("print mode with --verbose tells calls, retries and the sum", async () => {
  const replies = [
    { status: 503, body: { error: { message: "busy" } } },
    calls(["read", { path: "notes.txt" }]),
    calls(["read", { path: "none.txt" }]),
    calls(["bash", { command: "make\n  all" }], ["bash", { command: "rm -r build" }]),
    { text: "done" },
  ];
  await withPlace({ replies }, async ({ run }) => {
    const { code, stdout, stderr } = await run(["-p", "--verbose", ".", "build it"]);
    assertEquals([code, stdout], [0, "done\n"]);
    const lines = stderr.split("\n");
    assertMatch(lines[0]!, /^ {2}… server error, retry 1\/6 in \d\.\ds$/);
    assertEquals(lines.slice(1, 3), ["● Read(notes.txt)", "● Read(none.txt)"]);
    assertMatch(lines[3]!, /^ {2}⎿ .*none\.txt/);
    assertEquals(lines.slice(4), [
      "● Bash(make all)",
      "  ⎿ Bash(make all) not run · needs --yolo",
      "● Bash(rm -r build)",
      "  ⎿ Bash(rm -r build) not run · always asks",
      "↑ 40 · ↓ 20 · 2 calls not run (use --yolo to allow commands and edits)",
      "",
    ]);
  });
});

Deno.test("print mode waits for the model's jobs and prints the last answer", async () => {
  const replies = [
    calls(["bash", { command: "sleep 0.2; echo built", background: true }]),
    { text: "it runs" },
    { text: "it is built" },
  ];
  await withPlace({ replies }, async ({ run, server }) => {
    assertEquals(await run(["-p", "--yolo", ".", "build it"]), {
      code: 0,
      stdout: "it is built\n",
      stderr: "",
    });
    assertStringIncludes(String(lastUserText(server.requests[2]!.messages)), "built");
  });
});

Deno.test("print mode keeps the answer when the turn of a job fails", async () => {
  const replies = [
    calls(["bash", { command: "sleep 0.2", background: true }]),
    { text: "it runs" },
    { status: 401, body: { error: { message: "bad key" } } },
  ];
  await withPlace({ replies }, async ({ run }) => {
    const { code, stdout } = await run(["-p", "--yolo", ".", "build it"]);
    assertEquals([code, stdout], [1, "it runs\n"]);
  });
});

Deno.test("print mode waits for jobs also when the message itself failed", async () => {
  const replies = [
    calls(["bash", { command: "sleep 0.2; echo built", background: true }]),
    { status: 401, body: { error: { message: "bad key" } } },
    { text: "it is built" },
  ];
  await withPlace({ replies }, async ({ run }) => {
    const { code, stdout, stderr } = await run(["-p", "--yolo", ".", "build it"]);
    assertEquals([code, stdout], [0, "it is built\n"]);
    assertStringIncludes(stderr, "bad key");
  });
});

Deno.test("print mode does not wait for what a command left running", async () => {
  const replies = [calls(["bash", { command: "sleep 60 & echo up" }]), { text: "it is up" }];
  await withPlace({ replies }, async ({ run }) => {
    assertEquals((await run(["-p", "--yolo", ".", "start it"])).stdout, "it is up\n");
  });
});

Deno.test("print mode tells problems of the start in their order, before it reads stdin", async () => {
  await withPlace({ trust: [] }, async ({ run, home }) => {
    const texts: [args: string[], code: number, text: string][] = [
      [["--fly", "x y"], 2, "unknown option: --fly"],
      [["-r", ".", "x y"], 2, "-r opens a list to choose from"],
      [["missing", "@none", "x y"], 2, `No such folder: ${home.workspace}/missing`],
      [[".", "@none", "x y"], 2, "This folder is not trusted yet: "],
      [["--trust", "--session", "nope", ".", "x y"], 1, "unknown session: nope"],
      [["--trust", "-c", ".", "x y"], 1, "no saved session in this folder"],
    ];
    for (const [args, code, text] of texts) {
      const ended = await run(["-p", ...args], { stdin: "open" });
      assertEquals([ended.code, ended.stdout], [code, ""]);
      assertStringIncludes(ended.stderr, `✖ ${text}`);
    }
  });
});

Deno.test("print mode goes on with a saved conversation", async () => {
  await withPlace({ replies: [{ text: "one" }, { text: "two" }] }, async ({ run, server }) => {
    await run(["-p", ".", "first thing"]);
    assertEquals((await run(["-p", "-c", ".", "second thing"])).stdout, "two\n");
    assertEquals(server.requests[1]!.messages.filter(({ role }) => role === "user").length, 2);
  });
});
