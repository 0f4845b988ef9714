// Writes src/client/circle_records.ts, the types of the records that WeirClient reads and writes, from the schemas of the dialect. A test
// says when that has to be done again.
import { WIRE_SCHEMAS } from "../src/dialects/circle/event_schema.ts";
import { createTypes } from "../src/dialects/schema_types.ts";
import { createJsonSchema } from "../src/dialects/wire_schema.ts";
import { configFile } from "./choose_source.ts";

const HEAD = `/**
 * The records of the circle dialect as types. Made by scripts/make_types.ts from the schemas of the dialect; what is changed here is lost.
 */

`;

/** The file, as it has to be. */
export async function makeTypes(): Promise<string> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["fmt", "--config", configFile("npm"), "--ext", "ts", "-"],
    cwd: new URL("..", import.meta.url),
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(
    new TextEncoder().encode(HEAD + createTypes(createJsonSchema(WIRE_SCHEMAS))),
  );
  await writer.close();
  const { stdout } = await child.output();
  return new TextDecoder().decode(stdout);
}

/** Where it is. */
export const typesFile = new URL("../src/client/circle_records.ts", import.meta.url);

if (import.meta.main) await Deno.writeTextFile(typesFile, await makeTypes());
