import { assertEquals, assertRejects } from "@std/assert";
import { setConfigValue, setConfigValues } from "../src/config/edit_config.ts";
import { StartError } from "../src/errors.ts";
import { createTemporaryPlace, type TemporaryPlace } from "./temporary_place.ts";

const { signal } = new AbortController();
const STEERING = ["agent", "steering_mode"];

function setSteering(place: TemporaryPlace, value = "all"): Promise<void> {
  const { host, home } = place;
  return setConfigValue(host, { home, path: STEERING, value, signal });
}

/** What a file becomes when `agent.steering_mode` is set to `all`. */
async function assertEdit(before: string, after: string): Promise<void> {
  await using place = await createTemporaryPlace();
  await place.write("home/config.jsonc", before);
  await setSteering(place);
  assertEquals(await place.read("home/config.jsonc"), after);
}

Deno.test("setConfigValue() makes the file and the home for the user alone", async () => {
  await using place = await createTemporaryPlace();
  await setSteering(place);
  assertEquals(
    await place.read("home/config.jsonc"),
    '{\n  "agent": {\n    "steering_mode": "all"\n  }\n}\n',
  );
  assertEquals([await place.mode("home/config.jsonc"), await place.mode("home")], [0o600, 0o700]);
});

Deno.test("setConfigValue() changes the value and nothing else", async () => {
  await assertEdit(
    '\uFEFF// a\r\n{\r\n\t"agent": { /* b */ "steering_mode" : "one-at-a-time", }, // c\r\n\t"x": [1,],\r\n}',
    '\uFEFF// a\r\n{\r\n\t"agent": { /* b */ "steering_mode" : "all", }, // c\r\n\t"x": [1,],\r\n}',
  );
});

Deno.test("setConfigValue() adds a key behind the last one and its comment", async () => {
  await assertEdit(
    '{\n  "agent": {\n    "other": 1 // why\n    // end\n  }\n}\n',
    '{\n  "agent": {\n    "other": 1, // why\n    "steering_mode": "all"\n    // end\n  }\n}\n',
  );
  await assertEdit(
    '{\n  "agent": {\n    "other": 1, // why\n    // end\n  },\n}\n',
    '{\n  "agent": {\n    "other": 1, // why\n    "steering_mode": "all",\n    // end\n  },\n}\n',
  );
  await assertEdit(
    '{\n  "agent": {\n    "other": 1 /* , */ , /* x */\n  },\n}\n',
    '{\n  "agent": {\n    "other": 1 /* , */ , /* x */\n    "steering_mode": "all",\n  },\n}\n',
  );
  await assertEdit(
    '{ "agent": { "other": {"}": 1} } }',
    '{ "agent": { "other": {"}": 1}, "steering_mode": "all" } }',
  );
});

Deno.test("setConfigValue() adds the objects on the way in the file's own layout", async () => {
  await assertEdit(
    '{\n\t"model": "a" // m\n}\n',
    '{\n\t"model": "a", // m\n\t"agent": {\n\t\t"steering_mode": "all"\n\t}\n}\n',
  );
  await assertEdit(
    '{\r\n    "model": "a",\r\n}',
    '{\r\n    "model": "a",\r\n    "agent": {\r\n        "steering_mode": "all"\r\n    },\r\n}',
  );
  await assertEdit('{"model": "a"}', '{"model": "a", "agent": {"steering_mode":"all"}}');
  await assertEdit('{"model": "a",}', '{"model": "a", "agent": {"steering_mode":"all"},}');
  await assertEdit("{}", '{\n  "agent": {\n    "steering_mode": "all"\n  }\n}');
  await assertEdit(
    "{\n  // nothing yet\n}\n",
    '{\n  // nothing yet\n  "agent": {\n    "steering_mode": "all"\n  }\n}\n',
  );
  await assertEdit(
    '{\n  "agent": {}\n}\n',
    '{\n  "agent": {\n    "steering_mode": "all"\n  }\n}\n',
  );
});

Deno.test("setConfigValue() keeps the file's mode and the link to it", async () => {
  await using place = await createTemporaryPlace();
  await place.write("dotfiles/weir.jsonc", "{}", 0o640);
  await Deno.mkdir(place.home);
  await Deno.symlink(`${place.root}/dotfiles/weir.jsonc`, `${place.home}/config.jsonc`);
  await setSteering(place);
  assertEquals((await Deno.lstat(`${place.home}/config.jsonc`)).isSymlink, true);
  assertEquals(await place.mode("dotfiles/weir.jsonc"), 0o640);
  assertEquals((await place.read("dotfiles/weir.jsonc")).includes('"all"'), true);
});

Deno.test("setConfigValue() leaves a file that is not valid as it is", async () => {
  const refusals: [string, string][] = [
    ['{ "agent" }', 'settings could not be read: FILE:1:11: expected ":" after the key'],
    [
      '{ "agent": 5 }',
      'settings could not be read: FILE:1:3: agent: expected an object in "{" and "}"',
    ],
    ['{ "model": 5 }', "settings could not be read: FILE:1:3: model: expected text"],
    [
      '{ "agent": {"steering_mode": "all"}, "agent": {} }',
      "Cannot set agent.steering_mode in FILE: a key on the way occurs twice, remove one of the two",
    ],
  ];
  for (const [text, message] of refusals) {
    await using place = await createTemporaryPlace();
    await place.write("home/config.jsonc", text);
    const error = await assertRejects(() => setSteering(place), StartError);
    const file = `${place.home}/config.jsonc`;
    assertEquals([error.message, error.kind], [message.replace("FILE", file), "configuration"]);
    assertEquals(await place.read("home/config.jsonc"), text);
  }
});

Deno.test("setConfigValue() does not write a value that is not allowed", async () => {
  await using place = await createTemporaryPlace();
  await place.write("home/config.jsonc", "{}");
  const error = await assertRejects(() => setSteering(place, "some"), StartError);
  assertEquals(
    error.message,
    `settings could not be read: ${place.home}/config.jsonc:3:5: agent.steering_mode: ` +
      'expected "all" or "one-at-a-time"',
  );
  assertEquals(await place.read("home/config.jsonc"), "{}");
});

Deno.test("setConfigValue() says why the file cannot be written", async () => {
  await using place = await createTemporaryPlace();
  await place.write("home", "in the way");
  const error = await assertRejects(() => setSteering(place), StartError);
  assertEquals(error.kind, "configuration");
  assertEquals(await place.read("home"), "in the way");
});

Deno.test("setConfigValue() writes nothing once it is aborted", async () => {
  await using place = await createTemporaryPlace();
  await place.write("home/config.jsonc", "{}");
  const reason = new Error("stop");
  const { host, home } = place;
  const aborted = AbortSignal.abort(reason);
  const error = await assertRejects(() =>
    setConfigValue(host, { home, path: STEERING, value: "all", signal: aborted })
  );
  assertEquals(error, reason);
  assertEquals(await place.read("home/config.jsonc"), "{}");
});

Deno.test("setConfigValues() sets and removes several keys in one step", async () => {
  await using place = await createTemporaryPlace();
  await place.write(
    "home/config.jsonc",
    '{\n  "providers": {\n    // mine\n    "a": {\n      "apiKey": "k",\n      "x": 1, // one\n    },\n  },\n}\n',
  );
  const { host, home } = place;
  const edits = [
    { path: ["providers", "a", "apiKeyEnv"], value: "A_KEY" },
    { path: ["providers", "a", "apiKey"], value: undefined },
    { path: ["providers", "b", "apiKey"], value: undefined },
  ];
  await setConfigValues(host, { home, edits, signal });
  assertEquals(
    await place.read("home/config.jsonc"),
    '{\n  "providers": {\n    // mine\n    "a": {\n      "x": 1, // one\n      "apiKeyEnv": "A_KEY",\n    },\n  },\n}\n',
  );
});

Deno.test("setConfigValues() removes a key with its comma and keeps the comments", async () => {
  const removals: [string, string][] = [
    ['{\n  "model": "a", // why\n  "x": 1\n}', '{\n  // why\n  "x": 1\n}'],
    ['{\n  "x": 1, // one\n  // two\n  "model": "a"\n}', '{\n  "x": 1 // one\n  // two\n}'],
    ['{\n  "x": 1,\n  "model": "a",\n}', '{\n  "x": 1,\n}'],
    ['{ "x": 1, "model": "a" }', '{ "x": 1 }'],
    ['{ "model": "a", "x": 1 }', '{ "x": 1 }'],
    ['{"model": "a"}', "{}"],
    ['{"x": 1}', '{"x": 1}'],
  ];
  for (const [before, after] of removals) {
    await using place = await createTemporaryPlace();
    const { host, home } = place;
    await place.write("home/config.jsonc", before);
    await setConfigValue(host, { home, path: ["model"], value: undefined, signal });
    assertEquals(await place.read("home/config.jsonc"), after);
  }
});

Deno.test("setConfigValue() loses nothing when others change the file at the same time", async () => {
  await using place = await createTemporaryPlace();
  const { host, home } = place;
  const names = Array.from({ length: 10 }, (_, i) => `key${i}`);
  await Promise.all(
    names.map((name) => setConfigValue(host, { home, path: ["agent", name], value: name, signal })),
  );
  const { agent } = JSON.parse(await place.read("home/config.jsonc"));
  assertEquals(Object.keys(agent).toSorted(), names);
});
