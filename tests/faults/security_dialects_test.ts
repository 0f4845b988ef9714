/** Credential files in the dialects whose defaults differ from circle's: calls that run there without being asked, mentions, links. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { prepareHome } from "../fakes/prepare_home.ts";
import { startWeir, type WeirProcess } from "../fakes/weir_process.ts";
import { AcpClient } from "../program/_with_acp.ts";

const isUnix = Deno.build.os !== "windows";
const SECRET = "SESAME=open-4711";
const FILES = { ".env": `${SECRET}\n`, "a.txt": "hello\n", "keys/id_rsa": `${SECRET}\n` };
const CALLS = [
  { name: "read", args: { path: ".env" } },
  { name: "read", args: { path: "plain.txt" } },
  { name: "grep", args: { pattern: "SESAME", path: "keys/id_rsa" } },
  { name: "write", args: { path: ".env.local", content: "x" } },
  { name: "edit", args: { path: ".env", oldText: "open", newText: "shut" } },
  { name: "bash", args: { command: "cat .env" } },
  { name: "bash", args: { command: "cat keys/id_rsa | base64", background: true } },
];

/** Sends a prompt and waits until everything about it is over. */
const DIALECTS: Record<
  string,
  { args?: string[]; prompt(weir: WeirProcess, folder: string, text: string): Promise<void> }
> = {
  circle: {
    args: ["--yolo"],
    async prompt(weir, _folder, text) {
      await weir.send({ type: "prompt", message: text });
      await weir.settled();
    },
  },
  nimlet: {
    async prompt(weir, _folder, text) {
      await weir.send({ id: "1", type: "prompt", message: text });
      await weir.next("run_end");
    },
  },
  pi: {
    async prompt(weir, _folder, text) {
      await weir.send({ type: "prompt", message: text });
      await weir.next("agent_settled");
    },
  },
  acp: {
    async prompt(weir, folder, text) {
      const client = new AcpClient(weir);
      await client.initialize();
      const session = await client.open(folder);
      await client.stopReason(client.prompt(session, text));
    },
  },
};

for (const [dialect, { args = [], prompt }] of Object.entries(DIALECTS)) {
  Deno.test({
    name: `${dialect} refuses calls on credential files without asking, and attaches none`,
    ignore: !isUnix,
    fn: async () => {
      await using server = startModelServer();
      await using place = await prepareHome({ server, files: FILES });
      await Deno.symlink(".env", `${place.workspace}/plain.txt`);
      await using weir = await startWeir({
        args: ["--mode", "rpc", "--dialect", dialect, ...args],
        home: place.home,
        cwd: place.workspace,
      });
      server.reply({ toolCalls: CALLS }, { text: "ok" });
      await prompt(
        weir,
        place.workspace,
        "see @.env, @plain.txt, @keys/id_rsa and @../home/config.jsonc please",
      );
      const results = server.requests.at(-1)!.messages.filter(({ role }) => role === "tool")
        .map(({ content }) => String(content));
      assertEquals(results.length, CALLS.length);
      for (const [index, result] of results.entries()) {
        assertStringIncludes(result, "Denied by approval policy: ", JSON.stringify(CALLS[index]));
      }
      const asked = weir.records.filter(({ type, method }) =>
        type === "extension_ui_request" || method === "session/request_permission"
      );
      assertEquals(asked, []);
      const sent = JSON.stringify(server.requests.map(({ messages }) => messages));
      const said = weir.records.map((record) => JSON.stringify(record)).join("\n") + weir.stderr;
      for (const text of [sent, said]) {
        assert(!text.includes(SECRET) && !text.includes("test-key"), text);
      }
      assertEquals(await Deno.readTextFile(`${place.workspace}/.env`), `${SECRET}\n`);
      assert(![...Deno.readDirSync(place.workspace)].some(({ name }) => name === ".env.local"));
    },
  });
}

Deno.test({
  name: "acp reads nothing of what a resource link names",
  ignore: !isUnix,
  fn: async () => {
    await using server = startModelServer();
    await using place = await prepareHome({ server, files: FILES });
    await using weir = await startWeir({ args: ["--mode", "acp"], home: place.home });
    const client = new AcpClient(weir);
    await client.initialize();
    const session = await client.open(place.workspace);
    server.reply({ text: "ok" });
    const links = [`${place.workspace}/.env`, `${place.home}/config.jsonc`, "/proc/self/environ"];
    const blocks = links.map((path) => ({
      type: "resource_link",
      uri: `file://${path}`,
      name: "n",
    }));
    const answer = client.prompt(session, "look", ...blocks);
    await client.stopReason(answer);
    const sent = JSON.stringify(server.requests.at(-1)!.messages);
    assert(
      !sent.includes(SECRET) && !sent.includes("test-key") && !sent.includes("DENO_DIR"),
      sent,
    );
  },
});
