// Where packages come from: the JSR registry or, where it does not answer, the npm registry alone. Imports nothing,
// because it decides where imports come from.

/** The registry that `@std/*` packages come from. */
export type Source = "jsr" | "npm";

const probeMs = 3000;

/** `WEIR_STD` decides; without it JSR is used when it answers in time. Throws a `TypeError` for an unknown `WEIR_STD`. */
export async function chooseSource(): Promise<Source> {
  const wanted = Deno.env.get("WEIR_STD") ?? "";
  if (wanted === "jsr" || wanted === "npm") return wanted;
  if (wanted !== "") {
    throw new TypeError(`Cannot use WEIR_STD="${wanted}": unknown source, set it to jsr or npm`);
  }
  return await answersAsJsr(Deno.env.get("JSR_URL") ?? "https://jsr.io/") ? "jsr" : "npm";
}

/** A proxy's error page is an answer too, so the answer has to be what JSR would say. */
async function answersAsJsr(registry: string): Promise<boolean> {
  try {
    const response = await fetch(new URL("@std/assert/meta.json", registry), {
      signal: AbortSignal.timeout(probeMs),
    });
    const meta: unknown = await response.json();
    return response.ok && typeof meta === "object" && meta !== null && "versions" in meta;
  } catch {
    return false;
  }
}

/** The configuration file for a source, relative to the repository. */
export function configFile(source: Source): string {
  return source === "jsr" ? "deno.json" : "deno.npm.json";
}

/** The options that make `deno` use a source; in CI the lock file has to be complete as it is. */
export function sourceOptions(source: Source): string[] {
  const isFrozen = source === "npm" && Boolean(Deno.env.get("CI"));
  return ["--config", configFile(source), ...(isFrozen ? ["--frozen"] : [])];
}
