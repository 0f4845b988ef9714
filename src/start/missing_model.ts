/** What stands in for a model where none is set up, so that a client that is served anyway learns from its first turn what to set. */

import type { Model } from "../agent/model.ts";
import { ModelError, type StartError } from "../errors.ts";

/** A model without a name whose every request fails with what has to be set. */
export function createMissingModel({ facts }: StartError): Model {
  const text = facts?.about === "key"
    ? `Cannot ask the model: its API key is missing, set ${facts.variable} or run weir setup`
    : "Cannot ask a model: none is set up, set OPENAI_API_KEY, name one with --model, or run weir setup";
  const fail = () => Promise.reject(new ModelError("set_up", text));
  return {
    provider: "",
    id: "",
    api: "chat",
    info: {
      contextWindow: undefined,
      maxOutputTokens: undefined,
      reasoning: undefined,
      input: ["text"],
      price: undefined,
    },
    reply: fail,
    listModels: fail,
  };
}
