import { assertEquals } from "@std/assert";
import { DIALECTS, drive } from "./_drive.ts";
import { chunk, STREAM, write } from "./_faulty_endpoint.ts";
import { finish, withEndpoint } from "./_with_endpoint.ts";

const DEPTH = 9000;

type Part = Record<string, unknown>;

/** Pieces of calls as an endpoint streams them. */
const CALLS: Record<string, readonly Part[]> = {
  "a tool that does not exist": [{ index: 0, id: "a", function: { name: "fly", arguments: "{}" } }],
  "a tool named as a part of every object": [
    { index: 0, id: "a", function: { name: "constructor", arguments: "{}" } },
  ],
  "arguments that are no JSON": [
    { index: 0, id: "a", function: { name: "read", arguments: '{"path": "notes' } },
  ],
  "arguments that are no object": [
    { index: 0, id: "a", function: { name: "read", arguments: "[1]" } },
  ],
  "arguments against the schema": [
    { index: 0, id: "a", function: { name: "read", arguments: '{"path": 5, "more": {}}' } },
  ],
  "no arguments": [{ index: 0, id: "a", function: { name: "ls" } }],
  "empty arguments": [{ index: 0, id: "a", function: { name: "ls", arguments: "" } }],
  "null arguments": [{ index: 0, id: "a", function: { name: "ls", arguments: null } }],
  "no id": [{ index: 0, function: { name: "ls", arguments: "{}" } }],
  "an empty id": [{ index: 0, id: "", function: { name: "ls", arguments: "{}" } }],
  "no name": [{ index: 0, id: "a", function: { arguments: "{}" } }],
  "an empty name": [{ index: 0, id: "a", function: { name: "", arguments: "{}" } }],
  "one id for two calls": [
    { index: 0, id: "a", function: { name: "ls", arguments: "{}" } },
    { index: 1, id: "a", function: { name: "ls", arguments: "{}" } },
  ],
  "no index": [{ id: "a", function: { name: "ls", arguments: "{}" } }],
  "gaps between indexes": [
    { index: 7, id: "b", function: { name: "ls", arguments: "{}" } },
    { index: 3, id: "a", function: { name: "ls", arguments: "{}" } },
  ],
  "pieces that alternate": [
    { index: 1, id: "b", function: { name: "read", arguments: '{"pa' } },
    { index: 0, id: "a", function: { name: "ls", arguments: "{" } },
    { index: 1, id: "b", function: { arguments: 'th":"notes.txt"}' } },
    { index: 0, function: { arguments: "}" } },
  ],
  "no function": [{ index: 0, id: "a" }],
  "deep arguments": [{
    index: 0,
    id: "a",
    function: { name: "ls", arguments: `{"path":${"[".repeat(DEPTH)}${"]".repeat(DEPTH)}}` },
  }],
  "many calls": Array.from({ length: 60 }, (_, index) => ({
    index,
    id: `c${index}`,
    function: { name: index % 2 ? "ls" : "fly", arguments: "{}" },
  })),
};

for (const dialect of DIALECTS) {
  Deno.test(`${dialect}: a broken call is a result for the model, and the turn goes on`, () =>
    withEndpoint({}, async ({ endpoint, home }) => {
      await using driver = await drive({ dialect, home });
      for (const finish of ["tool_calls", "stop"]) {
        for (const [name, parts] of Object.entries(CALLS)) {
          const events = parts.map((part) => chunk({ tool_calls: [part] })).join("");
          endpoint.misbehave(
            (conn) => write(conn, STREAM + events + chunk({}, finish) + "data: [DONE]\n\n"),
            1,
          );
          assertEquals(await (await driver.prompt(name))(), "answer", name);
          assertEquals(await (await driver.prompt("again"))(), "answer", name);
        }
      }
      // The grammar of pi compares values in a way that the stack does not hold.
      if (dialect === "pi") await driver.weir.closeInput();
      else await finish(driver);
    }));
}
