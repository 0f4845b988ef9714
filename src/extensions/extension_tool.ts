/** From a tool as an extension describes it to one that the loop can run. Trusts nothing that the extension gives back. */

import type { JsonObject } from "../agent/message.ts";
import { errorOutcome, textOutcome, type Tool, type ToolOutcome } from "../agent/tool.ts";
import { errorText } from "../errors.ts";
import { parseArguments } from "../tools/arguments.ts";
import type { ExtensionTool, ToolAnswer } from "./extension_api.ts";

/** Throws `TypeError` when the parameters are no JSON Schema of an object. */
export function createExtensionTool(tool: ExtensionTool): Tool {
  const parameters = toParameters(tool.parameters);
  return {
    name: tool.name,
    description: tool.description,
    parameters,
    parse: (args) => parse(parameters, args),
    run: async (args, { callId, workspace, signal }) => {
      try {
        const context = { callId, workspace, signal };
        return toOutcome(await tool.run(args as JsonObject, context));
      } catch (error) {
        signal.throwIfAborted();
        return errorOutcome(errorText(error));
      }
    },
  };
}

/** A text, or an object with a text; `undefined` for everything else. */
export function toAnswer(value: unknown): ToolAnswer | undefined {
  if (typeof value === "string") return { text: value };
  if (typeof value !== "object" || value === null || !("text" in value)) return undefined;
  if (typeof value.text !== "string") return undefined;
  return { text: value.text, isError: "isError" in value && value.isError === true };
}

function toOutcome(value: unknown): ToolOutcome {
  const answer = toAnswer(value);
  if (answer === undefined) {
    return errorOutcome("The tool ended without a text or an object with a text");
  }
  return answer.isError ? errorOutcome(answer.text) : textOutcome(answer.text);
}

/** A copy, so that later changes of the extension's object change nothing. */
function toParameters(given: unknown): JsonObject {
  const schema = given === undefined ? {} : JSON.parse(JSON.stringify(given) ?? "null");
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    throw new TypeError("addTool needs parameters that are a JSON Schema of an object");
  }
  const type = schema.type ?? "object";
  if (type !== "object") {
    throw new TypeError('addTool needs parameters of the type "object"');
  }
  return { type, properties: {}, additionalProperties: false, ...schema };
}

function parse(parameters: JsonObject, args: JsonObject) {
  try {
    return parseArguments(parameters, args);
  } catch (error) {
    // A schema that is none in its depth.
    return { ok: false as const, problem: errorText(error) };
  }
}
