import { assertEquals, assertRejects } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { type DoctorOptions, runDoctor } from "../../src/cli/doctor.ts";
import { setTrust } from "../../src/config/trust.ts";
import { createTemporaryPlace, type TemporaryPlace } from "../temporary_place.ts";
import { recordIo } from "./recorded_io.ts";

const CONFIG = JSON.stringify({
  model: "local/m",
  providers: { local: { baseUrl: "http://127.0.0.1:9/v1", apiKey: "topsecret" } },
});

function withPrograms(place: TemporaryPlace, programs: readonly string[]): TemporaryPlace {
  const { processes } = place.host;
  if (!processes) throw new TypeError("this machine starts no programs");
  const find = (name: string) =>
    Promise.resolve(programs.includes(name) ? `/bin/${name}` : undefined);
  const { shell } = processes;
  const start = () => {
    throw new TypeError("nothing is started here");
  };
  const environment = () => ({});
  return {
    ...place,
    host: {
      ...place.host,
      processes: {
        find,
        shell,
        start,
        environment,
        isRunning: () => false,
        recordIn: () => Promise.resolve(),
        endRecord: () => {},
        hideVariables: () => {},
        killAll: () => {},
      },
    },
  };
}

async function run(
  place: TemporaryPlace,
  options: Partial<DoctorOptions> & { programs?: readonly string[] } = {},
) {
  const io = recordIo();
  const { host, home, workspace } = withPrograms(place, options.programs ?? ["bash", "rg"]);
  const code = await runDoctor(host, {
    home,
    currentFolder: workspace,
    json: false,
    signal: new AbortController().signal,
    listModels: () => Promise.resolve(["m"]),
    ...options,
  }, io);
  assertEquals(io.errors, []);
  return { code, output: io.output };
}

Deno.test("runDoctor() finds nothing to do when all is well", async () => {
  await using place = await createTemporaryPlace();
  const { host, home, workspace, root } = place;
  await place.write("home/config.jsonc", CONFIG);
  await setTrust(host, {
    home,
    folder: workspace,
    trusted: true,
    signal: AbortSignal.timeout(9e6),
  });
  const before = await Array.fromAsync(Deno.readDir(home), ({ name }) => name);
  assertEquals(await run(place), {
    code: 0,
    output: [
      `✔ settings: ${root}/home/config.jsonc`,
      `✔ home: ${root}/home can be written`,
      "✔ model: local/m",
      "✔ endpoint: 127.0.0.1:9 offers m",
      "✔ bash: /bin/bash",
      "✔ rg: /bin/rg",
      `✔ trust: ${root}/project is trusted`,
    ],
  });
  assertEquals(await Array.fromAsync(Deno.readDir(home), ({ name }) => name), before);
});

Deno.test("runDoctor() says what to do on a new machine", async () => {
  await using place = await createTemporaryPlace();
  const { root } = place;
  assertEquals(await run(place, { programs: [] }), {
    code: 1,
    output: [
      `– settings: no ${root}/home/config.jsonc`,
      `– home: ${root}/home is made when it is first needed`,
      "✖ model: Weir is not set up yet; run weir setup",
      "✖ bash: not on PATH; install bash",
      "– rg: not on PATH; searching works without it",
      `– trust: ${root}/project is not trusted; run weir trust to work here`,
    ],
  });
  assertEquals(await place.host.files.stat(place.home), undefined);
});

Deno.test("runDoctor() says that others can read the home and the key", async () => {
  await using place = await createTemporaryPlace();
  await place.write("home/config.jsonc", CONFIG);
  await Deno.chmod(place.home, 0o755);
  await Deno.chmod(`${place.home}/config.jsonc`, 0o644);
  const { home } = place;
  const { code, output } = await run(place);
  assertEquals(code, 1);
  assertEquals(output.slice(2, 4), [
    `✖ home: other users can look into ${home}; run chmod 700 ${home}`,
    `✖ settings: other users can read the key in ${home}/config.jsonc; ` +
    `run chmod 600 ${home}/config.jsonc`,
  ]);
});

Deno.test("runDoctor() says where settings and trust store are wrong", async () => {
  await using place = await createTemporaryPlace();
  await place.write("home/config.jsonc", '{"model": 1}');
  await place.write("home/trust.json", "[]");
  const { home } = place;
  const { code, output } = await run(place);
  assertEquals([code, output[0], output.at(-1)], [
    1,
    `✖ settings: settings could not be read: ${home}/config.jsonc:1:2: model: expected text; ` +
    "correct that place in the file",
    `✖ trust: settings could not be read: ${home}/trust.json:1:1: expected an object in "{" and "}"; ` +
    "correct that place in the file",
  ]);
});

Deno.test("runDoctor() says when the endpoint fails, is silent or does not have the model", async () => {
  await using place = await createTemporaryPlace();
  await place.write("home/config.jsonc", CONFIG);
  const endpoint = async (listModels: DoctorOptions["listModels"]) => {
    const { code, output } = await run(place, { listModels });
    assertEquals(code, 1);
    return output.find((line) => line.includes("endpoint"));
  };
  using time = new FakeTime();
  const fix = "check baseUrl and the key of local, or run weir setup";
  assertEquals(
    await endpoint(() => Promise.reject(new Error("http 401"))),
    `✖ endpoint: 127.0.0.1:9 does not list its models: http 401; ${fix}`,
  );
  assertEquals(
    await endpoint((_choice, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        time.tick(2500);
      })
    ),
    `✖ endpoint: 127.0.0.1:9 does not list its models: no answer within 2.5 s; ${fix}`,
  );
  assertEquals(
    await endpoint(() => Promise.resolve(["a", "b", "c", "d", "e", "f"])),
    "✖ endpoint: 127.0.0.1:9 does not offer m, but a, b, c, d, e and others; " +
      "set model in the settings, or run weir setup",
  );
  assertEquals(
    await endpoint(() => Promise.resolve([])),
    "✖ endpoint: 127.0.0.1:9 does not offer m, but none; " +
      "set model in the settings, or run weir setup",
  );
});

Deno.test("runDoctor() asks no endpoint for the demo model and writes one object with --json", async () => {
  await using place = await createTemporaryPlace();
  await place.write("home/config.jsonc", '{"model": "demo"}');
  const listModels = () => Promise.reject(new Error("asked"));
  const { code, output } = await run(place, { json: true, listModels });
  assertEquals([code, output.length], [0, 1]);
  const { ok, checks } = JSON.parse(output[0]);
  assertEquals([ok, checks[2]], [true, { name: "model", result: "ok", text: "demo/demo" }]);
});

Deno.test("runDoctor() stops when it is aborted while it waits for the endpoint", async () => {
  await using place = await createTemporaryPlace();
  await place.write("home/config.jsonc", CONFIG);
  const controller = new AbortController();
  const reason = new Error("stop");
  const listModels: DoctorOptions["listModels"] = (_choice, { signal }) => {
    controller.abort(reason);
    return Promise.reject(signal.reason);
  };
  const error = await assertRejects(() => run(place, { signal: controller.signal, listModels }));
  assertEquals(error, reason);
});
