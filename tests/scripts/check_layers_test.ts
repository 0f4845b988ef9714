import { assertEquals } from "@std/assert";
import { blankLiterals } from "../../scripts/blank_literals.ts";
import { findLayerViolations } from "../../scripts/check_layers.ts";

function violationsOf(path: string, text: string): string[] {
  return findLayerViolations(new Map([[path, text]]))
    .map(({ path, line, message }) => `${path}:${line}: ${message}`);
}

Deno.test("findLayerViolations() accepts what the rules allow", () => {
  const fine: Array<[string, string]> = [
    ["src/wire/a.ts", 'import { x } from "../errors.ts";\nimport { y } from "./b.ts";'],
    ["src/agent/a.ts", 'import type { Host } from "../host.ts";'],
    ["src/session/a.ts", 'import { x } from "../tools/x.ts"; export * from "../agent/y.ts";'],
    ["src/dialects/circle/a.ts", 'import type { Command } from "../../session/command.ts";'],
    ["src/dialects/circle/a.ts", 'import { x } from "../dialect.ts"; import "./decode.ts";'],
    ["src/dialects/open.ts", 'const x = await import("./circle/decode.ts");'],
    ["src/serve.ts", 'import "./wire/a.ts"; import "./dialects/a.ts"; import "./session/a.ts";'],
    ["src/main.ts", 'import "./deno/host.ts"; import "node:fs"; import "./cli/a.ts"; Deno.exit();'],
    ["src/deno/a.ts", 'import { spawn } from "node:child_process"; Deno.exit();'],
    ["src/cli/a.ts", 'import "../config.ts"; const m = await import("../models/openai.ts");'],
    ["src/models/openai.ts", 'import OpenAI from "openai"; import "zod/mini";'],
    ["src/config/config.ts", 'import { parse } from "@std/jsonc";'],
    ["src/agent/a.ts", 'const x = Array.from("../session/a.ts"), y = z.import("../session/a.ts");'],
    ["src/agent/a.ts", "const x = own.Deno, y = own?.Deno, runsInDeno = 1;"],
    ["src/session/a.ts", "if (policy.clears) {}; if (dialect === undefined) {}"],
    ["src/dialects/a.ts", 'if (dialect === "circle") {}'],
    ["mod.ts", 'export * from "./src/serve.ts"; await import("./src/main.ts");'],
  ];
  for (const [path, text] of fine) assertEquals(violationsOf(path, text), []);
});

Deno.test("findLayerViolations() names file, line and rule", () => {
  const cases: Array<[string, string, string]> = [
    ["src/wire/a.ts", 'import "../agent/b.ts";', "wire must not import agent (src/agent/b.ts)"],
    ["src/host.ts", 'import "./wire/b.ts";', "host must not import wire (src/wire/b.ts)"],
    [
      "src/agent/a.ts",
      'import type { Session } from "../session/session.ts";',
      "agent must not import session (src/session/session.ts)",
    ],
    [
      "src/agent/a.ts",
      'type S = import("../session/session.ts").Session;',
      "agent must not import session (src/session/session.ts)",
    ],
    [
      "src/dialects/circle/a.ts",
      'export { x } from "../pi/b.ts";',
      "dialect circle must not import dialect pi (src/dialects/pi/b.ts)",
    ],
    [
      "src/dialects/circle/a.ts",
      'import "../../session/session.ts";',
      "dialects must not import session (src/session/session.ts)",
    ],
    ["src/serve.ts", 'import "./deno/a.ts";', "serve must not import deno (src/deno/a.ts)"],
    ["src/tools/a.ts", 'import "../../mod.ts";', "tools must not import mod (mod.ts)"],
    [
      "src/tools/a.ts",
      'import "../../scripts/a.ts";',
      "tools must not import outside src (scripts/a.ts)",
    ],
    [
      "src/cli/a.ts",
      'import "../models/openai.ts";',
      "cli may only import models lazily, with import() (src/models/openai.ts)",
    ],
    ["mod.ts", 'import "./src/main.ts";', "mod.ts may only import src/main.ts lazily"],
    [
      "src/client/a.ts",
      'import "../deno/start_program.ts";',
      "client may only import deno lazily, with import() (src/deno/start_program.ts)",
    ],
    [
      "src/client/a.ts",
      'await import("../deno/deno_host.ts");',
      "client must not import deno (src/deno/deno_host.ts)",
    ],
    ["mod.ts", 'await import("./src/deno/a.ts");', "mod must not import deno (src/deno/a.ts)"],
    [
      "src/news/a.ts",
      'import "../host.ts";',
      "src/news/a.ts belongs to no known part, add it to scripts/check_layers.ts",
    ],
    [
      "src/tools/a.ts",
      "import {\n  readFile\n} from 'node:fs';",
      "only src/deno and src/main.ts may import node:fs",
    ],
    [
      "src/tools/a.ts",
      "await import(`node:fs`);",
      "only src/deno and src/main.ts may import node:fs",
    ],
    ["src/tools/a.ts", "const x = `${Deno.pid}`;", "only src/deno and src/main.ts may name Deno"],
    ["src/tools/a.ts", "const a = [...Deno.args];", "only src/deno and src/main.ts may name Deno"],
    ["src/tools/a.ts", "const a = b ? Deno : c;", "only src/deno and src/main.ts may name Deno"],
    ["src/tools/a.ts", "globalThis.Deno;", "only src/deno and src/main.ts may name Deno"],
    ["src/tools/a.ts", "let x: Deno.Command;", "only src/deno and src/main.ts may name Deno"],
    [
      "src/tools/a.ts",
      'import "npm:zod@4";',
      "npm:zod@4 has to be a package of the import map",
    ],
    ["src/agent/a.ts", 'import "openai";', "only src/models/openai.ts may import openai"],
    ["src/agent/a.ts", 'import "openai/x";', "only src/models/openai.ts may import openai"],
    ["src/agent/a.ts", 'import "@std/jsonc";', "only src/config/config.ts may import @std/jsonc"],
    [
      "src/agent/a.ts",
      'import "@std/testing/time";',
      "only tests and scripts may import @std/testing",
    ],
    ...[
      'if (dialect === "pi") {}',
      "if (this.dialect.name !== 'pi') {}",
      'x = "pi" == options.dialect ? 1 : 2',
      "switch (state.dialect) {}",
    ].map((text): [string, string, string] => [
      "src/session/a.ts",
      text,
      "only src/dialects may ask which dialect it is, use the session's policy",
    ]),
  ];
  for (const [path, text, message] of cases) {
    const line = text.startsWith("import {\n") ? 5 : 3;
    assertEquals(violationsOf(path, `// a comment\n\n${text}\n`), [`${path}:${line}: ${message}`]);
  }
});

Deno.test("findLayerViolations() does not look into comments and strings", () => {
  const text = [
    '// import "../session/a.ts"; Deno.exit()',
    '/* import "../session/a.ts"; */ /** Deno.exit() */',
    'const a = "import \\"../session/a.ts\\" Deno.exit()";',
    "const b = 'Deno.exit()', c = `import \"../session/a.ts\" ${d} Deno`;",
    "const e = /[/'\"]Deno/.test(f) && g / 2, h = 'x' / 2, i = j.k(/\"/, '') + \"Deno\";",
    'const l = `${m ? `"Deno ${n}` : "Deno"}`;',
    "if (x) /* Deno */ return /Deno's/;",
  ].join("\n");
  assertEquals(violationsOf("src/agent/a.ts", text), []);
  // What follows is still looked at: nothing was left open.
  assertEquals(violationsOf("src/agent/a.ts", `${text}\nDeno.exit();`).length, 1);
});

Deno.test("blankLiterals() keeps every position", () => {
  const cases: Array<[string, string]> = [
    ['a = "b\\"c" // d', 'a = "    "     '],
    ["a /* b\nc */ d", "a     \n     d"],
    ["`a${b + `c${d}`}e` f", "` ${b + ` ${d}`} ` f"],
    ["return /a[/]b/g / 2", "return /     /g / 2"],
    ["a / b / c", "a / b / c"],
    ["(a) / b / c", "(a) / b / c"],
    ["x = a\n/ b", "x = a\n/ b"],
    ['"open\nDeno', '"    \nDeno'],
    ["} a", "} a"],
    ["`open ${", "`     ${"],
    ["/* open", "       "],
    ["\\", "\\"],
  ];
  for (const [source, blanked] of cases) assertEquals(blankLiterals(source), blanked);
});
