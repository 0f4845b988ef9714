/** The exported page in a real browser. */

import { assert, assertEquals } from "@std/assert";
import { renderHtml } from "../../src/session/export_html.ts";
import { type BrowserPage, lacksChromium, openPage } from "../fakes/chromium.ts";
import { exportData, textEverywhere, toolCall, toolResult } from "./export_samples.ts";
import { assistant, user } from "./session_samples.ts";

const ignore = lacksChromium();

async function withPage(
  html: string,
  test: (page: BrowserPage, url: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "export_page_" }));
  try {
    await Deno.writeTextFile(`${folder}/page.html`, html);
    const url = `file://${folder}/page.html`;
    await using page = await openPage(url, { width: 390, height: 844 });
    await test(page, url);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test({
  name: "renderHtml() makes a page in which nothing of the conversation runs or is loaded",
  ignore,
  fn: async () => {
    const attack = [
      "<script>document.title = 'ran'</script>",
      "<img src=https://example.com/x.png onerror=\"document.title='ran'\">",
      "<svg onload=\"document.title='ran'\"></svg>",
      "</title></style></pre></details><iframe src=https://example.com></iframe>",
      '" autofocus onfocus="document.title=1" style="background:url(https://example.com/y)',
      "<a href=\"javascript:document.title='ran'\">x</a>",
    ].join(" ");
    await withPage(renderHtml(textEverywhere(attack)), async (page, url) => {
      await page.evaluate(
        "document.querySelectorAll('details').forEach((each) => each.open = true)",
      );
      const elements =
        "document.querySelectorAll('script,img,iframe,link,a:not([href^=\"#\"])').length";
      assertEquals(await page.evaluate(elements), 0);
      const attributes =
        "[...document.querySelectorAll('*')].flatMap((each) => [...each.attributes]).filter(({name}) => /^on|^style$|^src$/.test(name)).length";
      assertEquals(await page.evaluate(attributes), 0);
      const title = String(await page.evaluate("document.title"));
      assert(title.startsWith("<script>document.title = 'ran'</script>"), title);
      assertEquals(page.requests, [url]);
      assertEquals(page.consoleErrors, []);
    });
  },
});

Deno.test({
  name: "renderHtml() makes a page that fits a phone, opens with the keyboard and has a dark form",
  ignore,
  fn: async () => {
    const long = "const line = 'does not fit';".repeat(20);
    const html = renderHtml(exportData([
      user("x".repeat(500)),
      assistant(`\`\`\`\n${long}\n\`\`\``, {
        usage: { inputTokens: 9, outputTokens: 3 },
      }),
      assistant("", { content: [toolCall("1", "bash", { command: long })] }),
      toolResult("1", long),
    ], { title: "t".repeat(150), workspace: `/${"w".repeat(300)}` }));
    await withPage(html, async (page) => {
      const isOpen = "document.querySelector('details').open";
      assertEquals(await page.evaluate(isOpen), false);
      await page.press("Tab");
      await page.press("Enter");
      assertEquals(await page.evaluate(isOpen), true);
      await page.evaluate(
        "document.querySelectorAll('details').forEach((each) => each.open = true)",
      );
      assertEquals(await page.evaluate("document.documentElement.scrollWidth"), 390);
      const scrolls =
        "[...document.querySelectorAll('pre')].some((box) => box.scrollWidth > box.clientWidth)";
      assertEquals(await page.evaluate(scrolls), true);
      const background = "getComputedStyle(document.body).backgroundColor";
      const light = await page.evaluate(background);
      await page.show({ colorScheme: "dark" });
      const dark = await page.evaluate(background);
      assertEquals([light, dark], ["rgb(251, 250, 248)", "rgb(21, 23, 27)"]);
      assertEquals(page.consoleErrors, []);
    });
  },
});
