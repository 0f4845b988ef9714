/** What `@path` words of a message bring with them in a circle RPC process. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { withCircle } from "./_with_circle.ts";

type Json = Record<string, unknown>;

Deno.test("circle prompt attaches text files of the workspace and shows what was sent", async () => {
  const files = { "a.txt": "alpha", "sub/b c.txt": "never", "sub/d.txt": "delta" };
  await withCircle({ files, replies: [{ text: "ok" }] }, async (circle) => {
    const message = "Compare @a.txt with @sub/../sub/d.txt and mail ann@a.txt";
    const [start] = await circle.turn(message);
    assertEquals(start.message, message);
    const content = `${message}\n\n<file path="a.txt">\nalpha\n</file>` +
      `\n\n<file path="sub/d.txt">\ndelta\n</file>`;
    assertEquals(circle.lastRequest.messages.at(-1)!.content, content);
    const [{ data }] = await circle.messages();
    assertEquals((data as Json).content, content);
    assertEquals((data as Json).additional_kwargs, { circle_shown: message });
    const [native] = await circle.messages("get_native_messages");
    assertEquals([native.content, native.display], [content, message]);
    assertEquals((await circle.state()).sessionName, message);
  });
});

Deno.test("circle prompt leaves other words with @ as they are", async () => {
  const files = {
    ".env": "SECRET=1",
    "long.txt": "x".repeat(64 * 1024 + 1),
    "fits.txt": "y".repeat(64 * 1024),
    "folder/x.txt": "x",
    "../outside.txt": "outside",
    "binary.bin": "a\u0000b",
  };
  await withCircle({ files, replies: [{ text: "ok" }, { text: "ok" }] }, async (circle) => {
    await Deno.symlink("../outside.txt", `${circle.workspace}/leads_out.txt`);
    await Deno.symlink(".env", `${circle.workspace}/leads_to_secret.txt`);
    const message = "@ @missing.txt @.env @long.txt @folder @../outside.txt @binary.bin " +
      "@leads_out.txt @leads_to_secret.txt @/etc/hostname";
    await circle.turn(message);
    assertEquals(circle.lastRequest.messages.at(-1)!.content, message);
    const [native] = await circle.messages("get_native_messages");
    assertEquals(native.display, undefined);
    await circle.turn("@fits.txt");
    assertStringIncludes(
      String(circle.lastRequest.messages.at(-1)!.content),
      "y".repeat(64 * 1024),
    );
  });
});

Deno.test("circle steer and follow_up attach files, events show them as sent", async () => {
  const gate = Promise.withResolvers<void>();
  const replies = [{ text: "a", gate: gate.promise }, { text: "b" }, { text: "c" }];
  await withCircle({ files: { "a.txt": "alpha" }, replies }, async (circle) => {
    await circle.begin("go");
    await circle.data({ type: "steer", message: "use @a.txt" });
    await circle.data({ type: "follow_up", message: "then @a.txt" });
    gate.resolve();
    const records = await circle.weir.settled();
    const shown = records.filter(({ message }) => message !== undefined);
    assertEquals(shown.map(({ type, message }) => [type, message]), [
      ["steer", "use @a.txt"],
      ["turn_start", "then @a.txt"],
    ]);
    const expanded = (text: string) => `${text}\n\n<file path="a.txt">\nalpha\n</file>`;
    assertEquals(
      circle.server.requests[1].messages.at(-1)!.content,
      expanded("use @a.txt"),
    );
    assertEquals(circle.lastRequest.messages.at(-1)!.content, expanded("then @a.txt"));
  });
});
