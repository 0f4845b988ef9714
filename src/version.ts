// What this build is. Knows nothing else; scripts/bundle.ts puts the build time in front of the program.

declare const WEIR_BUILD_TIME: string | undefined;

/**
 * The version of the package, the same as in deno.json.
 *
 * @example
 * ```ts
 * import { version } from "@weir/weir";
 *
 * if (!/^\d+\.\d+\.\d+/.test(version)) throw new Error(version);
 * ```
 */
export const version: string = "0.1.0";

/** When the single-file program was built, as ISO 8601 in UTC; undefined when it runs from its sources. */
export const buildTime: string | undefined = typeof WEIR_BUILD_TIME === "string"
  ? WEIR_BUILD_TIME
  : undefined;
