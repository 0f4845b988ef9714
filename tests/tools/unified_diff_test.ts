import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { applyPatch } from "diff";
import { applyChanges, type Edit, planChanges } from "../../src/tools/plan_changes.ts";
import { type UnifiedDiff, unifiedDiff } from "../../src/tools/unified_diff.ts";

async function diffOf(
  before: string,
  edits: Edit[],
  maxLength = 50_000,
): Promise<UnifiedDiff & { after: string }> {
  const plan = planChanges(before, edits);
  if (!plan.ok) throw new Error(plan.problem);
  const result = await unifiedDiff(before, plan.changes, { path: "a.txt", maxLength });
  return { ...result, after: applyChanges(before, plan.changes) };
}

function lines(count: number): string {
  return Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");
}

Deno.test("unifiedDiff() shows three lines around a change", async () => {
  const { diff, firstChangedLine } = await diffOf(lines(9), [
    { oldText: "line 4\nline 5\n", newText: "line 4\nfive\nmore\n" },
  ]);
  assertEquals(firstChangedLine, 5);
  assertEquals(
    diff,
    [
      "--- a.txt",
      "+++ a.txt",
      "@@ -2,7 +2,8 @@",
      " line 2",
      " line 3",
      " line 4",
      "-line 5",
      "+five",
      "+more",
      " line 6",
      " line 7",
      " line 8",
      "",
    ].join("\n"),
  );
});

Deno.test("unifiedDiff() counts lines of far apart changes", async () => {
  const { diff } = await diffOf(lines(40), [
    { oldText: "line 30\n", newText: "" },
    { oldText: "line 10\n", newText: "x\ny\n" },
    { oldText: "line 20", newText: "z" },
  ]);
  const headers = diff.split("\n").filter((line) => line.startsWith("@@"));
  assertEquals(headers, ["@@ -7,7 +7,8 @@", "@@ -17,7 +18,7 @@", "@@ -27,7 +28,6 @@"]);
});

Deno.test("unifiedDiff() marks a missing last line end and an emptied file", async () => {
  const last = await diffOf("a\nb", [{ oldText: "b", newText: "c\n" }]);
  assertStringIncludes(last.diff, "-b\n\\ No newline at end of file\n+c\n");
  assertEquals(last.firstChangedLine, 2);
  const emptied = await diffOf("a\n", [{ oldText: "a\n", newText: "" }]);
  assertStringIncludes(emptied.diff, "@@ -1,1 +0,0 @@\n-a\n");
});

Deno.test("unifiedDiff() gives a patch that makes the new text", async () => {
  let seed = 7;
  const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
  for (let round = 0; round < 300; round++) {
    const count = 1 + random(60);
    const before = Array.from({ length: count }, (_, index) => {
      return random(6) === 0 ? "" : `l${index}-${"x".repeat(random(4))}`;
    }).join("\n") + (random(2) ? "\n" : "");
    const edits: Edit[] = [];
    for (let line = 0; line < count; line += 1 + random(12)) {
      const oldText = before.split("\n")[line]!;
      if (oldText === "") continue;
      const newText = ["", "new", "new\nlines", `${oldText}!`, "\n", `\n${oldText}`][random(6)]!;
      edits.push({ oldText: `${oldText.split("-")[0]}-`, newText });
    }
    if (edits.length === 0) continue;
    const { diff, after } = await diffOf(before, edits, [60, 200, 50_000][random(3)]);
    if (diff.includes("[the rest")) continue;
    assertEquals(applyPatch(before, diff, { autoConvertLineEndings: false }), after, diff);
  }
});

Deno.test("unifiedDiff() shows a change of very many lines as old lines, then new ones", async () => {
  const before = lines(3000);
  const edit = { oldText: before, newText: before.replaceAll("line", "row") };
  const { diff, after, firstChangedLine } = await diffOf(before, [edit], 1_000_000);
  assertEquals(applyPatch(before, diff), after);
  assertStringIncludes(diff, "@@ -1,3000 +1,3000 @@\n-line 1\n-line 2\n");
  assertEquals(firstChangedLine, 1);
});

Deno.test("unifiedDiff() is cut at a line and says so", async () => {
  const notice = "[the rest of the diff is left out, it is too long]\n";
  for (
    const edit of [
      { oldText: "line", newText: "row", all: true },
      { oldText: lines(100_000), newText: "x" },
    ]
  ) {
    const { diff, firstChangedLine } = await diffOf(lines(100_000), [edit], 1000);
    assert(diff.endsWith(`\n${notice}`));
    assert(diff.length < 1000 + notice.length + 30);
    assertStringIncludes(diff, "-line 1\n");
    assertEquals(firstChangedLine, 1);
  }
  const oneLine = "abc ".repeat(100_000);
  const { diff } = await diffOf(oneLine, [{ oldText: "b", newText: "x", all: true }], 1000);
  assertEquals(diff, `--- a.txt\n+++ a.txt\n@@ -1,1 +1,1 @@\n${notice}`);
});
