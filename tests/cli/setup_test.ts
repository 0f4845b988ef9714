import { assert, assertEquals, assertRejects } from "@std/assert";
import { runSetup } from "../../src/cli/setup.ts";
import type { SetupOptions } from "../../src/cli/setup_options.ts";
import { parseCommandLine } from "../../src/cli/command_line.ts";
import { readConfig } from "../../src/config/config.ts";
import { StartError } from "../../src/errors.ts";
import { resolveModel } from "../../src/config/resolve_model.ts";
import { isTrusted } from "../../src/config/trust.ts";
import { createTemporaryPlace, type TemporaryPlace } from "../temporary_place.ts";
import { type RecordedIo, recordIo } from "./recorded_io.ts";

const { signal } = new AbortController();
const NEXT =
  "Next: weir doctor checks the connection, weir trust FOLDER lets Weir work in a folder";

function setup(place: TemporaryPlace, line: string, io: RecordedIo): Promise<number> {
  const args = ["setup", ...line.split(" ").filter((word) => word !== "")];
  const command = parseCommandLine(args, { isTerminal: false, isFolder: () => false });
  assert(command.kind === "setup");
  const options: SetupOptions = command;
  const { host, home, workspace } = place;
  return runSetup(host, { ...options, home, currentFolder: workspace, signal }, io);
}

async function choose({ host, home, workspace }: TemporaryPlace) {
  return resolveModel(await readConfig(host, { home, workspace, trusted: false, signal }), {
    host,
  });
}

Deno.test("runSetup() writes what the options say without asking", async () => {
  await using place = await createTemporaryPlace();
  const io = recordIo();
  const line = "--provider local --base-url http://127.0.0.1:9/v1 --model org/m --api responses " +
    "--api-key topsecret --trust .";
  assertEquals(await setup(place, line, io), 0);
  const { provider, id, api, apiKey, baseUrl } = await choose(place);
  assertEquals(
    [provider, id, api, apiKey, baseUrl],
    ["local", "org/m", "responses", "topsecret", "http://127.0.0.1:9/v1"],
  );
  assertEquals([await place.mode("home/config.jsonc"), await place.mode("home")], [0o600, 0o700]);
  const { host, home, workspace } = place;
  assertEquals(await isTrusted(host, { home, folder: workspace, signal }), true);
  assertEquals([io.output, io.errors], [[
    `Wrote ${home}/config.jsonc: local/org/m at 127.0.0.1:9`,
    `Trusted ${workspace}`,
    NEXT,
  ], []]);
});

Deno.test("runSetup() keeps other providers and comments when it runs again", async () => {
  await using place = await createTemporaryPlace();
  await place.write(
    "home/config.jsonc",
    '{\n  // mine\n  "model": "a/x",\n  "providers": {\n    "a": { "apiKey": "k", "note": 1 }, // first\n  },\n}\n',
  );
  await setup(place, "--provider b --base-url http://b/v1 --model y --no-key", recordIo());
  await setup(
    place,
    "--provider a --base-url http://a/v1 --model y --api-key-env A_KEY",
    recordIo(),
  );
  assertEquals(
    await place.read("home/config.jsonc"),
    `{
  // mine
  "model": "a/y",
  "providers": {
    "a": { "note": 1, "baseUrl": "http://a/v1", "apiKeyEnv": "A_KEY" }, // first
    "b": {
      "baseUrl": "http://b/v1"
    },
  },
}
`,
  );
});

Deno.test("runSetup() names the options that are missing where nobody can be asked", async () => {
  const cases: [string, string][] = [
    [
      "",
      "there is no terminal, give --provider, --model, one of --api-key, --api-key-env, --no-key",
    ],
    [
      "--provider local --model m",
      "there is no terminal, give --base-url, one of --api-key, --api-key-env, --no-key",
    ],
    ["--provider openai --no-key", "there is no terminal, give --model"],
    [
      "--provider local --yes",
      "--yes has no default for everything, give --base-url, --model, " +
      "one of --api-key, --api-key-env, --no-key",
    ],
  ];
  for (const [line, text] of cases) {
    await using place = await createTemporaryPlace();
    const error = await assertRejects(() => setup(place, line, recordIo()), StartError);
    assertEquals(
      [error.message, error.kind, error.exitCode],
      [`Cannot ask for the settings: ${text}`, "usage", 2],
    );
    assertEquals(await place.host.files.stat(place.home), undefined);
  }
});

Deno.test("runSetup() takes the defaults with --yes", async () => {
  await using place = await createTemporaryPlace();
  const io = recordIo(["never asked"]);
  assertEquals(await setup(place, "--yes", io), 0);
  place.environment.OPENAI_API_KEY = "from outside";
  const { provider, id, apiKey, baseUrl } = await choose(place);
  assertEquals(
    [provider, id, apiKey, baseUrl],
    ["openai", "gpt-5.1", "from outside", "https://api.openai.com/v1"],
  );
  assertEquals(io.questions, []);
  assertEquals(io.output[1], "OPENAI_API_KEY is not set here; set it before you start weir");
});

Deno.test("runSetup() asks for what the options leave open, the key hidden", async () => {
  await using place = await createTemporaryPlace();
  const io = recordIo([
    "local box",
    "local",
    "nowhere",
    " http://127.0.0.1/v1 ",
    "topsecret",
    "",
    "m",
  ]);
  assertEquals(await setup(place, "", io), 0);
  assertEquals(io.questions, [
    "Name for the provider [openai]: ",
    "Name for the provider [openai]: ",
    "Address of its OpenAI-compatible API: ",
    "Address of its OpenAI-compatible API: ",
    "hidden: API key (empty: none): ",
    "Model: ",
    "Model: ",
  ]);
  assertEquals(io.errors, [
    "Name for the provider takes letters, digits, ., _ and -, beginning with a letter or digit",
    "Address of its OpenAI-compatible API must be an http or https address such as https://api.openai.com/v1",
    "Model is needed",
  ]);
  const { id, apiKey } = await choose(place);
  assertEquals([id, apiKey], ["m", "topsecret"]);
  assert(![...io.output, ...io.errors, ...io.questions].some((line) => line.includes("topsecret")));
});

Deno.test("runSetup() offers what is configured and keeps the key", async () => {
  await using place = await createTemporaryPlace();
  await setup(place, "--provider local --base-url http://a/v1 --model m --api-key k", recordIo());
  const io = recordIo(["", "", "", ""]);
  assertEquals(await setup(place, "", io), 0);
  assertEquals(io.questions, [
    "Name for the provider [local]: ",
    "Address of its OpenAI-compatible API [http://a/v1]: ",
    "hidden: API key (empty: keep what is configured): ",
    "Model [m]: ",
  ]);
  assertEquals((await choose(place)).apiKey, "k");
});

Deno.test("runSetup() writes nothing when the person ends the input", async () => {
  for (let count = 0; count < 4; count++) {
    await using place = await createTemporaryPlace();
    const io = recordIo(["openai", "", "key"].slice(0, count));
    assertEquals(await setup(place, "", io), 1);
    assertEquals(io.errors, ["weir setup: nothing was written"]);
    assertEquals(await place.host.files.stat(place.home), undefined);
  }
});

Deno.test("runSetup() leaves settings that are not valid alone", async () => {
  await using place = await createTemporaryPlace();
  await place.write("home/config.jsonc", "{");
  const error = await assertRejects(() => setup(place, "--yes", recordIo()), StartError);
  assertEquals(error.kind, "configuration");
  assertEquals(await place.read("home/config.jsonc"), "{");
});
