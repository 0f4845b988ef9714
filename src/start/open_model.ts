/** From a model choice to a model. Loads the code of an endpoint when its model is asked for the first time. */

import type { Price } from "../agent/message.ts";
import type { Model } from "../agent/model.ts";
import type { ModelChoice } from "../config/resolve_model.ts";
import { version } from "../version.ts";

/** How long the end of a reply waits for the price list, which is asked for when the reply begins. */
const PRICE_PATIENCE_MS = 300;

/** A model for which nothing is loaded or asked yet. Without a configured price, its endpoint's own list is looked at once. */
export function openModel(choice: ModelChoice): Model {
  const { provider, id, api, baseUrl } = choice;
  let loaded: Promise<Model> | undefined;
  let listedPrice: Price | undefined;
  let asking: Promise<void> | undefined;
  const load = () => loaded ??= loadModel(choice);
  const askForPrice = () =>
    asking ??= findPrice(choice).then((price) => {
      listedPrice = price;
    });
  return {
    provider,
    id,
    api,
    baseUrl,
    get info() {
      return { ...choice.info, price: choice.info.price ?? listedPrice };
    },
    async reply(request, options) {
      const model = await load();
      const price = choice.info.price === undefined && api !== "demo" ? askForPrice() : undefined;
      const end = await model.reply(request, options);
      if (price !== undefined) await withPatience(price);
      return end;
    },
    listModels: async (options) => await (await load()).listModels(options),
  };
}

/** Never rejects: a price that nobody tells is unknown. */
async function findPrice(
  { baseUrl, apiKey, headers, id }: ModelChoice,
): Promise<Price | undefined> {
  const { findListedPrice } = await import("../models/list_models.ts");
  const { signal } = new AbortController();
  return await findListedPrice(id, { baseUrl, apiKey, headers, fetch, signal })
    .catch(() => undefined);
}

async function withPatience(work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const patience = new Promise<void>((resolve) => timer = setTimeout(resolve, PRICE_PATIENCE_MS));
  await Promise.race([work, patience]);
  clearTimeout(timer);
}

async function loadModel(choice: ModelChoice): Promise<Model> {
  const { api } = choice;
  if (api === "demo") return (await import("../models/demo.ts")).createDemoModel();
  const { createOpenaiModel } = await import("../models/openai.ts");
  return createOpenaiModel({ ...choice, api, version });
}
