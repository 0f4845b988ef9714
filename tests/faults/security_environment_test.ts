/** Secrets of the environment stay in the program: what it starts does not have them. With the real process. */

import { assert, assertEquals } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { prepareHome } from "../fakes/prepare_home.ts";
import { startWeir } from "../fakes/weir_process.ts";
import { withBench } from "./_circle_bench.ts";
import { drive } from "./_drive.ts";

const isUnix = Deno.build.os !== "windows";

/** Variables that look like secrets, and those that commands need although they nearly do. */
const SECRET_NAMES = [
  ...["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AZURE_OPENAI_KEY", "MY_OWN_KEY", "apikey", "APIKEY"],
  ...[
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "GITHUB_TOKEN",
    "GH_TOKEN",
  ],
  ...[
    "NPM_TOKEN",
    "HF_TOKEN",
    "npm_config__authToken",
    "CI_JOB_TOKEN",
    "GITHUB_PAT",
    "CLIENT_SECRET",
  ],
  ...["PGPASSWORD", "MYSQL_PWD", "SSHPASS", "DB_PASSWORD", "password", "SSH_KEY_PASSPHRASE"],
  ...["GOOGLE_APPLICATION_CREDENTIALS", "AZURE_STORAGE_CONNECTION_STRING", "DOCKER_AUTH_CONFIG"],
  ...[
    "STRIPE_SECRET",
    "SECRETS",
    "TOKENS",
    "TOKEN",
    "SIGNING_KEY_BASE64",
    "WEIR_API_KEY",
    "SMTP_PASS",
  ],
];
const PLAIN_NAMES = [
  ...[
    "SSH_AUTH_SOCK",
    "LANG",
    "EDITOR",
    "KEYBOARD",
    "PASSAGE",
    "TOKENIZER",
    "OLDER_PWDS",
    "MONKEY",
  ],
  ...["AWS_REGION", "GIT_AUTHOR_NAME", "COMPASS_HOME", "XDG_CONFIG_HOME"],
];
const CANARY = "canary4711";
const ENVIRONMENT = Object.fromEntries(
  [...SECRET_NAMES, ...PLAIN_NAMES].map((name) => [name, `${CANARY}_${name}`]),
);

/** Which of the variables a text of `env` has. */
function namesIn(text: string): string[] {
  return [...text.matchAll(new RegExp(`^(\\w+)=${CANARY}_\\1$`, "gm"))].map(([, name]) => name!)
    .sort();
}

Deno.test({
  name:
    "commands get no variable that looks like a secret, in the foreground, as jobs, in subagents",
  ignore: !isUnix,
  fn: () =>
    withBench({ env: ENVIRONMENT }, async ({ call, weir, server, turn, place }) => {
      const [front] = await call(["bash", { command: "env" }]);
      assertEquals(namesIn(front!.output), PLAIN_NAMES.toSorted());
      await call(["bash", {
        command: "env > job.part; mv job.part job.txt; sleep 100",
        background: true,
      }]);
      await waitForText(`${place.workspace}/job.txt`);
      assertEquals(
        namesIn(await Deno.readTextFile(`${place.workspace}/job.txt`)),
        PLAIN_NAMES.toSorted(),
      );
      server.answer((request) => {
        const texts = JSON.stringify(request.messages);
        if (!texts.includes("show-it")) {
          const args = { description: "env", prompt: "show-it", subagent_type: "general" };
          return { toolCalls: [{ name: "task", args }] };
        }
        if (request.messages.at(-1)!.role === "tool") return { text: "seen" };
        return { toolCalls: [{ name: "bash", args: { command: "sh -c env" } }] };
      });
      const before = server.requests.length;
      await turn("go");
      const seen = server.requests.slice(before).flatMap(({ messages }) => messages)
        .filter(({ role }) => role === "tool").map(({ content }) => String(content));
      assertEquals(
        [...new Set(seen.flatMap(namesIn))].sort(),
        PLAIN_NAMES.toSorted(),
      );
      assert(!weir.stderr.includes(CANARY));
    }),
});

Deno.test({
  name:
    "a variable that the configuration names is passed, and the key variable of a provider is not",
  ignore: !isUnix,
  fn: () =>
    withBench({
      env: { ...ENVIRONMENT, ODDLY_NAMED: `${CANARY}_ODDLY_NAMED` },
      extraConfig: {
        pass_environment: ["NPM_TOKEN"],
        providers: { other: { baseUrl: "http://127.0.0.1:1/v1", apiKeyEnv: "ODDLY_NAMED" } },
      },
    }, async ({ call }) => {
      const [result] = await call(["bash", { command: "env" }]);
      assertEquals(namesIn(result!.output), [...PLAIN_NAMES, "NPM_TOKEN"].sort());
    }),
});

Deno.test({
  name: "the direct bash of the pi dialect has no secrets either",
  ignore: !isUnix,
  fn: async () => {
    await using server = startModelServer();
    await using place = await prepareHome({ server });
    await using weir = await startWeir({
      args: ["--mode", "rpc", "--dialect", "pi", place.workspace],
      home: place.home,
      env: ENVIRONMENT,
    });
    const { data } = await weir.request({ type: "bash", command: "env" });
    assertEquals(namesIn((data as { output: string }).output), PLAIN_NAMES.toSorted());
  },
});

const SERVER = `
let rest = "";
for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split("\\n");
  rest = lines.pop();
  for (const { id, method } of lines.map((line) => JSON.parse(line))) {
    if (id === undefined) continue;
    const child = () => new TextDecoder().decode(new Deno.Command("env").outputSync().stdout);
    const own = () => Object.entries(Deno.env.toObject()).map((pair) => pair.join("=")).join("\\n");
    const result = method === "initialize"
      ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "e", version: "1" } }
      : method === "tools/list"
      ? { tools: [{ name: "show", description: "", inputSchema: { type: "object", properties: {} } }] }
      : { content: [{ type: "text", text: own() + "\\n" + child() }] };
    console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
  }
}`;

Deno.test({
  name:
    "MCP servers and what they start have only the secrets that their own configuration gives them",
  ignore: !isUnix,
  fn: async () => {
    await using server = startModelServer();
    await using place = await prepareHome({ server });
    const script = `${place.home}/server.ts`;
    await Deno.writeTextFile(script, SERVER);
    const config = JSON.parse(await Deno.readTextFile(`${place.home}/config.jsonc`));
    config.mcp = {
      servers: {
        env: {
          command: Deno.execPath(),
          args: ["run", "-A", "--no-config", script],
          env: { GH_TOKEN: `${CANARY}_GH_TOKEN` },
        },
      },
    };
    await Deno.writeTextFile(`${place.home}/config.jsonc`, JSON.stringify(config));
    await using weir = await startWeir({
      args: ["--mode", "rpc", "--yolo", "--extensions", place.workspace],
      home: place.home,
      env: ENVIRONMENT,
    });
    server.reply({ toolCalls: [{ name: "env_show", args: {} }] }, { text: "done" });
    await weir.send({ type: "prompt", message: "go" });
    const result = (await weir.settled()).find(({ type }) => type === "tool_result")!;
    assertEquals(
      [...new Set(namesIn(String(result.output)))].sort(),
      [...PLAIN_NAMES, "GH_TOKEN"].sort(),
    );
  },
});

const EXTENSION = `
import { execSync } from "node:child_process";
export default (weir) => weir.addTool({
  name: "show",
  description: "",
  run: () => {
    const own = Object.entries(Deno.env.toObject()).map((pair) => pair.join("=")).join("\\n");
    const child = new TextDecoder().decode(new Deno.Command("env").outputSync().stdout);
    return [own, child, execSync("env", { encoding: "utf8" })].join("\\n\\n");
  },
});`;

Deno.test({
  name:
    "extensions and what they start have no secrets, and the provider's key still works, in sessions opened later too",
  ignore: !isUnix,
  fn: async () => {
    await using server = startModelServer();
    await using place = await prepareHome({ server });
    await Deno.mkdir(`${place.home}/extensions`);
    await Deno.writeTextFile(`${place.home}/extensions/show.mjs`, EXTENSION);
    const config = JSON.parse(await Deno.readTextFile(`${place.home}/config.jsonc`));
    delete config.providers.local.apiKey;
    config.providers.local.apiKeyEnv = "ODDLY_NAMED";
    config.pass_environment = ["NPM_TOKEN"];
    await Deno.writeTextFile(`${place.home}/config.jsonc`, JSON.stringify(config));
    for (const dialect of ["circle", "acp"] as const) {
      await using driver = await drive({
        dialect,
        home: place,
        args: ["--yolo", "--extensions"],
        env: { ...ENVIRONMENT, ODDLY_NAMED: `${CANARY}_ODDLY_NAMED` },
      });
      for (const turn of ["first", "in a new session"]) {
        server.reply({ toolCalls: [{ name: "show", args: {} }] }, { text: "done" });
        assertEquals(await (await driver.prompt("go"))(), "answer", turn);
        const { headers, messages } = server.requests.at(-1)!;
        assertEquals(headers.authorization, `Bearer ${CANARY}_ODDLY_NAMED`, turn);
        const seen = String(messages.at(-1)!.content).split("\n\n");
        assertEquals(seen.map(namesIn), Array(3).fill([...PLAIN_NAMES, "NPM_TOKEN"].sort()), turn);
        await driver.startAnew();
      }
      await driver.finish();
    }
  },
});

/** Waits until a file has its text. */
async function waitForText(path: string): Promise<void> {
  const deadline = Date.now() + 10_000;
  while ((await Deno.readTextFile(path).catch(() => "")) === "") {
    assert(Date.now() < deadline, `${path} stays empty`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
