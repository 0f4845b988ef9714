import { assert, assertEquals, assertMatch } from "@std/assert";
import { textOf, type ToolResultMessage } from "../../src/agent/message.ts";
import { createMemoryHost } from "../../src/memory/memory_host.ts";
import { shortenResult } from "../../src/session/shorten_result.ts";
import type { Settings } from "../../src/session/settings.ts";
import { readText } from "./session_samples.ts";

const IMAGE = { type: "image", data: "", mimeType: "image/png" } as const;

function result(text: string): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId: "c1",
    toolName: "task",
    content: [{ type: "text", text }, IMAGE],
    isError: false,
    timestamp: 1,
  };
}

function createSettings(outputFolder: () => Promise<string>) {
  const host = createMemoryHost({ files: { "/logs/x": "" } });
  return { host, outputFolder } as unknown as Settings;
}

Deno.test("shortenResult() leaves 80,000 characters as they are", async () => {
  const settings = createSettings(() => Promise.reject(new Error("not asked")));
  const whole = result("x".repeat(80_000));
  assertEquals(await shortenResult(whole, settings), whole);
});

Deno.test("shortenResult() keeps the beginning, the end, the images, and all in a file", async () => {
  const settings = createSettings(() => Promise.resolve("/logs"));
  // Both cuts fall into a character of two units.
  const text = `${"a".repeat(9999)}${"🎈".repeat(40_000)}${"z".repeat(9999)}`;
  const short = await shortenResult(result(text), settings);
  assertEquals(short.content[1], IMAGE);
  const [first, begin, middle, end] = textOf(short).split("\n");
  const path = /^\[99998 characters, .* all of it is in (\/logs\/run-\d+\.log)\]$/.exec(
    first!,
  )![1]!;
  assertEquals(await readText(settings.host, path), text);
  assertEquals([begin, middle, end], [
    "a".repeat(9999) + "\uFFFD",
    "[…]",
    "\uFFFD" + "z".repeat(9999),
  ]);
});

Deno.test("shortenResult() gives an excerpt also when nothing can be saved", async () => {
  const settings = createSettings(() => Promise.reject(new Error("disk full")));
  const short = textOf(await shortenResult(result("x".repeat(80_001)), settings));
  assertMatch(short, /^\[80001 characters, .*; the rest could not be kept: disk full\]\n/);
  assert(short.length < 21_000);
});
