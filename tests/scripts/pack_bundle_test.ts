import { assert, assertEquals, assertThrows } from "@std/assert";
import { finishBundle, packParts, PARTS, prepareBundle } from "../../scripts/pack_bundle.ts";

const module = (path: string, ...body: string[]) =>
  [
    `var init_${path.replace(/\W/g, "_")} = __esm({`,
    `  "src/${path}.ts"() {`,
    ...body.map((line) => `    ${line}`),
    "  }",
    "});",
  ].join("\n");

const START = ["serve", "session/hub", "start/start_agent", "start/start_connection"].concat(
  ["acp", "circle", "nimlet", "pi"].map((name) => `dialects/${name}/dialect`),
);
const imports = PARTS.map(({ specifier }) => `await import(${JSON.stringify(specifier)});`);

Deno.test("prepareBundle() compiles at once what a start imports, and nothing else", () => {
  const code = [
    ...START.map((path) => module(path, "init_deep();", "one = 1;")),
    module("deep", "two = 2;"),
    module("later", "three = 3;"),
    ...imports,
  ].join("\n");
  const text = finishBundle(prepareBundle(code));
  const eager = [...text.matchAll(/^var (\w+) = __esm\(\{ init: \(\(\) => \{$/gm)];
  assertEquals(
    eager.map(([, name]) => name).sort(),
    [
      "init_deep",
      ...START.map((path) => `init_${path.replace(/\W/g, "_")}`),
    ].sort(),
  );
  assert(text.includes(module("later", "three = 3;")));
  assertEquals(text.match(/loadPart\("[^"]+"\)/g), [
    'loadPart("openai")',
    'loadPart("./mcp_sdk.ts")',
  ]);
});

Deno.test("prepareBundle() refuses a bundle of another form", () => {
  assertThrows(
    () => prepareBundle("nothing"),
    Error,
    "Cannot find src/serve.ts in the bundle",
  );
  assertThrows(
    () => prepareBundle(START.map((path) => module(path, "one = 1;")).join("\n")),
    Error,
    "Cannot pack openai: nothing imports it",
  );
});

Deno.test("packParts() gives parts that are unpacked once, when they are asked for", async () => {
  const code = 'module.exports = { made: (globalThis.made = (globalThis.made ?? 0) + 1), é: "ü" };';
  const statements = await packParts(new Map([["part", code]]));
  const run = new Function(
    "require",
    `${statements} return Promise.all([loadPart("part"), loadPart("part")]);`,
  );
  assertEquals(await run(() => {}), [{ made: 1, é: "ü" }, { made: 1, é: "ü" }]);
});
