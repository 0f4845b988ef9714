/** Where extensions come into a session: around the decision about a call, its result, and the model. Knows no module. */

import type { ExtensionHooks } from "../agent/extension_hooks.ts";
import type { TurnHooks } from "../agent/hook.ts";
import type { Model } from "../agent/model.ts";

/** The hooks that the main agent and its subagents share. */
export type CallHooks = Pick<TurnHooks, "beforeCall" | "afterCall">;

/** Extensions may refuse a call before anybody is asked about it, and change its result before it is shortened. */
export function extendCallHooks(
  hooks: CallHooks,
  extensions: ExtensionHooks | undefined,
): CallHooks {
  if (extensions === undefined) return hooks;
  return {
    beforeCall: async (call, tool, args, signal) => {
      const text = await extensions.beforeCall(call, signal);
      if (text !== undefined) return { run: false, cause: "refused", text };
      return await hooks.beforeCall(call, tool, args, signal);
    },
    afterCall: async (call, result) =>
      await hooks.afterCall(call, await extensions.afterCall(call, result)),
  };
}

/** The same model, for requests that extensions may add to. */
export function extendModel(model: Model, extensions: ExtensionHooks | undefined): Model {
  if (extensions === undefined) return model;
  return {
    provider: model.provider,
    id: model.id,
    api: model.api,
    // May learn a price while a reply comes.
    get info() {
      return model.info;
    },
    ...(model.baseUrl === undefined ? {} : { baseUrl: model.baseUrl }),
    reply: async (request, options) =>
      await model.reply(await extensions.beforeRequest(request, options.signal), options),
    listModels: (options) => model.listModels(options),
  };
}
