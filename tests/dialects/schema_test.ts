/** The schemas of the dialects, read by a validator that is not the one which made them. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import { makeTypes, typesFile } from "../../scripts/make_types.ts";
import { decodeCircle } from "../../src/dialects/circle/decode.ts";
import { WIRE_SCHEMAS } from "../../src/dialects/circle/event_schema.ts";
import { WIRE_SCHEMAS as NIMLET } from "../../src/dialects/nimlet/event_schema.ts";
import { createTypes } from "../../src/dialects/schema_types.ts";
import { createJsonSchema, type JsonSchema } from "../../src/dialects/wire_schema.ts";
import { RequestError } from "../../src/errors.ts";
import { serve } from "../../src/library/serve.ts";
import { createMemoryHost } from "../../src/memory/memory_host.ts";
import { createDemoModel } from "../../src/models/demo.ts";

type Step = { readonly send?: string; readonly receive?: Record<string, unknown> };

const CORPUS = new URL("../corpus/", import.meta.url);
const DIALECTS = { circle: WIRE_SCHEMAS, nimlet: NIMLET };

function createValidator(schema: JsonSchema) {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true });
  ajv.addSchema(schema, "wire");
  return (name: string, value: unknown): string => {
    const validate = ajv.getSchema(`wire#/$defs/${name}`);
    assert(validate !== undefined, `no ${name}`);
    return validate(value) ? "" : ajv.errorsText(validate.errors);
  };
}

/** What stands for a value in a corpus file becomes such a value. */
function withValues(value: unknown): unknown {
  if (value === "<number>") return 1;
  if (typeof value === "string" && /^<id:?\w*>$/.test(value)) return "j1";
  if (Array.isArray(value)) return value.map(withValues);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withValues(part)]));
}

async function* readCorpus(
  dialect: string,
): AsyncGenerator<{ name: string; exchange: readonly Step[] }> {
  const folder = new URL(`${dialect}/`, CORPUS);
  for await (const { name } of Deno.readDir(folder)) {
    const { exchange } = JSON.parse(await Deno.readTextFile(new URL(name, folder)));
    yield { name, exchange };
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

for (const { name: dialect } of Deno.readDirSync(CORPUS)) {
  if (!Object.hasOwn(DIALECTS, dialect)) continue;
  Deno.test(`createJsonSchema() describes every record of the ${dialect} corpus`, async () => {
    const problemOf = createValidator(createJsonSchema(DIALECTS[dialect as "circle" | "nimlet"]));
    const prefix = dialect === "circle" ? "Circle" : "Nimlet";
    const failures: string[] = [];
    let records = 0;
    for await (const { name, exchange } of readCorpus(dialect)) {
      for (const { receive } of exchange) {
        if (receive === undefined) continue;
        const kind = receive.type === "response" ? "Response" : "Event";
        const problem = problemOf(prefix + kind, withValues(receive));
        if (problem !== "") failures.push(`${name}: ${JSON.stringify(receive)}: ${problem}`);
        records++;
      }
    }
    assertEquals(failures, []);
    assert(records > 20);
  });
}

Deno.test("createJsonSchema() describes the commands that the circle dialect decodes", async () => {
  const problemOf = createValidator(createJsonSchema(WIRE_SCHEMAS));
  const failures: string[] = [];
  let refused = 0;
  for await (const { name, exchange } of readCorpus("circle")) {
    for (const { send } of exchange) {
      if (send === undefined) continue;
      const request = await decodeCircle(send);
      if (request === undefined) continue;
      const problem = problemOf("CircleCommand", parse(send));
      const isCommand = !(request.command instanceof RequestError);
      if (!isCommand && problem !== "") refused++;
      if (isCommand && problem !== "") failures.push(`${name}: ${send}: ${problem}`);
    }
  }
  assertEquals(failures, []);
  assert(refused > 10);
});

Deno.test("createJsonSchema() refuses records with a part too much or too little", async () => {
  const problemOf = createValidator(createJsonSchema(WIRE_SCHEMAS));
  for await (const { exchange } of readCorpus("circle")) {
    for (const { receive } of exchange) {
      if (receive === undefined || receive.type === "response") continue;
      const record = withValues(receive) as Record<string, unknown>;
      assert(problemOf("CircleEvent", { ...record, surplus: 1 }) !== "");
      const { type, ...rest } = record;
      assert(problemOf("CircleEvent", rest) !== "");
      assert(problemOf("CircleEvent", { ...rest, type: `${type}s` }) !== "");
    }
  }
});

Deno.test("createJsonSchema() matches a line of any direction as a whole", () => {
  const schema = createJsonSchema(WIRE_SCHEMAS);
  const validate = new Ajv2020({ strictTypes: false }).compile(schema);
  assert(validate({ type: "abort", id: [1], more: true }));
  assert(validate({ type: "agent_settled" }));
  assert(validate({ type: "response", command: "fly", success: false, error: "Unknown" }));
  assert(!validate({ type: "prompt", message: " \n" }));
  assert(!validate({ type: "response", command: "get_state", success: true, data: {} }));
  assertEquals(schema.$schema, "https://json-schema.org/draft/2020-12/schema");
});

for (const [dialect, schemas] of Object.entries(DIALECTS)) {
  Deno.test(`createJsonSchema() describes what the ${dialect} dialect writes`, async () => {
    const problemOf = createValidator(createJsonSchema(schemas));
    const prefix = dialect === "circle" ? "Circle" : "Nimlet";
    const commands = schemas === NIMLET ? NIMLET_COMMANDS : CIRCLE_COMMANDS;
    const lines = await served(dialect as "circle" | "nimlet", commands);
    for (const line of lines) {
      const record = JSON.parse(line);
      const name = `${prefix}${record.type === "response" ? "Response" : "Event"}`;
      assertEquals(problemOf(name, record), "", line);
      assert(problemOf(name, { ...record, surplus: 1 }) !== "", line);
    }
    const problems = commands.map((command) => problemOf(`${prefix}Command`, command) !== "");
    assertEquals(problems, commands.map((command) => command === commands.at(-1)));
    assert(lines.length > 20);
  });
}

/** The last one is none. */
const NIMLET_COMMANDS = [
  { id: "1", type: "get_state" },
  { id: "2", type: "set_steering_mode", mode: "all" },
  { id: "3", type: "prompt", message: "What is in README.md?" },
  { id: "4", type: "steer", message: "Only README.md" },
  { id: "5", type: "follow_up", message: "And `ls`?" },
  { id: "6", type: "clear_queue" },
  { id: "7", type: "follow_up", message: "And then?" },
  { id: "8", type: "prompt", message: " " },
];
const CIRCLE_COMMANDS = [
  { id: 1, type: "set_event_detail", detail: "full" },
  { id: 2, type: "prompt", message: "What is in README.md?" },
  { id: 3, type: "steer", message: "Only README.md" },
  { id: 4, type: "follow_up", message: "And `ls`?" },
  { id: 5, type: "get_messages" },
  { id: 6, type: "prompt", message: " " },
];

/** The lines of a real session with the built-in demo; its input ends when the first turn has. */
async function served(dialect: "circle" | "nimlet", commands: readonly unknown[]) {
  const lines: string[] = [];
  const input = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>();
  const writer = input.writable.getWriter();
  const text = commands.map((command) => JSON.stringify(command) + "\n").join("");
  void writer.write(new TextEncoder().encode(text));
  const writable = new WritableStream<Uint8Array<ArrayBuffer>>({
    write(chunk) {
      lines.push(...new TextDecoder().decode(chunk).trimEnd().split("\n"));
      const isOver = lines.some((line) => /"type":"(?:run_end|agent_settled)"/.test(line));
      if (isOver && !isEnding) void writer.close();
      isEnding ||= isOver;
    },
  });
  let isEnding = false;
  await serve({ readable: input.readable, writable }, {
    dialect,
    model: createDemoModel(),
    host: createMemoryHost({ files: { "/workspace/README.md": "# Kettle\n" } }),
  });
  return lines;
}

Deno.test("createTypes() gives what src/client/circle_records.ts holds", async () => {
  // When this fails: deno run -A --config deno.npm.json scripts/make_types.ts
  assertEquals(await Deno.readTextFile(typesFile), await makeTypes());
});

Deno.test("createTypes() refuses keywords that it does not know", () => {
  assertThrows(
    () => createTypes({ $defs: { A: { type: "string", oneOf: [] } } }),
    TypeError,
    "Cannot write types: the schema has oneOf, teach it to createTypes",
  );
});

Deno.test("weir schema prints a schema, and types that compile", async () => {
  const folder = await Deno.makeTempDir({ prefix: "weir_schema_" });
  try {
    const schema = JSON.parse(await run(["run", "-A", ...OPTIONS, "src/main.ts", "schema"]));
    assertEquals(schema, JSON.parse(JSON.stringify(createJsonSchema(WIRE_SCHEMAS))));
    const types = await run(["run", "-A", ...OPTIONS, "src/main.ts", "schema", "--types"]);
    const use = `
      const prompt: PromptCommand = { type: "prompt", message: "Hello" };
      export const command: CircleCommand = prompt;
      export function answerOf(event: CircleEvent): string {
        return event.type === "turn_end" && "answer" in event ? event.answer : "";
      }
      // @ts-expect-error: a message is a text
      export const wrong: PromptCommand = { type: "prompt", message: 1 };
    `;
    await Deno.writeTextFile(`${folder}/types.ts`, types + use);
    await Deno.writeTextFile(
      `${folder}/nimlet.ts`,
      await run([
        "run",
        "-A",
        ...OPTIONS,
        "src/main.ts",
        "schema",
        "--dialect",
        "nimlet",
        "--types",
      ]),
    );
    await run(["check", "--no-config", `${folder}/types.ts`, `${folder}/nimlet.ts`]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

const OPTIONS = ["--config", "deno.npm.json"];

async function run(args: string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args,
    cwd: new URL("../..", import.meta.url),
  }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}
