/** A process whose endpoint can misbehave, for tests of what it makes of that. Knows no single test. */

import { assert, assertEquals } from "@std/assert";
import { type ModelServer, startModelServer } from "../fakes/model_server.ts";
import { type PreparedHome, prepareHome } from "../fakes/prepare_home.ts";
import { type DialectName, drive, type Driver } from "./_drive.ts";
import { FaultyEndpoint } from "./_faulty_endpoint.ts";

/** The key of the endpoint. It must turn up nowhere. */
export const KEY = "sk-faults-0123456789abcdefghijklmnop";

export interface EndpointOptions {
  readonly api?: "chat" | "responses";
  /** The configuration of retries; pauses are short unless it says otherwise. */
  readonly retry?: Record<string, number>;
  /** More configuration of the provider. */
  readonly provider?: Record<string, unknown>;
}

export interface EndpointPlace {
  /** Answers "fine" to everything that reaches it, and refuses what is not paired. */
  readonly server: ModelServer;
  readonly endpoint: FaultyEndpoint;
  readonly home: PreparedHome;
}

/** Runs `test` with an endpoint and a home that knows it. At the end the endpoint must not have refused anything, and no session may have the key. */
export async function withEndpoint(
  { api, retry, provider }: EndpointOptions,
  test: (place: EndpointPlace) => Promise<void>,
): Promise<void> {
  await using server = startModelServer();
  server.answer(() => ({ text: "fine" }));
  await using endpoint = new FaultyEndpoint(server);
  await using home = await prepareHome({
    server,
    api,
    contextWindow: 100_000_000,
    extraConfig: {
      providers: { local: { baseUrl: `${endpoint.origin}/v1`, apiKey: KEY, ...provider } },
      // A connection that the endpoint has closed may be used once more, and is tried again.
      retry: { maxRetries: 3, baseDelayMs: 20, maxDelayMs: 60_000, ...retry },
    },
  });
  await test({ server, endpoint, home });
  assertEquals(server.complaints, []);
  for await (const text of readAll(`${home.home}/sessions`)) {
    assert(!text.includes(KEY), "the key is in a session");
  }
}

/** The same with a process of one dialect, which is ended and checked after the test. */
export async function withDriver(
  { dialect, timeoutMs, ...options }: EndpointOptions & {
    readonly dialect: DialectName;
    readonly timeoutMs?: number;
  },
  test: (use: EndpointPlace & { readonly driver: Driver }) => Promise<void>,
): Promise<void> {
  await withEndpoint(options, async (place) => {
    await using driver = await drive({ dialect, home: place.home, timeoutMs });
    await test({ ...place, driver });
    await finish(driver);
  });
}

/** Ends a process and checks what it wrote. */
export async function finish(driver: Driver): Promise<void> {
  await driver.finish();
  assert(!JSON.stringify(driver.weir.records).includes(KEY), "the key is in a record");
  assert(!driver.weir.stderr.includes(KEY), "the key is on stderr");
}

async function* readAll(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* readAll(`${folder}/${name}`);
    else yield await Deno.readTextFile(`${folder}/${name}`);
  }
}
