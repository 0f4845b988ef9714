/**
 * A page in a real headless Chromium, driven over its debugging port. Made for tests that need a browser; knows nothing of Weir.
 */

import { connectDevtools, type Devtools, type DevtoolsRecord } from "./_devtools.ts";

/** How a page is shown. */
export interface PageView {
  /** CSS pixels; default 1024 by 768. */
  readonly width?: number;
  readonly height?: number;
  /** Default `light`. */
  readonly colorScheme?: "light" | "dark";
}

/** An open page in a browser of its own; disposing it ends the browser and removes its profile. */
export interface BrowserPage extends AsyncDisposable {
  /** The value of a JavaScript expression, awaited when it is a promise. Must be JSON. Rejects with what it threw. */
  evaluate(expression: string): Promise<unknown>;
  /** Errors in the console and uncaught exceptions so far, what the page's policy refused included. */
  readonly consoleErrors: readonly string[];
  /** Every URL that was asked for so far, the page itself first. */
  readonly requests: readonly string[];
  /** Changes how the page is shown. */
  show(view: PageView): Promise<void>;
  /** Presses a key and releases it: `Tab`, `Enter` or `Space`. */
  press(key: "Tab" | "Enter" | "Space"): Promise<void>;
  /** PNG of what the window shows, or with `whole` of all of the page. */
  screenshot(options?: { whole?: boolean }): Promise<Uint8Array>;
  dispose(): Promise<void>;
}

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

/** Path of the browser; `undefined` when there is none on PATH. */
export function findChromium(): string | undefined {
  for (const folder of (Deno.env.get("PATH") ?? "").split(":")) {
    for (const name of NAMES) {
      try {
        if (Deno.statSync(`${folder}/${name}`).isFile) return `${folder}/${name}`;
      } catch {
        // Not here.
      }
    }
  }
  return undefined;
}

/** For `ignore` of a test: whether there is no browser; then it is said on stderr. */
export function lacksChromium(): boolean {
  if (findChromium() !== undefined) return false;
  console.error("No chromium on PATH: tests that need a browser are skipped");
  return true;
}

/** Opens the URL in a new browser and waits until it is loaded. The caller disposes the result. */
export async function openPage(url: string, view: PageView = {}): Promise<BrowserPage> {
  const program = findChromium();
  if (program === undefined) throw new Error("Cannot open a page: no chromium on PATH, install it");
  await using held = new AsyncDisposableStack();
  const profile = await Deno.makeTempDir({ prefix: "chromium_" });
  held.defer(() => Deno.remove(profile, { recursive: true }));
  const browser = held.use(startBrowser(program, profile));
  const page = new Page();
  const devtools = held.use(await connectDevtools(await browser.address, page.take));
  await page.open(devtools, { url, view });
  const stack = held.move();
  page.end = () => stack.disposeAsync();
  return page;
}

class Page implements BrowserPage {
  readonly consoleErrors: string[] = [];
  readonly requests: string[] = [];
  end: () => Promise<void> = () => Promise.resolve();
  #devtools!: Devtools;
  #ending: Promise<void> | undefined;
  readonly #loaded = Promise.withResolvers<void>();

  readonly take = (method: string, params: DevtoolsRecord): void => {
    switch (method) {
      case "Page.loadEventFired":
        return this.#loaded.resolve();
      case "Network.requestWillBeSent":
        this.requests.push(String((params.request as DevtoolsRecord).url));
        break;
      case "Runtime.exceptionThrown":
        this.consoleErrors.push(describeException(params.exceptionDetails));
        break;
      case "Runtime.consoleAPICalled":
        if (params.type === "error" || params.type === "assert") {
          const values = params.args as DevtoolsRecord[];
          this.consoleErrors.push(
            values.map(({ value, description }) => String(value ?? description)).join(" "),
          );
        }
        break;
      case "Log.entryAdded": {
        const { level, text } = params.entry as DevtoolsRecord;
        if (level === "error") this.consoleErrors.push(String(text));
      }
    }
  };

  async open(devtools: Devtools, { url, view }: { url: string; view: PageView }): Promise<void> {
    this.#devtools = devtools;
    const { targetId } = await devtools.send("Target.createTarget", { url: "about:blank" });
    const attached = await devtools.send("Target.attachToTarget", { targetId, flatten: true });
    devtools.sessionId = attached.sessionId as string;
    for (const domain of ["Page", "Runtime", "Log", "Network"]) {
      await devtools.send(`${domain}.enable`);
    }
    await this.show(view);
    const { errorText } = await devtools.send("Page.navigate", { url });
    if (errorText !== undefined) throw new Error(`Cannot open ${url}: ${errorText}`);
    await this.#loaded.promise;
  }

  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.#devtools.send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(describeException(exceptionDetails));
    return (result as DevtoolsRecord).value;
  }

  async show({ width = 1024, height = 768, colorScheme = "light" }: PageView): Promise<void> {
    await this.#devtools.send("Emulation.setDeviceMetricsOverride", {
      width,
      height,
      deviceScaleFactor: 1,
      mobile: width < 600,
    });
    await this.#devtools.send("Emulation.setEmulatedMedia", {
      features: [{ name: "prefers-color-scheme", value: colorScheme }],
    });
  }

  async press(key: "Tab" | "Enter" | "Space"): Promise<void> {
    const event = KEYS[key];
    await this.#devtools.send("Input.dispatchKeyEvent", { type: "keyDown", ...event });
    await this.#devtools.send("Input.dispatchKeyEvent", { type: "keyUp", ...event });
  }

  async screenshot({ whole = false } = {}): Promise<Uint8Array> {
    const { data } = await this.#devtools.send("Page.captureScreenshot", {
      captureBeyondViewport: whole,
      ...(whole && { clip: await this.#wholeArea() }),
    });
    return Uint8Array.from(atob(data as string), (character) => character.charCodeAt(0));
  }

  dispose(): Promise<void> {
    return this.#ending ??= this.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  async #wholeArea(): Promise<DevtoolsRecord> {
    const { cssContentSize } = await this.#devtools.send("Page.getLayoutMetrics");
    return { ...cssContentSize as DevtoolsRecord, scale: 1 };
  }
}

const KEYS = {
  Tab: { key: "Tab", code: "Tab", windowsVirtualKeyCode: 9 },
  Enter: { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13, text: "\r" },
  Space: { key: " ", code: "Space", windowsVirtualKeyCode: 32, text: " " },
};

function describeException(details: unknown): string {
  const { text, exception } = details as { text: string; exception?: { description?: string } };
  return exception?.description ?? text;
}

/** The browser in a process group of its own. Disposing waits until nothing of it holds its stderr. */
function startBrowser(
  program: string,
  profile: string,
): AsyncDisposable & { readonly address: Promise<string> } {
  const child = new Deno.Command(program, {
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--disable-breakpad",
      "--disable-dev-shm-usage",
      "--remote-debugging-port=0",
      `--user-data-dir=${profile}`,
      "about:blank",
    ],
    env: { HOME: profile },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
    detached: true,
  }).spawn();
  const address = Promise.withResolvers<string>();
  address.promise.catch(() => {}); // Whoever waits for it is told.
  const reading = findAddress(child.stderr, address);
  return {
    address: address.promise,
    async [Symbol.asyncDispose]() {
      try {
        Deno.kill(-child.pid, "SIGKILL");
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      }
      await child.status;
      await reading;
    },
  };
}

/** Reads to the end, so that the browser never waits for a reader. */
async function findAddress(
  stderr: ReadableStream<Uint8Array<ArrayBuffer>>,
  address: PromiseWithResolvers<string>,
): Promise<void> {
  let text = "";
  for await (const chunk of stderr.pipeThrough(new TextDecoderStream())) {
    text = (text + chunk).slice(-20_000);
    const found = /DevTools listening on (ws:\S+)\n/.exec(text);
    if (found !== null) address.resolve(found[1]!);
  }
  address.reject(new Error(`Cannot start chromium: ${text.slice(-2000)}`));
}
