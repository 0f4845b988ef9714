/** Stand-ins for the program, for what the real one does not do: die, hang, write nonsense. */

import { WeirClient } from "../../src/client/weir_client.ts";
import type { ClientStartOptions } from "../../src/client/client_options.ts";

/** A client of a program of these lines of JavaScript, in which `line` waits for the next line and `write` writes one. */
export async function startScript(
  body: string,
  options: Omit<ClientStartOptions, "program"> = {},
): Promise<WeirClient> {
  const code = `
    import { createInterface } from "node:readline";
    import process from "node:process";
    const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
    const line = async () => JSON.parse((await input.next()).value);
    const write = (record) => process.stdout.write(
      (typeof record === "string" ? record : JSON.stringify(record)) + "\\n");
    const answer = ({ type, id }, data) =>
      write({ type: "response", command: type, success: true, id, data });
    ${body}
  `;
  return await WeirClient.start({
    ...options,
    program: [
      Deno.execPath(),
      "run",
      "-A",
      "--no-config",
      `data:text/javascript,${encodeURIComponent(code)}`,
    ],
  });
}

/** The real program with the built-in demo, in a folder that `root` is. */
export async function startDemo(
  root: string,
  options: Omit<ClientStartOptions, "program"> = {},
): Promise<WeirClient> {
  const workspace = `${root}/workspace`;
  await Deno.mkdir(workspace, { recursive: true });
  const main = new URL("../../src/main.ts", import.meta.url);
  const config = new URL("../../deno.npm.json", import.meta.url).pathname;
  return await WeirClient.start({
    ...options,
    program: [Deno.execPath(), "run", "-A", "--config", config, main.pathname],
    args: ["--model", "demo", "--trust", ...options.args ?? [], workspace],
    env: { WEIR_HOME: `${root}/home`, ...options.env },
  });
}

/** A temporary folder; disposing removes it. */
export async function makeFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await Deno.realPath(await Deno.makeTempDir({ prefix: "weir_client_" }));
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}
