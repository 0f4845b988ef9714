import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { renderHtml } from "../../src/session/export_html.ts";
import {
  exportData,
  readStructure,
  STATS,
  textEverywhere,
  toolCall,
  toolResult,
} from "./export_samples.ts";
import { assistant, user } from "./session_samples.ts";

const HOSTILE = [
  "<script>document.title='ran'</script>",
  "<img src=x onerror=alert(1)>",
  "</details></article></main></body></html>",
  "</pre></code></style></title><style>body{display:none}</style>",
  `" onmouseover="alert(1)" x='y'`,
  "' autofocus onfocus='alert(1)",
  "<!-- no end",
  "<![CDATA[ x ]]>",
  "&lt;script&gt; &amp &#60; &#x3c;",
  "javascript:alert(1)",
  "a\u2028b\u2029c",
  "\u202Egnirts\u2066\u2067\u2068",
  "\u001b[31mred\u001b[0m\u001b]8;;https://example.com\u0007link",
  "\0\u0008\u000c\u007f\u0085\u009b",
  "\uFFFE\uFFFF\uFDD0\u{1FFFF}",
  "\ud800 alone",
];

for (const text of HOSTILE) {
  Deno.test(`renderHtml() keeps its structure with ${JSON.stringify(text)} everywhere`, () => {
    const page = readStructure(renderHtml(textEverywhere(text)));
    assertEquals(page.tags, readStructure(renderHtml(textEverywhere("x"))).tags);
  });
}

Deno.test("renderHtml() shows what it cannot write", () => {
  const texts = [
    "\u202Eabc",
    "\u0000\u001b]0;t\u0007",
    "\u0085\u2028",
    "\uFFFE\u{1FFFF}",
    "\u2066",
  ];
  const html = renderHtml(textEverywhere(texts.join("\t")));
  const { text } = readStructure(html);
  const shown = "[U+202E]abc\t␀␛]0;t␇\t[U+0085][U+2028]\t[U+FFFE][U+1FFFF]\t[U+2066]";
  assertStringIncludes(text, shown);
  assert(!/(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u.test(html));
});

Deno.test("renderHtml() leaves colours of terminals out and keeps line ends", () => {
  const { text } = readStructure(renderHtml(exportData([
    assistant("", { content: [toolCall("1", "bash", {})] }),
    toolResult("1", "\u001b[1;31merror\u001b[0m: x\r\nnext\rlast\n"),
  ])));
  assertStringIncludes(text, "error: x\nnext\nlast\n");
});

Deno.test("renderHtml() has a head that allows neither scripts nor anything from elsewhere", () => {
  const html = renderHtml(exportData([]));
  assertStringIncludes(
    html,
    `content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"`,
  );
  assertMatch(
    html,
    /^<!DOCTYPE html>\n<html lang="en" dir="ltr">\n<head>\n<meta charset="utf-8">\n/,
  );
  assertStringIncludes(
    html,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
  );
  assert(!/<script|<link|<iframe|\ssrc=|url\(|@import/i.test(html));
  assertStringIncludes(readStructure(html).text, "No messages yet");
});

Deno.test("renderHtml() heads the page with name, id, model and workspace", () => {
  const data = exportData([], { model: "gpt", workspace: "/w" });
  assertMatch(
    readStructure(renderHtml(data)).text,
    /A title\s+Session\s*s-1\s+Model\s*gpt\s+Workspace\s*\/w\s/,
  );
  const html = renderHtml({ ...data, title: "", model: "" });
  assertStringIncludes(html, '<h1 dir="auto">s-1</h1>');
  assertStringIncludes(html, "<title>s-1</title>");
  assert(!html.includes("<dt>Model</dt>"));
});

Deno.test("renderHtml() shows messages as they were sent and leaves job notices out", () => {
  const { text } = readStructure(renderHtml(exportData([
    { ...user("expanded content"), display: "look at @a.txt" },
    { ...user("the notice"), internal: "job_notice", display: "◆ j1 done" },
    assistant("fine"),
  ])));
  assertStringIncludes(text, "look at @a.txt");
  assertStringIncludes(text, "fine");
  for (const absent of ["expanded content", "the notice", "◆"]) assert(!text.includes(absent));
});

Deno.test("renderHtml() folds thinking and tool results under a line that says how they went", () => {
  const html = renderHtml(exportData([
    user("go"),
    assistant("", {
      content: [
        { type: "thinking", thinking: "let me see" },
        toolCall("1", "read", { limit: 3, path: "src/a.ts" }),
        toolCall("1", "bash", { command: "make\n  all" }),
        toolCall("2", "task", { agent: "scout" }),
        toolCall("3", "ls", {}),
      ],
    }),
    toolResult("1", "first", { toolName: "read" }),
    toolResult("1", "second", { isError: true }),
    toolResult("2", "third", { toolName: "task" }),
    toolResult("9", "of no call", { toolName: "lost" }),
  ]));
  const heads = [...html.matchAll(/<summary>(.*?)<\/summary>/g)].map(([, head]) =>
    readStructure(head!).text
  );
  assertEquals(heads.filter((head) => !/^(?:Arguments|All turns)$/.test(head)), [
    "Thinking",
    "● read src/a.ts",
    "✖ bash failed make all",
    "● task agent: scout",
    "● lost",
    "○ ls no result",
  ]);
  assert(!html.includes("<details open"));
});

Deno.test("renderHtml() colours a diff once, and keeps its signs", () => {
  const diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n--- old\n+++ new\n";
  const html = renderHtml(exportData([
    assistant("", { content: [toolCall("1", "edit", { path: "x" })] }),
    toolResult("1", `Made 1 edit in x\n\n${diff}`, { toolName: "edit", details: { diff } }),
  ]));
  assertStringIncludes(html, "<del>--- old</del>\n<ins>+++ new</ins></pre>");
  assertStringIncludes(html, '<span class="quiet">--- a/x</span>\n');
  assertStringIncludes(html, '<span class="hunk">@@ -1,2 +1,2 @@</span>\n same\n');
  assertEquals(html.split("+++ new").length, 2);
  assertStringIncludes(html, "Made 1 edit in x</pre>");
});

Deno.test("renderHtml() names images and draws none", () => {
  const html = renderHtml(exportData([{
    ...user("see"),
    content: [{ type: "image", data: "A".repeat(4000), mimeType: "image/png", filename: "a.png" }],
  }]));
  assertStringIncludes(html, "Image, not shown: a.png, image/png, 3 kB");
  assert(!html.includes("AAAA") && !html.includes("<img"));
});

Deno.test("renderHtml() draws fences, inline code and bold words of answers, and keeps the rest", () => {
  const answer = [
    "Use `a<b>` and ``c`d``, **bold `x`**; 2**3 and 4**5, ** no **",
    "  - kept",
    "```ts",
    "const x = `<y>`;",
    "  ~~~",
    "```",
    "~~~~ text",
    "```",
    "  to the end",
  ].join("\n");
  const html = renderHtml(exportData([assistant(answer)]));
  assertStringIncludes(
    html,
    '<div class="text" dir="auto">Use <code>a&lt;b&gt;</code> and ``c`d``, <strong>bold <code>x</code></strong>; ' +
      "2**3 and 4**5, ** no **\n  - kept</div>\n" +
      '<pre tabindex="0" dir="ltr">\nconst x = `&lt;y&gt;`;\n  ~~~</pre>\n' +
      '<pre tabindex="0" dir="ltr">\n```\n  to the end</pre>\n',
  );
  const plain = renderHtml(exportData([user("```\n**x** `y`")]));
  assertStringIncludes(plain, '<div class="text" dir="auto">```\n**x** `y`</div>');
});

Deno.test("renderHtml() says why an answer has no end", () => {
  const { text } = readStructure(renderHtml(exportData([
    assistant("a", { stopReason: "aborted" }),
    assistant("b", { stopReason: "error", errorMessage: "HTTP 500" }),
    assistant("c", { stopReason: "length" }),
  ])));
  for (const note of ["✖ Interrupted", "✖ HTTP 500", "✖ Cut off at the length limit"]) {
    assertStringIncludes(text, note);
  }
});

Deno.test("renderHtml() sums tokens and costs, and charts the turns", () => {
  const usage = { inputTokens: 1000, outputTokens: 20 };
  const html = renderHtml(exportData([
    user("one"),
    assistant("a", { usage }),
    assistant("b", { usage }),
    user("two"),
    assistant("c", { usage }),
  ]));
  assertMatch(readStructure(html).text, /Tokens in\s*1,234 1,000 cached\s+Tokens out\s*56\s/);
  assertStringIncludes(html, "<dd>$0.0123 <span");
  assertStringIncludes(html, "<title>Turn 1: 2,000</title>");
  assertStringIncludes(html, "<title>Turn 2: 20</title>");
  assertStringIncludes(html, 'aria-label="Tokens in per turn, 2,000 at most"');
  assertStringIncludes(html, '<a href="#turn-2">2</a></th><td>1,000</td><td>20</td>');
  assertStringIncludes(html, '<article class="user" id="turn-2">');
});

Deno.test("renderHtml() takes numbers of any size and of none", () => {
  const odd = [NaN, Infinity, -5, 1e300, undefined] as number[];
  const messages = odd.map((value) =>
    assistant("a", {
      usage: { inputTokens: value, outputTokens: value },
      timestamp: value,
    })
  );
  const stats = { ...STATS, inputTokens: NaN, receipts: { ...STATS.receipts, usd: undefined } };
  const html = renderHtml(exportData(messages, { stats }));
  readStructure(html);
  assert(!/NaN|Infinity|undefined/.test(html));
});

Deno.test("renderHtml() keeps the chart small with many turns", () => {
  const messages = Array.from({ length: 2500 }, () => [
    user("q"),
    assistant("a", { usage: { inputTokens: 1, outputTokens: 1 } }),
    assistant("", { content: [toolCall("1", "bash", { command: "ls" })] }),
    toolResult("1", "out"),
  ]).flat();
  const html = renderHtml(exportData(messages));
  const bars = html.split("<rect").length - 1;
  assert(bars > 100 && bars <= 160, String(bars));
  assertStringIncludes(html, "Tokens in per 32 turns");
  assertEquals(readStructure(html).tags.filter((tag) => tag.startsWith("<article")).length, 5000);
});

Deno.test("renderHtml() keeps large outputs whole and survives deep arguments", () => {
  const line = "<x> & 'y' ".repeat(10) + "\n";
  const deep = JSON.parse("[".repeat(3000) + "]".repeat(3000));
  const { text } = readStructure(renderHtml(exportData([
    assistant("", { content: [toolCall("1", "bash", { deep })] }),
    toolResult("1", line.repeat(20_000)),
  ])));
  assertStringIncludes(text, line.repeat(20_000));
  assertStringIncludes(text, "[".repeat(3000) + "]".repeat(3000));
});
