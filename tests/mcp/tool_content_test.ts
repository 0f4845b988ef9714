import { assertEquals } from "@std/assert";
import { type AnswerBlock, toOutcome } from "../../src/mcp/tool_content.ts";

function textOf(...content: AnswerBlock[]): string[] {
  return toOutcome({ content }).content.map((block) =>
    block.type === "text" ? block.text : `<${block.mimeType} ${block.data}>`
  );
}

Deno.test("toOutcome() keeps texts and images in order", () => {
  assertEquals(
    textOf(
      { type: "text", text: "a" },
      { type: "image", data: "AA==", mimeType: "image/webp" },
      { type: "text", text: "" },
    ),
    ["a", "<image/webp AA==>", ""],
  );
});

Deno.test("toOutcome() names what a model cannot read", () => {
  assertEquals(
    textOf(
      { type: "image", data: "AA==", mimeType: "image/svg+xml" },
      { type: "audio", data: "AA==", mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "a://b", blob: "AA==", mimeType: "application/zip" } },
      { type: "resource", resource: { uri: "a://c", blob: "AA==" } },
    ),
    [
      "[image, image/svg+xml: cannot be shown]",
      "[audio, audio/wav: cannot be shown]",
      "[resource a://b, application/zip: cannot be shown]",
      "[resource a://c, unknown type: cannot be shown]",
    ],
  );
});

Deno.test("toOutcome() gives resources as text or image, and links as what they say", () => {
  assertEquals(
    textOf(
      { type: "resource", resource: { uri: "a://b", text: "one\ntwo" } },
      { type: "resource", resource: { uri: "a://c", blob: "AA==", mimeType: "image/png" } },
      { type: "resource_link", uri: "a://d", name: "d", description: "the fourth" },
      { type: "resource_link", uri: "a://e", name: "e", title: "The fifth" },
    ),
    [
      "Resource: a://b\none\ntwo",
      "<image/png AA==>",
      "Resource: a://d\nd\nthe fourth",
      "Resource: a://e\nThe fifth",
    ],
  );
});

Deno.test("toOutcome() shows structured content only without a text, and never nothing", () => {
  const structuredContent = { a: [1] };
  const text = { type: "text", text: "a" } as const;
  assertEquals(toOutcome({ content: [text], structuredContent }).content, [text]);
  assertEquals(toOutcome({ content: [], structuredContent, isError: true }), {
    content: [{ type: "text", text: '{"a":[1]}' }],
    isError: true,
  });
  assertEquals(toOutcome({ content: [] }).content, [{ type: "text", text: "(no output)" }]);
});
