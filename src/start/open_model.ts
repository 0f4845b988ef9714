/** From a model choice to a model. Loads the code of an endpoint when its model is asked for the first time. */

import type { Model } from "../agent/model.ts";
import type { ModelChoice } from "../config/resolve_model.ts";
import { version } from "../version.ts";

/** A model for which nothing is loaded or asked yet. */
export function openModel(choice: ModelChoice): Model {
  const { provider, id, api, info, baseUrl } = choice;
  let loaded: Promise<Model> | undefined;
  const load = () => loaded ??= loadModel(choice);
  return {
    provider,
    id,
    api,
    info,
    baseUrl,
    reply: async (request, options) => await (await load()).reply(request, options),
    listModels: async (options) => await (await load()).listModels(options),
  };
}

async function loadModel(choice: ModelChoice): Promise<Model> {
  const { api } = choice;
  if (api === "demo") return (await import("../models/demo.ts")).createDemoModel();
  const { createOpenaiModel } = await import("../models/openai.ts");
  return createOpenaiModel({ ...choice, api, version });
}
