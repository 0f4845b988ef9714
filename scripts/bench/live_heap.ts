// What a program really holds, without the garbage that resident memory is mostly made of: asks V8 over the inspector. Only for programs
// that `deno run` starts.
import { Child, type Program } from "./child.ts";

/** A program with its inspector open; `heap()` collects garbage and gives what is left in MiB, buffers outside the heap included. */
export class InspectedChild implements AsyncDisposable {
  readonly child: Child;
  readonly #socket: WebSocket;
  #id = 0;

  private constructor(child: Child, socket: WebSocket) {
    this.child = child;
    this.#socket = socket;
  }

  /** Starts it; `undefined` for a program that has no inspector. */
  static async start(program: Program): Promise<InspectedChild | undefined> {
    const [deno, run, ...rest] = program.argv;
    if (run !== "run") return undefined;
    const argv = [deno!, run, `--inspect=127.0.0.1:${freePort()}`, ...rest];
    const child = new Child({ ...program, argv }, { stderr: "piped" });
    const url = await child.errorText(/ws:\/\/\S+/);
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = () => reject(new Error(`Cannot reach the inspector at ${url}`));
    });
    return new InspectedChild(child, socket);
  }

  async heap(): Promise<number> {
    await this.#call("HeapProfiler.collectGarbage");
    await this.#call("HeapProfiler.collectGarbage");
    const usage = await this.#call("Runtime.getHeapUsage");
    return ((usage.usedSize ?? 0) + (usage.backingStorageSize ?? 0)) / 1024 / 1024;
  }

  #call(method: string): Promise<Record<string, number>> {
    const id = ++this.#id;
    return new Promise((resolve) => {
      const take = ({ data }: MessageEvent<string>) => {
        const message = JSON.parse(data);
        if (message.id !== id) return;
        this.#socket.removeEventListener("message", take);
        resolve(message.result ?? {});
      };
      this.#socket.addEventListener("message", take);
      this.#socket.send(JSON.stringify({ id, method }));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    await this.child[Symbol.asyncDispose]();
  }
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
