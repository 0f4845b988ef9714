import { assertEquals, assertRejects } from "@std/assert";
import type { Host } from "../../src/host.ts";
import { createMemoryHost, type MemoryHostOptions } from "../../src/memory/memory_host.ts";
import {
  attachFile,
  CUT_FILE_MENTIONS,
  expandMentions,
  type MentionOptions,
  type MentionStyle,
  WHOLE_FILE_MENTIONS,
} from "../../src/session/attachments.ts";

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 255]);
const PNG_BASE64 = btoa(String.fromCharCode(...PNG));

function optionsFor(
  style: MentionStyle,
  host: Host,
  signal: AbortSignal = new AbortController().signal,
): MentionOptions {
  const isCredentialFile = (path: string) => /(^|\/)(\.env|[^/]*\.pem)$/.test(path);
  return { style, host, workspace: "/project", isCredentialFile, signal };
}

/** What is put behind the message. */
async function added(
  style: MentionStyle,
  message: string,
  options: MemoryHostOptions,
): Promise<string> {
  const host = createMemoryHost({
    ...options,
    files: { "/project/.keep/x": "", ...options.files },
  });
  const { text, images } = await expandMentions(message, optionsFor(style, host));
  assertEquals(text.slice(0, message.length), message);
  return text.slice(message.length) + images.map((image) => `{${image.filename}}`).join("");
}

function file(path: string, text: string): string {
  return `\n\n<file path="${path}">\n${text}\n</file>`;
}

const FILES = {
  "/project/a.ts": "one",
  "/project/src/b-c_d+1.ts": "two\n",
  "/project/ä ö.txt": "",
  "/project/ü.txt": "three",
  "/project/bin": "a\0b",
  "/project/latin": new Uint8Array([0x61, 0xe4]),
  "/project/bom": "\uFEFFx",
  "/project/empty": "",
  "/project/pic.dat": PNG,
  "/project/.env": "KEY=1",
  "/outside/x": "far",
};

for (const [name, style] of Object.entries({ WHOLE_FILE_MENTIONS, CUT_FILE_MENTIONS })) {
  Deno.test(`expandMentions() with ${name} attaches texts in the order of mention`, async () => {
    const put = (message: string) => added(style, message, { files: FILES });
    assertEquals(await put("@a.ts"), file("a.ts", "one"));
    assertEquals(
      await put("see @src/b-c_d+1.ts\nand\t@a.ts now"),
      file("src/b-c_d+1.ts", "two\n") + file("a.ts", "one"),
    );
    assertEquals(await put("@bom @empty"), file("bom", "x") + file("empty", ""));
    assertEquals(await put("@/project/a.ts"), file("a.ts", "one"));
  });

  Deno.test(`expandMentions() with ${name} attaches each path once`, async () => {
    const put = (message: string) => added(style, message, { files: FILES });
    assertEquals(await put("@a.ts @a.ts @./a.ts @src/../a.ts @/project/a.ts"), file("a.ts", "one"));
    assertEquals(await put("@pic.dat @./pic.dat"), "{pic.dat}");
  });

  Deno.test(`expandMentions() with ${name} leaves plain words`, async () => {
    const put = (message: string) =>
      added(style, message, {
        files: FILES,
        symlinks: {
          "/project/out": "/outside/x",
          "/project/away": "/outside",
          "/project/secret": ".env",
          "/project/loop": "loop",
          "/project/dangling": "none",
        },
      });
    for (
      const message of [
        "none",
        "@",
        "@ a.ts",
        "@@a.ts",
        "me@a.ts",
        "(@a.ts)",
        "@none @bin @latin",
        "@/outside/x @../outside/x @out @away/x",
        "@.env @secret @./.env",
        "@loop @dangling @a.ts/b",
        `@${"x/".repeat(3000)}`,
      ]
    ) {
      assertEquals(await put(message), "", message);
    }
  });

  Deno.test(`expandMentions() with ${name} follows symlinks inside the workspace`, async () => {
    const symlinks = { "/project/l": "a.ts", "/outside/back": "/project/a.ts" };
    const put = (message: string) => added(style, message, { files: FILES, symlinks });
    assertEquals(await put("@l"), file("l", "one"));
    assertEquals(await put("@/outside/back"), file("a.ts", "one"));
  });

  Deno.test(`expandMentions() with ${name} gives images by their first bytes`, async () => {
    const host = createMemoryHost({ files: FILES });
    assertEquals(await expandMentions("@pic.dat", optionsFor(style, host)), {
      text: "@pic.dat",
      images: [
        { type: "image", data: PNG_BASE64, mimeType: "image/png", filename: "pic.dat" },
      ],
    });
    const large = new Uint8Array(20 * 1024 * 1024 + 1);
    large.set(PNG);
    assertEquals(await added(style, "@p", { files: { "/project/p": large } }), "");
    assertEquals(await added(style, "@p", { files: { "/project/p": large.subarray(1) } }), "");
    assertEquals(
      await added(style, "@p", { files: { "/project/p": large.subarray(0, -1) } }),
      "{p}",
    );
  });

  Deno.test(`expandMentions() with ${name} looks at no file without an @`, async () => {
    const untouchable = new Proxy({}, {
      get: () => {
        throw new Error("must not be used");
      },
    }) as Host;
    const message = "plain words, a\nline and a.ts";
    assertEquals(await expandMentions(message, optionsFor(style, untouchable)), {
      text: message,
      images: [],
    });
  });

  Deno.test(`expandMentions() with ${name} throws the reason when aborted`, async () => {
    const reason = new Error("stop");
    const host = createMemoryHost({ files: FILES });
    const options = optionsFor(style, host, AbortSignal.abort(reason));
    assertEquals(await assertRejects(() => expandMentions("@a.ts", options)), reason);
  });
}

Deno.test("WHOLE_FILE_MENTIONS takes a whole word as a path", async () => {
  const put = (message: string) => added(WHOLE_FILE_MENTIONS, message, { files: FILES });
  assertEquals(await put("@ü.txt"), file("ü.txt", "three"));
  assertEquals(await put("@a.ts. @a.ts, @src @."), "");
  const quoted = { files: { '/project/a"b': "q" } };
  assertEquals(await added(WHOLE_FILE_MENTIONS, '@a"b', quoted), file("a&quot;b", "q"));
});

Deno.test("WHOLE_FILE_MENTIONS leaves a text of more than 64 KiB", async () => {
  const put = (text: string) => added(WHOLE_FILE_MENTIONS, "@t", { files: { "/project/t": text } });
  assertEquals(await put("x".repeat(65536)), file("t", "x".repeat(65536)));
  assertEquals(await put("x".repeat(65537)), "");
});

Deno.test("WHOLE_FILE_MENTIONS attaches 16 images", async () => {
  const names = Array.from({ length: 17 }, (_, index) => `p${index}`);
  const files = Object.fromEntries(names.map((name) => [`/project/${name}`, PNG]));
  const message = [...names.map((name) => `@${name}`), "@t"].join(" ");
  assertEquals(
    await added(WHOLE_FILE_MENTIONS, message, { files: { ...files, "/project/t": "end" } }),
    file("t", "end") + names.slice(0, 16).map((name) => `{${name}}`).join(""),
  );
});

Deno.test("CUT_FILE_MENTIONS ends a path at any other character and drops full stops", async () => {
  const files = { ...FILES, "/project/dots..": "d" };
  const put = (message: string) => added(CUT_FILE_MENTIONS, message, { files });
  for (const message of ["@a.ts.", "@a.ts...", "@a.ts, x", "@a.ts: x", "@a.ts)", "@a.ts@b"]) {
    assertEquals(await put(message), file("a.ts", "one"), message);
  }
  assertEquals(await put("@a.ts. @a.ts"), file("a.ts", "one"));
  assertEquals(await put("@dots.."), file("dots..", "d"));
  assertEquals(await put("@ü.txt @..... @none."), "");
});

Deno.test("CUT_FILE_MENTIONS cuts a text after 100,000 bytes between characters", async () => {
  const put = (text: string) => added(CUT_FILE_MENTIONS, "@t", { files: { "/project/t": text } });
  assertEquals(await put("x".repeat(100_000)), file("t", "x".repeat(100_000)));
  assertEquals(await put("x".repeat(100_001)), file("t", "x".repeat(100_000)));
  assertEquals(await put("x" + "€".repeat(40_000)), file("t", "x" + "€".repeat(33_333)));
  assertEquals(await put("x".repeat(99_998) + "😀"), file("t", "x".repeat(99_998)));
});

Deno.test("CUT_FILE_MENTIONS lists folders", async () => {
  const files = {
    "/project/d/b": "",
    "/project/d/A": "",
    "/project/d/sub/x": "",
    "/project/d/.git/HEAD": "",
    "/project/d/node_modules/m/x": "",
    "/project/d/.hidden": "",
  };
  const put = (message: string) =>
    added(CUT_FILE_MENTIONS, message, { files, symlinks: { "/project/d/l": "sub" } });
  const folder = (path: string, ...names: string[]) =>
    `\n\n<folder path="${path}">\n${names.join("\n")}\n</folder>`;
  const listing = folder("d", ".hidden", "A", "b", "l", "sub/");
  assertEquals(await put("@d"), listing);
  assertEquals(await put("@d/ and @d/."), listing);
  assertEquals(await put("@./"), folder(".", ".keep/", "d/"));
  const many = Array.from({ length: 201 }, (_, index) => `f${1000 + index}`);
  assertEquals(
    await added(CUT_FILE_MENTIONS, "@m", {
      files: Object.fromEntries(many.map((name) => [`/project/m/${name}`, ""])),
    }),
    folder("m", ...many.slice(0, 200)),
  );
});

Deno.test("CUT_FILE_MENTIONS leaves out what .gitignore files exclude", async () => {
  const files = {
    "/project/.gitignore": "*.log\n/d/build/\ndist\n!keep.log\n",
    "/project/d/.gitignore": "tmp\n!special.log\nkeep.log\n",
    "/project/d/a.log": "",
    "/project/d/A.LOG": "",
    "/project/d/special.log": "",
    "/project/d/keep.log": "",
    "/project/d/build/x": "",
    "/project/d/tmp": "",
    "/project/d/src/build": "",
    "/project/d/src/x.log": "",
    "/project/dist/x.log": "",
    "/project/dist/y": "",
  };
  const put = (message: string) => added(CUT_FILE_MENTIONS, message, { files });
  const folder = (path: string, names: string) =>
    `\n\n<folder path="${path}">\n${names}\n</folder>`;
  assertEquals(await put("@d"), folder("d", ".gitignore\nA.LOG\nspecial.log\nsrc/"));
  assertEquals(await put("@d/src"), folder("d/src", "build"));
  // Who names an excluded folder wants to see what is in it.
  assertEquals(await put("@dist"), folder("dist", "x.log\ny"));
});

Deno.test("attachFile() says why it attaches nothing", async () => {
  const host = createMemoryHost({ files: FILES });
  const kindOf = async (path: string) =>
    (await attachFile(path, optionsFor(WHOLE_FILE_MENTIONS, host))).kind;
  assertEquals(await kindOf("ä ö.txt"), "text");
  assertEquals(await kindOf("none"), "missing");
  assertEquals(await kindOf("a\0b"), "missing");
  assertEquals(await kindOf("/outside/x"), "outside");
  assertEquals(await kindOf(".env"), "credential");
  assertEquals(await kindOf("bin"), "unsuitable");
  assertEquals(await kindOf("src"), "unsuitable");
});
