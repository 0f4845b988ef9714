// Stands in for `jsr:@std/testing/snapshot` where only the npm registry is reachable. Knows nothing of the project.
import { AssertionError } from "../assert/mod.ts";
import { difference } from "../assert/equal.ts";

const counts = new Map<string, number>();

/** Fails unless `actual` prints as the stored snapshot of this test; `-- --update` stores it. */
export async function assertSnapshot(
  context: Deno.TestContext,
  actual: unknown,
  msg?: string,
): Promise<void> {
  const name = fullName(context);
  const key = `${context.origin} ${name}`;
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  const label = `${name} ${count}`;
  const file = snapshotFile(context.origin);
  const stored = await readSnapshots(file);
  const text = Deno.inspect(actual, {
    depth: Infinity,
    sorted: true,
    trailingComma: true,
    compact: false,
    iterableLimit: Infinity,
    strAbbreviateSize: Infinity,
    escapeSequences: false,
    breakLength: Infinity,
  });
  if (Deno.args.includes("--update") || Deno.args.includes("-u")) {
    stored.set(label, text);
    await writeSnapshots(file, stored);
    return;
  }
  const expected = stored.get(label);
  if (expected === undefined) {
    throw new AssertionError(`Missing snapshot: ${label}; run with "-- --update" to store it`);
  }
  if (expected.trim() === text.trim()) return;
  throw new AssertionError(
    `${msg ?? "Snapshot does not match:"}\n\n${difference(`${text}\n`, `${expected.trim()}\n`)}`,
  );
}

function fullName(context: Deno.TestContext): string {
  return context.parent ? `${fullName(context.parent)} > ${context.name}` : context.name;
}

function snapshotFile(origin: string): URL {
  const name = origin.slice(origin.lastIndexOf("/") + 1);
  return new URL(`__snapshots__/${name}.snap`, origin);
}

async function readSnapshots(file: URL): Promise<Map<string, string>> {
  try {
    const { snapshot } = await import(`${file.href}?${crypto.randomUUID()}`);
    return new Map(Object.entries(snapshot as Record<string, string>));
  } catch (error) {
    if (await exists(file)) throw error;
    return new Map();
  }
}

async function exists(file: URL): Promise<boolean> {
  return await Deno.stat(file).then(() => true, () => false);
}

async function writeSnapshots(file: URL, snapshots: Map<string, string>): Promise<void> {
  const escape = (text: string) => text.replace(/[\\`]|\$\{/g, "\\$&");
  const blocks = [...snapshots].map(([label, text]) =>
    `snapshot[\`${escape(label)}\`] = \`\n${escape(text)}\n\`;\n`
  );
  await Deno.mkdir(new URL(".", file), { recursive: true });
  await Deno.writeTextFile(file, `export const snapshot = {};\n\n${blocks.join("\n")}`);
}
