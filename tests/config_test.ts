import { assertEquals, assertRejects } from "@std/assert";
import { findHome, readConfig } from "../src/config/config.ts";
import { StartError } from "../src/errors.ts";
import { createTemporaryPlace, type TemporaryPlace } from "./temporary_place.ts";

const { signal } = new AbortController();

function read(place: TemporaryPlace, { trusted = false } = {}) {
  const { host, home, workspace } = place;
  return readConfig(host, { home, workspace, trusted, signal });
}

async function assertUnreadable(text: string, where: string): Promise<void> {
  await using place = await createTemporaryPlace();
  await place.write("home/config.jsonc", text);
  const error = await assertRejects(() => read(place), StartError);
  const expected = `settings could not be read: ${place.home}/config.jsonc:${where}`;
  assertEquals([error.message, error.kind, error.exitCode], [expected, "configuration", 2]);
}

Deno.test("findHome() takes WEIR_HOME or .weir in the user's folder", async () => {
  await using place = await createTemporaryPlace();
  const find = () => findHome(place.host, { currentFolder: "/here" });
  assertEquals(find(), `${place.root}/.weir`);
  place.environment.WEIR_HOME = "there";
  assertEquals(find(), "/here/there");
  place.environment.WEIR_HOME = "/home/x/../w";
  assertEquals(find(), "/home/w");
});

Deno.test("readConfig() gives the defaults without a file and makes nothing", async () => {
  await using place = await createTemporaryPlace();
  const config = await read(place, { trusted: true });
  assertEquals(config, {
    model: undefined,
    thinking: undefined,
    approvals: undefined,
    credential_files: [],
    pass_environment: [],
    agent: {
      steering_mode: undefined,
      follow_up_mode: undefined,
      auto_compaction: true,
      auto_retry: true,
    },
    providers: {},
    mcp: { servers: {} },
    retry: { maxRetries: undefined, baseDelayMs: undefined, maxDelayMs: undefined },
    compaction: { reserveTokens: undefined, keepRecentTokens: undefined },
    pi: { approvalTimeoutSeconds: 600 },
    acp: { approvalTimeoutSeconds: 600, maxTurnRequests: 250 },
    file: `${place.home}/config.jsonc`,
    exists: false,
  });
  assertEquals(await place.host.files.stat(place.home), undefined);
});

Deno.test("readConfig() reads comments, trailing commas and a byte order mark, and ignores unknown keys", async () => {
  await using place = await createTemporaryPlace();
  await place.write(
    "home/config.jsonc",
    `\uFEFF// mine
{
  "model": "local/m", /* here */ "future": [1, {"x": null}],
  "agent": { "steering_mode": "all", "other": 1, },
  "providers": { "local": { "baseUrl": "http://127.0.0.1/v1", "headers": {"X-A": "b"}, "why": 0 } },
  "mcp": { "servers": {
    "files": { "command": "npx", "args": ["x"], },
    "web": { "url": "https://example.org/mcp", "headers": {"X-A": "b"} },
  } },
}
`,
  );
  const config = await read(place);
  assertEquals(config.model, "local/m");
  assertEquals(config.agent.steering_mode, "all");
  assertEquals({ ...config.providers.local }, {
    baseUrl: "http://127.0.0.1/v1",
    apiKey: undefined,
    apiKeyEnv: undefined,
    api: "chat",
    headers: Object.assign(Object.create(null), { "X-A": "b" }),
    timeoutSeconds: 45,
    stallTimeoutSeconds: 180,
    models: {},
  });
  assertEquals({ ...config.mcp.servers.files }, {
    command: "npx",
    args: ["x"],
    env: {},
  });
  assertEquals({ ...config.mcp.servers.web }, {
    url: "https://example.org/mcp",
    headers: Object.assign(Object.create(null), { "X-A": "b" }),
  });
  assertEquals(config.exists, true);
});

Deno.test("readConfig() does not take a provider called __proto__ for a prototype", async () => {
  await using place = await createTemporaryPlace();
  await place.write("home/config.jsonc", '{"providers": {"__proto__": {"api": "responses"}}}');
  const { providers } = await read(place);
  assertEquals(Object.keys(providers), ["__proto__"]);
  assertEquals(({} as Record<string, unknown>).api, undefined);
});

Deno.test("readConfig() says where the syntax is wrong", async () => {
  const value = 'expected a value: text in double quotes, a number, true, false, null, "{" or "["';
  await assertUnreadable("", `1:1: ${value}`);
  await assertUnreadable('{\n  "model": "a"\n  "thinking": "low"\n}', '3:3: expected ","');
  await assertUnreadable('{\r\n  model: "a"\r\n}', "2:3: expected a key in double quotes");
  await assertUnreadable('{\n  "model": nope\n}', `2:12: ${value}`);
  await assertUnreadable('{ "model" "a" }', '1:11: expected ":" after the key');
  await assertUnreadable('{ "model": "a"', '1:15: expected "," or "}"');
  await assertUnreadable("{} {}", "1:4: expected the end of the file");
  await assertUnreadable("{} /* x", '1:4: expected "*/" at the end of the comment');
});

Deno.test("readConfig() says which value is wrong and where its key is", async () => {
  await assertUnreadable("[]", '1:1: expected an object in "{" and "}"');
  await assertUnreadable(
    '{\n  // comment\n  "agent": {\n    "steering_mode": "some" } }',
    '4:5: agent.steering_mode: expected "all" or "one-at-a-time"',
  );
  await assertUnreadable(
    '{\n  "thinking": "deep" }',
    '2:3: thinking: expected "off", "minimal", "low", "medium", "high", "xhigh" or "max"',
  );
  await assertUnreadable('{ "model": 5 }', "1:3: model: expected text");
  await assertUnreadable(
    '{ "credential_files": ["a",\n 7] }',
    "2:2: credential_files.1: expected text",
  );
  await assertUnreadable(
    '{ "providers": { "a": { "timeoutSeconds": 0 } } }',
    "1:25: providers.a.timeoutSeconds: expected a number of seconds above 0",
  );
  await assertUnreadable(
    '{ "mcp": { "servers": {\n "files": {} } } }',
    "2:2: mcp.servers.files.command: expected text",
  );
  await assertUnreadable(
    '{ "mcp": { "servers": {\n "a": { "url": "http://a", "command": "b" } } } }',
    "2:2: mcp.servers.a: expected either a command or a url, not both",
  );
  await assertUnreadable(
    '{ "mcp": { "servers": {\n "a": { "url": "ftp://a" } } } }',
    "2:9: mcp.servers.a.url: expected an address that begins with http:// or https://",
  );
});

Deno.test("readConfig() refuses a file that is not UTF-8, a folder and an unreadable link", async () => {
  await using place = await createTemporaryPlace();
  const file = `${place.home}/config.jsonc`;
  await Deno.mkdir(place.home);
  await Deno.writeFile(file, new Uint8Array([0x7b, 0xff, 0x7d]));
  const refuse = async () => (await assertRejects(() => read(place), StartError)).message;
  assertEquals(await refuse(), `settings could not be read: ${file}:1:1: expected UTF-8 text`);
  await Deno.remove(file);
  await Deno.mkdir(file);
  assertEquals(
    await refuse(),
    `settings could not be read: ${file}: expected a file, found a folder`,
  );
});

Deno.test("readConfig() takes from a trusted project only what a project may set", async () => {
  await using place = await createTemporaryPlace();
  await place.write("home/config.jsonc", '{"model": "a", "credential_files": ["*.x"]}');
  await place.write(
    "project/.weir/config.jsonc",
    '{"model": "b", "thinking": "low", "credential_files": ["*.y"], "providers": 5, "mcp": {}}',
  );
  const before = await read(place);
  assertEquals([before.model, before.credential_files], ["a", ["*.x"]]);
  assertEquals(place.warnings, []);
  const config = await read(place, { trusted: true });
  assertEquals(
    [config.model, config.thinking, config.credential_files, Object.keys(config.providers)],
    ["b", "low", ["*.x", "*.y"], []],
  );
  const file = `${place.workspace}/.weir/config.jsonc`;
  const rest = "is ignored: a project may set only model, thinking and credential_files";
  assertEquals(place.warnings, [
    `weir: ${file}: "providers" ${rest}`,
    `weir: ${file}: "mcp" ${rest}`,
  ]);
});

Deno.test("readConfig() names a trusted project's file that is wrong", async () => {
  await using place = await createTemporaryPlace();
  await place.write("project/.weir/config.jsonc", '{"model": 1}');
  const error = await assertRejects(() => read(place, { trusted: true }), StartError);
  const file = `${place.workspace}/.weir/config.jsonc`;
  assertEquals(error.message, `settings could not be read: ${file}:1:2: model: expected text`);
});

Deno.test("readConfig() does not take the user's own settings for a project's", async () => {
  await using place = await createTemporaryPlace();
  await place.write("project/.weir/config.jsonc", '{"approvals": "allow"}');
  const { host, workspace } = place;
  const home = `${workspace}/.weir`;
  const config = await readConfig(host, { home, workspace, trusted: true, signal });
  assertEquals([config.approvals, place.warnings], ["allow", []]);
});

Deno.test("readConfig() stops when it is aborted", async () => {
  await using place = await createTemporaryPlace();
  await place.write("home/config.jsonc", "{}");
  const reason = new Error("stop");
  const { host, home, workspace } = place;
  const options = { home, workspace, trusted: false, signal: AbortSignal.abort(reason) };
  const error = await assertRejects(() => readConfig(host, options));
  assertEquals(error, reason);
});
