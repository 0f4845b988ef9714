import { assertEquals, assertRejects } from "@std/assert";
import { changeInTurn } from "../../src/tools/change_in_turn.ts";

Deno.test("changeInTurn() lets changes of one file happen in the order in which they were asked for", async () => {
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  const change = (name: string, path: string, wait?: Promise<void>) =>
    changeInTurn(path, async () => {
      log.push(`${name} begins`);
      await wait;
      log.push(`${name} ends`);
      return name;
    });
  const all = [change("one", "/a", gate.promise), change("two", "/a"), change("three", "/a")];
  assertEquals(await change("other", "/b"), "other");
  assertEquals(log, ["one begins", "other begins", "other ends"]);
  gate.resolve();
  assertEquals(await Promise.all(all), ["one", "two", "three"]);
  assertEquals(log.slice(3), ["one ends", "two begins", "two ends", "three begins", "three ends"]);
});

Deno.test("changeInTurn() goes on after a change that failed", async () => {
  const failing = changeInTurn("/a", () => Promise.reject(new Error("no")));
  const next = changeInTurn("/a", () => Promise.resolve("yes"));
  await assertRejects(() => failing, Error, "no");
  assertEquals(await next, "yes");
});
