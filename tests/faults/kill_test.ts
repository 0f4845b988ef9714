import { assert, assertEquals } from "@std/assert";
import { type ModelServer, startModelServer } from "../fakes/model_server.ts";
import { type PreparedHome, prepareHome } from "../fakes/prepare_home.ts";
import { startWeir, type WeirProcess, type WireRecord } from "../fakes/weir_process.ts";
import { createRandom, rounds } from "./_rounds.ts";

/** The ids of stored messages that records have told of. */
function toldIds(records: readonly WireRecord[]): string[] {
  return records.filter((record) => record.type === "assistant").map((record) => String(record.id));
}

function scriptTurns(server: ModelServer): void {
  server.answer((_request, n) => {
    switch (n % 4) {
      case 0:
        return {
          text: ["working ", "on ", "it"],
          toolCalls: [{ name: "bash", args: { command: "echo one; sleep 0.05; echo two" } }, {
            name: "ls",
            args: {},
          }],
        };
      case 1:
        return {
          toolCalls: [{ name: "bash", args: { command: "sleep 30 & echo left" } }, {
            name: "write",
            args: { path: "out.txt", content: "x".repeat(2000) },
          }],
        };
      case 2:
        return { toolCalls: [{ name: "bash", args: { command: "sleep 5", background: true } }] };
      default:
        return { text: Array.from({ length: 40 }, (_, i) => `piece ${i} `), pieceDelayMs: 1 };
    }
  });
}

Deno.test("a session survives SIGKILL at any moment", async () => {
  const { random } = createRandom();
  await using server = await startModelServer();
  scriptTurns(server);
  await using place = await prepareHome({ server });
  const args = ["--mode", "rpc", "--yolo", "--session-id", "killed", place.workspace];
  const told = new Set<string>();
  let stored: string[] = [];
  const open = () => startWeir({ args, home: place.home, timeoutMs: 20_000 });
  const check = async (weir: WeirProcess) => {
    const { data } = await weir.request({ type: "get_messages" });
    const messages = (data as {
      messages: {
        type: string;
        data: { id: string; tool_call_id?: string; tool_calls?: { id: string }[] };
      }[];
    }).messages;
    const ids = messages.map((message) => message.data.id);
    assertEquals(new Set(ids).size, ids.length, "a message is there twice");
    for (const id of told) assert(ids.includes(id), `message ${id} was told of and is gone`);
    assertEquals(ids.slice(0, stored.length), stored, "what was stored has changed");
    const calls = messages.flatMap((message) =>
      message.data.tool_calls?.map((call) => call.id) ?? []
    );
    const results = messages.flatMap((message) => message.data.tool_call_id ?? []);
    assertEquals(results.toSorted(), calls.toSorted(), "calls and results are not paired");
    stored = ids;
  };
  for (let round = 0; round < rounds(8); round++) {
    await using weir = await open();
    await check(weir);
    await weir.request({ type: "prompt", message: `round ${round}` });
    await new Promise((resolve) => setTimeout(resolve, random() * 250));
    weir.kill("SIGKILL");
    await weir.exit;
    for (const id of toldIds(weir.records)) told.add(id);
  }
  await using last = await open();
  await check(last);
  server.answer(() => ({ text: "still here" }));
  await last.request({ type: "prompt", message: "are you there?" });
  const end = await last.settled();
  assertEquals(end.find((record) => record.type === "turn_end")?.answer, "still here");
  assertEquals(server.complaints, []);
  last.closeInput();
  assertEquals((await last.exit).code, 0);
});

type Json = Record<string, unknown>;

/** What a test needs to know of a dialect that has no ids for what it stores. */
interface Teller {
  readonly args: readonly string[];
  /** Opens the conversation, the earlier one when there is one; resolves to its id. */
  open(weir: WeirProcess, options: { earlier: string; workspace: string }): Promise<string>;
  prompt(weir: WeirProcess, options: { id: string; text: string }): Promise<void>;
  /** What records say is stored. */
  told(records: readonly WireRecord[]): string[];
  /** What is there after the conversation was opened anew, in order. */
  shown(weir: WeirProcess, home: PreparedHome): Promise<string[]>;
}

const TELLERS: Record<"nimlet" | "pi" | "acp", Teller> = {
  nimlet: {
    args: ["--mode", "rpc", "--dialect", "nimlet", "--session-id", "killed"],
    async open(weir) {
      assertEquals((await weir.request({ type: "get_state" })).ok, true);
      return "killed";
    },
    async prompt(weir, { text }) {
      assertEquals((await weir.request({ type: "prompt", message: text })).ok, true);
    },
    told: (records) =>
      records.filter(({ type }) => type === "message").map(({ role, content }) =>
        `${role} ${content}`
      ),
    shown: (_weir, { home }) => Promise.resolve(readMessages(home).map(describe)),
  },
  pi: {
    args: ["--mode", "rpc", "--dialect", "pi", "--session-id", "killed"],
    async open(weir) {
      assertEquals((await weir.request({ type: "get_state" })).success, true);
      return "killed";
    },
    async prompt(weir, { text }) {
      assertEquals((await weir.request({ type: "prompt", message: text })).success, true);
    },
    told: (records) =>
      records.filter(({ type }) => type === "message_end").map(({ message }) =>
        describe(message as Json)
      ),
    async shown(weir) {
      const { data } = await weir.request({ type: "get_messages" });
      return (data as { messages: Json[] }).messages.map(describe);
    },
  },
  acp: {
    args: ["--mode", "acp", "--yolo"],
    async open(weir, { earlier, workspace: cwd }) {
      const ask = (method: string, params: Json) =>
        weir.request({ jsonrpc: "2.0", method, params });
      await ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
      if (earlier === "") {
        const { result } = await ask("session/new", { cwd, mcpServers: [] });
        return (result as { sessionId: string }).sessionId;
      }
      const loaded = await ask("session/load", { sessionId: earlier, cwd, mcpServers: [] });
      assert(loaded.error === undefined, JSON.stringify(loaded));
      return earlier;
    },
    async prompt(weir, { id: sessionId, text }) {
      const prompt = [{ type: "text", text }];
      await weir.send({
        jsonrpc: "2.0",
        id: text,
        method: "session/prompt",
        params: { sessionId, prompt },
      });
    },
    told: (records) =>
      records.flatMap(({ params }) => {
        const { update } = (params ?? {}) as { update?: Json };
        const isFinal = update?.status === "completed" || update?.status === "failed";
        return isFinal ? [String(update.toolCallId)] : [];
      }),
    shown: (weir) => Promise.resolve(TELLERS.acp.told(weir.records)),
  },
};

for (const dialect of ["nimlet", "pi", "acp"] as const) {
  Deno.test(`${dialect}: what was told of a session survives SIGKILL at any moment`, async () => {
    const { random } = createRandom();
    const teller = TELLERS[dialect];
    await using server = startModelServer();
    scriptTurns(server);
    await using home = await prepareHome({ server, contextWindow: 100_000_000 });
    const { workspace } = home;
    const folder = dialect === "nimlet" ? [workspace] : [];
    const open = () =>
      startWeir({
        args: [...teller.args, ...folder],
        home: home.home,
        cwd: workspace,
        timeoutMs: 20_000,
      });
    let told: string[] = [];
    let id = "";
    for (let round = 0, prompts = 0; round < rounds(6); round++) {
      await using weir = await open();
      // A conversation without a prompt leaves nothing that could be opened.
      const isStored = readMessages(home.home).length > 0;
      id = await teller.open(weir, { earlier: isStored ? id : "", workspace });
      const before = await teller.shown(weir, home);
      assertEquals(missing(told, before), [], "told of and gone");
      checkPairs(readMessages(home.home));
      await teller.prompt(weir, { id, text: `round ${prompts++}` });
      await new Promise((resolve) => setTimeout(resolve, random() * 300));
      weir.kill("SIGKILL");
      await weir.exit;
      const now = teller.told(weir.records);
      // What acp shows anew when it opens a conversation is not new.
      told = [...before, ...(dialect === "acp" ? now.slice(before.length) : now)];
    }
    await using last = await open();
    const earlier = readMessages(home.home).length > 0 ? id : "";
    id = await teller.open(last, { earlier, workspace });
    assertEquals(missing(told, await teller.shown(last, home)), [], "told of and gone");
    server.answer(() => ({ text: "still here" }));
    await teller.prompt(last, { id, text: "are you there?" });
    await last.next((record) => JSON.stringify(record).includes("still here"));
    // Every call has its result, or the endpoint would have refused.
    assertEquals(server.complaints, []);
    await last.closeInput();
    assertEquals((await last.waitForExit()).code, 0, last.stderr);
  });
}

/** What is in `told` more often than in `shown`. */
function missing(told: readonly string[], shown: readonly string[]): string[] {
  const rest = [...shown];
  return told.filter((text) => {
    const at = rest.indexOf(text);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
}

/** All messages of the one session file. */
function readMessages(home: string): Json[] {
  const messages: Json[] = [];
  const visit = (folder: string) => {
    for (const { name, isDirectory } of Deno.readDirSync(folder)) {
      const path = `${folder}/${name}`;
      if (isDirectory) visit(path);
      else if (name.endsWith(".jsonl")) {
        // The last line may be torn until the program opens the file.
        const lines = Deno.readTextFileSync(path).split("\n").slice(0, -1);
        messages.push(
          ...lines.map((line) => JSON.parse(line)).filter(({ type }) => type === "message")
            .map(({ message }) => message),
        );
      }
    }
  };
  try {
    visit(`${home}/sessions`);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return messages;
}

function describe({ role, content }: Json): string {
  const blocks = typeof content === "string"
    ? [{ type: "text", text: content }]
    : content as Json[];
  const texts = (blocks ?? []).filter(({ type }) => type === "text").map(({ text }) => text);
  return `${role} ${texts.join("")}`;
}

/** No result stands there twice, and none without its call. */
function checkPairs(messages: readonly Json[]): void {
  const calls = messages.flatMap(({ role, content }) =>
    role === "assistant"
      ? (content as Json[]).filter(({ type }) => type === "toolCall").map(({ id }) => id)
      : []
  );
  const results = messages.filter(({ role }) => role === "toolResult").map(({ toolCallId }) =>
    toolCallId
  );
  assertEquals(new Set(results).size, results.length, "a result is there twice");
  assertEquals(results.filter((id) => !calls.includes(id)), [], "a result without its call");
}
