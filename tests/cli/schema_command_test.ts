import { assert, assertEquals, assertRejects } from "@std/assert";
import { runSchemaCommand } from "../../src/cli/schema_command.ts";
import { StartError } from "../../src/errors.ts";
import { recordIo } from "./recorded_io.ts";

const kind = "schema";

Deno.test("runSchemaCommand() prints the schema of a dialect, circle by default", async () => {
  for (
    const [dialect, name] of [[undefined, "Circle"], ["circle", "Circle"], ["nimlet", "Nimlet"]]
  ) {
    const io = recordIo();
    assertEquals(await runSchemaCommand({ kind, dialect, types: false }, io), 0);
    const schema = JSON.parse(io.output.join("\n"));
    assertEquals(
      schema.anyOf,
      ["Command", "Response", "Event"].map((part) => ({
        $ref: `#/$defs/${name}${part}`,
      })),
    );
    const types = recordIo();
    await runSchemaCommand({ kind, dialect, types: true }, types);
    for (const part of Object.keys(schema.$defs)) {
      assert(types.output.join("\n").includes(`export type ${part} = `), part);
    }
  }
});

Deno.test("runSchemaCommand() says which dialects it does not know", async () => {
  for (
    const [dialect, text] of [
      ["klingon", "--dialect must be circle, nimlet, pi or acp"],
      ["acp", "there is no schema of the acp dialect"],
    ]
  ) {
    const call = () => runSchemaCommand({ kind, dialect, types: false }, recordIo());
    assertEquals((await assertRejects(call, StartError)).message, text);
  }
});
