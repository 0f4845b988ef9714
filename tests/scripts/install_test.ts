/** The installer, with releases of a server of our own and a system that pretends to be another. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";

const SCRIPT = new URL("../../scripts/install.sh", import.meta.url).pathname;
const ignore = Deno.build.os === "windows";
const NAMES = [
  ...["weir-linux-x86_64", "weir-linux-aarch64", "weir-macos-x86_64", "weir-macos-aarch64"],
  "weir-windows-x86_64.exe",
];
/** Everything that the script uses besides the shell. */
const PROGRAMS = "awk cat chmod dirname grep mkdir mktemp mv rm sha256sum shasum".split(" ");

interface Machine {
  system?: string;
  processor?: string;
  /** Default: both. */
  downloaders?: readonly string[];
  /** What `ldd` says of its C library. */
  library?: string;
  shell?: string;
}

interface Place extends AsyncDisposable {
  readonly home: string;
  /** The paths that were asked for. */
  readonly requests: string[];
  /** What the server has instead of the right content. */
  readonly wrong: Map<string, string>;
  install(machine: Machine, args?: readonly string[], env?: Record<string, string>): Promise<Run>;
  read(path: string): Promise<string | undefined>;
}

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function contentOf(name: string): string {
  return `#!/bin/sh\necho "${name}, $*"\n`;
}

async function sumOf(text: string): Promise<string> {
  const sum = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(sum), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function createPlace(): Promise<Place> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "weir_install_" }));
  const home = `${folder}/home`;
  await Deno.mkdir(home);
  const lines = await Promise.all(NAMES.map(async (n) => `${await sumOf(contentOf(n))}  ${n}\n`));
  const requests: string[] = [];
  const wrong = new Map<string, string>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const { pathname } = new URL(request.url);
    requests.push(pathname);
    const name = pathname.split("/").at(-1)!;
    if (!/^\/releases\/(latest\/download|download\/v0\.1\.0)\/[^/]+$/.test(pathname)) {
      return new Response("no such release", { status: 404 });
    }
    const known = name === "SHA256SUMS" ? lines.join("") : contentOf(name);
    return new Response(wrong.get(name) ?? known);
  });
  let count = 0;
  return {
    home,
    requests,
    wrong,
    async install(machine, args = [], env = {}) {
      const bin = `${folder}/bin${count++}`;
      await makeMachine(bin, machine);
      const { code, stdout, stderr } = await new Deno.Command(await find("dash") ?? "/bin/sh", {
        args: [SCRIPT, ...args],
        cwd: folder,
        clearEnv: true,
        env: {
          PATH: bin,
          HOME: home,
          SHELL: machine.shell ?? "/bin/bash",
          WEIR_RELEASES: `http://127.0.0.1:${server.addr.port}/releases`,
          ...env,
        },
        stdin: "null",
      }).output();
      const decoder = new TextDecoder();
      return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
    },
    async read(path) {
      try {
        return await Deno.readTextFile(`${home}/${path}`);
      } catch (error) {
        if (error instanceof Deno.errors.NotFound) return undefined;
        throw error;
      }
    },
    async [Symbol.asyncDispose]() {
      await server.shutdown();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** A folder with all programs of a machine. */
async function makeMachine(bin: string, machine: Machine): Promise<void> {
  const { system = "Linux", processor = "x86_64", library = "GNU libc" } = machine;
  await Deno.mkdir(bin);
  for (const name of [...PROGRAMS, ...machine.downloaders ?? ["curl", "wget"]]) {
    const path = await find(name);
    if (path !== undefined) await Deno.symlink(path, `${bin}/${name}`);
  }
  const script = (name: string, text: string) =>
    Deno.writeTextFile(`${bin}/${name}`, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  await script("uname", `[ "$1" = -s ] && echo "${system}" || echo "${processor}"`);
  await script("ldd", `echo "ldd (${library}) 1.2" >&2; exit 1`);
}

async function find(name: string): Promise<string | undefined> {
  for (const folder of (Deno.env.get("PATH") ?? "").split(":")) {
    const info = await Deno.stat(`${folder}/${name}`).catch(() => undefined);
    if (info?.isFile) return `${folder}/${name}`;
  }
  return undefined;
}

const CHOICES: readonly [system: string, processor: string, name: string][] = [
  ["Linux", "x86_64", "weir-linux-x86_64"],
  ["Linux", "aarch64", "weir-linux-aarch64"],
  ["Darwin", "x86_64", "weir-macos-x86_64"],
  ["Darwin", "arm64", "weir-macos-aarch64"],
  ["MINGW64_NT-10.0-22631", "x86_64", "weir-windows-x86_64.exe"],
];

for (const [system, processor, name] of CHOICES) {
  Deno.test({
    name: `install.sh takes ${name} on ${system} ${processor}`,
    ignore,
    async fn() {
      await using place = await createPlace();
      const { code, stdout, stderr } = await place.install({ system, processor });
      assertEquals([code, stderr], [0, ""]);
      assertEquals(place.requests, [
        "/releases/latest/download/SHA256SUMS",
        `/releases/latest/download/${name}`,
      ]);
      const file = `.local/bin/weir${name.endsWith(".exe") ? ".exe" : ""}`;
      assertEquals(await place.read(file), contentOf(name));
      assertEquals((await Deno.stat(`${place.home}/${file}`)).mode! & 0o777, 0o755);
      assertEquals([...Deno.readDirSync(`${place.home}/.local/bin`)].length, 1);
      assertStringIncludes(stdout, `Installed ${place.home}/${file}, SHA-256 as published\n`);
    },
  });
}

for (const downloader of ["curl", "wget"]) {
  Deno.test({
    name: `install.sh works with ${downloader} alone`,
    ignore: ignore || await find(downloader) === undefined,
    async fn() {
      await using place = await createPlace();
      const { code } = await place.install({ downloaders: [downloader] }, ["--version", "v0.1.0"]);
      assertEquals(code, 0);
      assertEquals(place.requests[1], "/releases/download/v0.1.0/weir-linux-x86_64");
      const missing = await place.install({ downloaders: [downloader] }, ["--version", "9.9.9"]);
      assertEquals(missing.code, 1);
      assertStringIncludes(missing.stderr, "/download/v9.9.9/SHA256SUMS could not be downloaded");
    },
  });
}

Deno.test({
  name: "install.sh refuses a file with another sum and keeps the old program",
  ignore,
  async fn() {
    await using place = await createPlace();
    assertEquals((await place.install({})).code, 0);
    place.wrong.set("weir-linux-x86_64", "something else\n");
    const { code, stderr } = await place.install({});
    assertEquals(code, 1);
    assertEquals(
      stderr,
      `Cannot install Weir: the SHA-256 of weir-linux-x86_64 is ${await sumOf(
        "something else\n",
      )}, expected ${await sumOf(
        contentOf("weir-linux-x86_64"),
      )}; nothing was installed, try again\n`,
    );
    assertEquals(await place.read(".local/bin/weir"), contentOf("weir-linux-x86_64"));
    assertEquals([...Deno.readDirSync(`${place.home}/.local/bin`)].length, 1);
  },
});

Deno.test({
  name: "install.sh refuses a release without this system",
  ignore,
  async fn() {
    await using place = await createPlace();
    place.wrong.set("SHA256SUMS", `${await sumOf("x")}  weir-linux-x86_64.old\n`);
    const { code, stderr } = await place.install({});
    assertEquals(code, 1);
    assertStringIncludes(stderr, "has no line for weir-linux-x86_64, this release was not made");
    assertEquals(await place.read(".local/bin/weir"), undefined);
  },
});

const UNKNOWN: readonly [Machine, text: string][] = [
  [{ system: "FreeBSD" }, "no executable is made for FreeBSD"],
  [{ processor: "riscv64" }, "no executable is made for the processor riscv64"],
  [{ system: "MSYS_NT", processor: "aarch64" }, "no executable is made for Windows on ARM"],
  [{ library: "musl libc" }, "the executables need glibc and this system has musl"],
  [{ downloaders: [] }, "there is neither curl nor wget"],
];

for (const [machine, text] of UNKNOWN) {
  Deno.test({
    name: `install.sh stops: ${text}`,
    ignore,
    async fn() {
      await using place = await createPlace();
      const { code, stdout, stderr } = await place.install(machine);
      assertEquals([code, stdout], [1, ""]);
      assertStringIncludes(stderr, `Cannot install Weir: ${text}`);
      assertEquals(place.requests, []);
      assertEquals(await place.read(".local/bin/weir"), undefined);
    },
  });
}

const REFUSED: readonly [args: string[], text: string][] = [
  [["--force"], "unknown option --force"],
  [["--folder"], "--folder needs a value"],
  [["--version", "1/../2"], '"1/../2" is no version'],
];

for (const [args, text] of REFUSED) {
  Deno.test({
    name: `install.sh refuses ${args.join(" ")}`,
    ignore,
    async fn() {
      await using place = await createPlace();
      const { code, stderr } = await place.install({}, args);
      assertEquals(code, 1);
      assertStringIncludes(stderr, text);
      assertEquals(place.requests, []);
    },
  });
}

const PROFILES: readonly [shell: string, file: string, line: string][] = [
  ["/bin/bash", ".bashrc", 'export PATH="FOLDER:$PATH"'],
  ["/usr/bin/zsh", ".zshrc", 'export PATH="FOLDER:$PATH"'],
  ["/usr/bin/fish", ".config/fish/config.fish", 'fish_add_path "FOLDER"'],
  ["/bin/dash", ".profile", 'export PATH="FOLDER:$PATH"'],
];

for (const [shell, file, line] of PROFILES) {
  Deno.test({
    name: `install.sh puts the program on PATH once in ${file}`,
    ignore,
    async fn() {
      await using place = await createPlace();
      const folder = `${place.home}/a b/bin`;
      const first = await place.install({ shell }, ["--folder", folder]);
      assertStringIncludes(first.stdout, `Put ${folder} on PATH in ${place.home}/${file}`);
      const second = await place.install({ shell }, ["--folder", folder]);
      assertStringIncludes(second.stdout, `${file} puts ${folder} on PATH already`);
      assertEquals(await place.read(file), `\n# Weir\n${line.replace("FOLDER", folder)}\n`);
    },
  });
}

Deno.test({
  name: "install.sh leaves start-up files alone when told to or when there is no need",
  ignore,
  async fn() {
    await using place = await createPlace();
    const told = await place.install({}, ["--no-path"]);
    assertStringIncludes(told.stdout, "/.local/bin is not on PATH, add it there");
    assertEquals([...Deno.readDirSync(place.home)].map(({ name }) => name), [".local"]);
    const folder = `${place.home}/own`;
    await Deno.mkdir(folder);
    const path = (await Deno.realPath(`${place.home}/../bin0`)) + `:${folder}`;
    const there = await place.install({}, [], { WEIR_INSTALL_FOLDER: folder, PATH: path });
    assertEquals(there.code, 0);
    assert(!/PATH/.test(there.stdout), there.stdout);
    assertEquals(await place.read(".bashrc"), undefined);
  },
});
