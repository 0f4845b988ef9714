/** A file system of its own that can be full or read-only. Linux and root only. Knows nothing of the program. */

/** As much as it takes. */
const KIB = 512;
const INODES = 300;
const FILLER = ".filler";

/** What a test says that needs a small disk; why there can be none is printed. */
export async function needsSmallDisk(): Promise<{ ignore: boolean }> {
  const obstacle = await findObstacle();
  if (obstacle !== undefined) console.log(`no test with a small disk: ${obstacle}`);
  return { ignore: obstacle !== undefined };
}

/** A mounted file system; disposing it takes it away, whatever still uses it. */
export class SmallDisk implements AsyncDisposable {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Takes every block that is left. What a file has of its last block can still be written. */
  fill(): void {
    using file = Deno.openSync(`${this.#path}/${FILLER}`, { append: true, create: true });
    for (const size of [65_536, 4096, 512, 1]) {
      const block = new Uint8Array(size);
      try {
        for (;;) {
          for (let done = 0; done < size;) done += file.writeSync(block.subarray(done));
        }
      } catch {
        // Full, for a block of this size.
      }
    }
  }

  /** Takes every file that is left: what is there can still grow. */
  takeFiles(): void {
    Deno.mkdirSync(`${this.#path}/${FILLER}`);
    try {
      for (let n = 0;; n++) Deno.createSync(`${this.#path}/${FILLER}/${n}`).close();
    } catch {
      // None is left.
    }
  }

  /** Gives back what `fill` or `takeFiles` took. */
  free(): void {
    Deno.removeSync(`${this.#path}/${FILLER}`, { recursive: true });
  }

  /** Fails while a file on it is open for writing. */
  async remount(mode: "ro" | "rw"): Promise<void> {
    await run("mount", "-o", `remount,${mode}`, this.#path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await run("umount", "-l", this.#path);
  }
}

/** Mounts one over a folder; the files in the folder are on it, too. */
export async function mountSmallDisk(path: string): Promise<SmallDisk> {
  const files: [string, Uint8Array, number][] = [];
  for await (const { name, isFile } of Deno.readDir(path)) {
    if (!isFile) continue;
    const file = `${path}/${name}`;
    files.push([file, await Deno.readFile(file), (await Deno.stat(file)).mode ?? 0o600]);
  }
  await run(
    "mount",
    "-t",
    "tmpfs",
    "-o",
    `size=${KIB}k,nr_inodes=${INODES},mode=0700`,
    "weir-test",
    path,
  );
  for (const [file, bytes, mode] of files) {
    await Deno.writeFile(file, bytes, { mode: mode & 0o777 });
  }
  return new SmallDisk(path);
}

async function findObstacle(): Promise<string | undefined> {
  if (Deno.build.os !== "linux") return "only Linux has tmpfs";
  if (Deno.uid() !== 0) return "only root may mount";
  const path = await Deno.makeTempDir({ prefix: "weir_disk_" });
  try {
    await (await mountSmallDisk(path))[Symbol.asyncDispose]();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await Deno.remove(path);
  }
}

async function run(command: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, { args, stdout: "null" }).output();
  if (success) return;
  const text = new TextDecoder().decode(stderr).trim();
  throw new Error(`${command} ${args.join(" ")}: ${text}`);
}
