import { assert, assertEquals } from "@std/assert";
import type { JsonObject, JsonValue } from "../../src/agent/message.ts";
import { parseArguments } from "../../src/tools/arguments.ts";

const SCHEMA: JsonObject = {
  type: "object",
  properties: {
    path: { type: "string" },
    name: { type: "string", minLength: 1 },
    code: { type: "string", minLength: 3 },
    limit: { type: "integer", minimum: 1 },
    depth: { type: "integer", minimum: 0, maximum: 5 },
    ratio: { type: "number", maximum: 1 },
    all: { type: "boolean" },
    mode: { enum: ["fast", "slow"] },
    edits: {
      type: "array",
      items: {
        type: "object",
        properties: { oldText: { type: "string" }, all: { type: "boolean" } },
        required: ["oldText"],
        additionalProperties: false,
      },
    },
    anything: {},
    free: { type: "object" },
    list: { type: "array" },
  },
  required: ["path"],
  additionalProperties: false,
};

function problemOf(args: JsonObject): string {
  const parsed = parseArguments(SCHEMA, args);
  return parsed.ok ? "" : parsed.problem;
}

Deno.test("parseArguments() gives what the schema allows", () => {
  const args: JsonObject = {
    path: "",
    name: "n",
    limit: 1,
    depth: 5,
    ratio: -0.5,
    all: false,
    mode: "slow",
    edits: [{ oldText: "a", all: true }, { oldText: "b" }],
    anything: [null, { a: 1 }],
    free: { deep: { er: [] } },
    list: [1, "2"],
  };
  assertEquals(parseArguments(SCHEMA, args), { ok: true, value: args });
});

Deno.test("parseArguments() takes null for an optional argument as absent, at every depth", () => {
  const parsed = parseArguments(SCHEMA, {
    path: "a",
    limit: null,
    edits: [{ oldText: "x", all: null }],
  });
  assertEquals(parsed, { ok: true, value: { path: "a", edits: [{ oldText: "x" }] } });
});

Deno.test("parseArguments() names the argument and what was expected", () => {
  const cases: [JsonObject, string][] = [
    [{}, "path is required"],
    [{ path: null }, "path: expected a string"],
    [{ path: 1 }, "path: expected a string"],
    [{ path: "a", name: "" }, "name: expected a string that is not empty"],
    [{ path: "a", code: "ab" }, "code: expected a string of at least 3 characters"],
    [{ path: "a", limit: 0 }, "limit: expected a whole number of at least 1"],
    [{ path: "a", limit: 1.5 }, "limit: expected a whole number of at least 1"],
    [{ path: "a", limit: "3" }, "limit: expected a whole number of at least 1"],
    [{ path: "a", limit: 1e300 }, "limit: expected a whole number of at least 1"],
    [{ path: "a", depth: 6 }, "depth: expected a whole number from 0 to 5"],
    [{ path: "a", ratio: 2 }, "ratio: expected a number of at most 1"],
    [{ path: "a", all: "yes" }, "all: expected true or false"],
    [{ path: "a", mode: "Fast" }, "mode: expected one of fast, slow"],
    [{ path: "a", edits: {} }, "edits: expected a list"],
    [{ path: "a", edits: ["x"] }, "edits[0]: expected an object"],
    [{ path: "a", edits: [{ oldText: 1 }] }, "edits[0].oldText: expected a string"],
    [{ path: "a", edits: [{ oldText: "" }, {}] }, "edits[1].oldText is required"],
    [{ path: "a", free: [] }, "free: expected an object"],
    [{ path: "a", foo: 1 }, "unknown argument: foo"],
    [{ path: "a", edits: [{ oldText: "", x: 1 }] }, "unknown argument: edits[0].x"],
    [{ path: "a", ["k".repeat(5000)]: 1 }, `unknown argument: ${"k".repeat(100)}…`],
  ];
  for (const [args, problem] of cases) assertEquals(problemOf(args), problem);
});

Deno.test("parseArguments() refuses names that objects have by themselves", () => {
  for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
    const args = JSON.parse(`{"path":"a","${name}":{"limit":1}}`) as JsonObject;
    assertEquals(problemOf(args), `unknown argument: ${name}`);
  }
  const open = { type: "object", properties: {} };
  const args = JSON.parse(`{"__proto__":{"isAdmin":true},"b":1}`) as JsonObject;
  assertEquals(parseArguments(open, args), { ok: false, problem: "unknown argument: __proto__" });
  assertEquals(parseArguments(open, { b: 1 }), { ok: true, value: { b: 1 } });
});

Deno.test("parseArguments() does not follow input deeper than the schema", () => {
  let deep: JsonValue = 1;
  for (let depth = 0; depth < 200_000; depth++) deep = [deep];
  assertEquals(problemOf({ path: deep }), "path: expected a string");
  assertEquals(problemOf({ path: "a", edits: deep }), "edits[0]: expected an object");
  assert(parseArguments(SCHEMA, { path: "a", anything: deep }).ok);
});
