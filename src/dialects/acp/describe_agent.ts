/** The answer to `initialize`. */

import { version } from "../../version.ts";
import type { ClientAbilities } from "./read_params.ts";
import type { AuthMethod, InitializeResponse } from "@agentclientprotocol/sdk";

/** `isStored`: whether sessions can be listed and loaded. */
export function describeAgent(
  { isStored, abilities }: { isStored: boolean; abilities: ClientAbilities },
): InitializeResponse {
  return {
    protocolVersion: 1,
    agentCapabilities: {
      loadSession: isStored,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: false },
      sessionCapabilities: { ...(isStored && { list: {}, resume: {} }), close: {} },
      auth: {},
      _meta: { weir: { steer: true } },
    },
    authMethods: [CONFIGURATION, ...(abilities.terminalAuth ? [SETUP] : [])],
    agentInfo: { name: "weir", title: "Weir", version },
  };
}

export const CONFIGURATION_ID = "weir-config";

const CONFIGURATION: AuthMethod = {
  id: CONFIGURATION_ID,
  name: "Use Weir's configuration",
  description:
    "Takes the model and its key from config.jsonc or the environment; weir setup writes it",
};

const SETUP: AuthMethod = {
  id: "weir-setup",
  type: "terminal",
  name: "Run weir setup",
  args: ["--setup"],
  env: {},
};
