import { assertEquals, assertThrows } from "@std/assert";
import type { Config } from "../src/config/config.ts";
import { checkConfig } from "../src/config/config_schema.ts";
import { StartError } from "../src/errors.ts";
import type { Host } from "../src/host.ts";
import { resolveModel, type ResolveModelOptions } from "../src/config/resolve_model.ts";

type Environment = Record<string, string>;

function resolve(
  values: unknown,
  { environment = {}, ...options }:
    & Omit<ResolveModelOptions, "host">
    & { environment?: Environment },
) {
  const config: Config = { ...checkConfig(values), file: "/h/config.jsonc", exists: true };
  const host = { getEnv: (name: string) => environment[name] } as Host;
  return resolveModel(config, { ...options, host });
}

function assertRefused(
  run: () => unknown,
  expected: { text: string; kind: string; exitCode: number },
): void {
  const { message, kind, exitCode } = assertThrows(run, StartError);
  assertEquals({ text: message, kind, exitCode }, expected);
}

const NOT_SET_UP = {
  text: "Weir is not set up yet; run weir setup",
  kind: "not_set_up",
  exitCode: 2,
};
const NO_KEY = { text: "missing API key; re-run weir setup", kind: "key", exitCode: 1 };
const TWO = {
  model: "local/small",
  providers: {
    cloud: { apiKeyEnv: "CLOUD_KEY", baseUrl: "https://cloud/v1", api: "responses" },
    local: {
      baseUrl: "http://127.0.0.1:1/v1",
      timeoutSeconds: 2,
      stallTimeoutSeconds: 3,
      headers: { "X-A": "b" },
      models: { small: { contextWindow: 100, input: ["text"], price: { input: 1, output: 2 } } },
    },
  },
};

Deno.test("resolveModel() describes the configured model", () => {
  const choice = resolve(TWO, {});
  assertEquals({ ...choice, headers: { ...choice.headers } }, {
    provider: "local",
    id: "small",
    api: "chat",
    baseUrl: "http://127.0.0.1:1/v1",
    apiKey: undefined,
    headers: { "X-A": "b" },
    timeoutMs: 2000,
    stallTimeoutMs: 3000,
    info: {
      contextWindow: 100,
      maxOutputTokens: undefined,
      reasoning: undefined,
      input: ["text"],
      price: { input: 1, output: 2 },
    },
  });
});

Deno.test("resolveModel() takes what is before the first slash for a provider only when it is one", () => {
  const name = (model: string, provider?: string) => {
    const choice = resolve(TWO, { model, provider, environment: { CLOUD_KEY: "k" } });
    return [choice.provider, choice.id];
  };
  assertEquals(name("cloud/org/big"), ["cloud", "org/big"]);
  assertEquals(name(" big "), ["local", "big"]);
  assertEquals(name("org/big"), ["local", "org/big"]);
  assertEquals(name("big", "cloud"), ["cloud", "big"]);
  assertEquals(name("org/big", "cloud"), ["cloud", "org/big"]);
  assertEquals(name("big", "demo"), ["local", "big"]);
  assertEquals(name("cloud/"), ["local", "cloud/"]);
  assertEquals(name("constructor/x"), ["local", "constructor/x"]);
});

Deno.test("resolveModel() can refuse a provider that is not configured", () => {
  const options = { model: "org/big", refuseUnknownProvider: true };
  assertRefused(() => resolve(TWO, options), {
    text: "unsupported provider: org",
    kind: "configuration",
    exitCode: 1,
  });
  assertRefused(() => resolve(TWO, { ...options, provider: "none", model: "big" }), {
    text: "unsupported provider: none",
    kind: "configuration",
    exitCode: 1,
  });
  assertEquals(resolve(TWO, { ...options, model: "big" }).id, "big");
  assertEquals(resolve(TWO, { ...options, provider: "local" }).id, "org/big");
});

Deno.test("resolveModel() has the demo model built in", () => {
  for (const model of ["demo", "demo/demo"]) {
    const { provider, id, api, apiKey } = resolve({}, { model });
    assertEquals([provider, id, api, apiKey], ["demo", "demo", "demo", undefined]);
    assertEquals(resolve({ model }, {}).api, "demo");
  }
  // Another model after it is one of the provider that would have been chosen without it.
  assertEquals(resolve({ ...TWO, model: "demo" }, { model: "big" }).provider, "local");
});

Deno.test("resolveModel() needs no configuration with OPENAI_API_KEY", () => {
  const environment = { OPENAI_API_KEY: "k" };
  const pick = (options: Parameters<typeof resolve>[1]) => {
    const { provider, id, baseUrl, apiKey, timeoutMs, stallTimeoutMs } = resolve({}, options);
    return [`${provider}/${id}`, baseUrl, apiKey, timeoutMs, stallTimeoutMs];
  };
  const openai = "https://api.openai.com/v1";
  assertEquals(pick({ environment }), ["openai/gpt-5.1", openai, "k", 45000, 180000]);
  assertEquals(
    pick({ environment: { ...environment, OPENAI_BASE_URL: "http://x/v1", OPENAI_MODEL: "a/b" } }),
    ["openai/a/b", "http://x/v1", "k", 45000, 180000],
  );
  assertEquals(pick({ environment, model: "openai/x" })[0], "openai/x");
  assertEquals(pick({ environment, model: "x", apiKey: "mine", baseUrl: "http://y" }), [
    "openai/x",
    "http://y",
    "mine",
    45000,
    180000,
  ]);
  assertEquals(pick({ model: "x", baseUrl: "http://y" })[2], undefined);
  assertEquals(resolve({ agent: { steering_mode: "all" } }, { environment }).provider, "openai");
});

Deno.test("resolveModel() says when nothing is set up", () => {
  assertRefused(() => resolve({}, {}), NOT_SET_UP);
  assertRefused(() => resolve({}, { environment: { OPENAI_API_KEY: "" } }), NOT_SET_UP);
  assertRefused(() => resolve({ providers: { a: {} } }, {}), NOT_SET_UP);
});

Deno.test("resolveModel() says when the key is missing", () => {
  assertRefused(() => resolve({}, { model: "gpt-5.1" }), NO_KEY);
  assertRefused(() => resolve({ model: "openai/x" }, {}), NO_KEY);
  assertRefused(() => resolve(TWO, { model: "cloud/big" }), NO_KEY);
  assertRefused(() => resolve(TWO, { model: "cloud/big", baseUrl: "http://y" }), NO_KEY);
  assertRefused(() => resolve({ model: "m", providers: { openai: {} } }, {}), NO_KEY);
});

Deno.test("resolveModel() finds the key", () => {
  const key = (provider: unknown, options: Parameters<typeof resolve>[1] = {}) =>
    resolve({ model: "m", providers: { p: provider } }, options).apiKey;
  const environment = { P_KEY: "env", OPENAI_API_KEY: "openai" };
  assertEquals(key({ baseUrl: "http://x", apiKey: "file", apiKeyEnv: "P_KEY" }), "file");
  assertEquals(key({ baseUrl: "http://x", apiKeyEnv: "P_KEY" }, { environment }), "env");
  assertEquals(key({ baseUrl: "http://x", apiKeyEnv: "P_KEY" }, { apiKey: "given" }), "given");
  assertEquals(key({ baseUrl: "http://x" }, { environment }), undefined);
  assertEquals(key({}, { environment }), "openai");
});
