import { assertEquals } from "@std/assert";
import type { JsonObject } from "../../src/agent/message.ts";
import { describeCall } from "../../src/print/describe_call.ts";

function describe(name: string, args: JsonObject): string {
  return describeCall({ name, arguments: args });
}

Deno.test("describeCall() names every built-in tool and its main argument", () => {
  const calls: [string, JsonObject, string][] = [
    ["read", { path: "notes.txt", limit: 5 }, "Read(notes.txt)"],
    ["write", { path: "a", content: "secret" }, "Write(a)"],
    ["edit", { path: "a", edits: [] }, "Edit(a)"],
    ["bash", { command: "make" }, "Bash(make)"],
    ["grep", { pattern: "x.y", path: "src" }, "Grep(x.y)"],
    ["find", { pattern: "*.ts" }, "Find(*.ts)"],
    ["ls", {}, "Ls()"],
    ["task", { description: "look", prompt: "long" }, "Agent(look)"],
    ["question", { questions: [{ question: "a?" }] }, "Question()"],
    ["todo", { items: [] }, "Todo()"],
    ["list_jobs", {}, "Jobs()"],
    ["stop_job", { job_id: "j1" }, "StopJob(j1)"],
    ["wait_jobs", { job_ids: ["j1", "j2"] }, "WaitJobs(j1 j2)"],
    ["files_move", { from: "a", to: "b" }, 'files_move({"from":"a","to":"b"})'],
    ["constructor", {}, "constructor()"],
  ];
  for (const [name, args, text] of calls) assertEquals(describe(name, args), text);
});

Deno.test("describeCall() keeps a call on one line of 60 characters", () => {
  assertEquals(describe("bash", { command: "  a\n\tb  " }), "Bash(a b)");
  assertEquals(describe("bash", { command: "😀".repeat(60) }), `Bash(${"😀".repeat(60)})`);
  assertEquals(describe("bash", { command: "😀".repeat(61) }), `Bash(${"😀".repeat(59)}…)`);
  assertEquals(describe("bash", { command: "x".repeat(10_000) }), `Bash(${"x".repeat(59)}…)`);
});

Deno.test("describeCall() has nothing in it that a terminal would obey", () => {
  assertEquals(describe("bash", { command: "\x1b[2Ja\x07\x9b\u202eb" }), "Bash([2Jab)");
});

Deno.test("describeCall() copes with arguments of another type", () => {
  assertEquals(describe("read", { path: 5 }), "Read(5)");
  assertEquals(describe("read", { path: null }), "Read()");
  assertEquals(describe("bash", { command: { a: 1 } }), 'Bash({"a":1})');
});
