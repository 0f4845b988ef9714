/**
 * Weir: a coding agent that another program embeds. Run directly, this module is the program; imported, it is the library.
 *
 * @module
 */

export { version } from "./src/version.ts";
export type { Extension, ExtensionApi } from "./src/extensions/extension_api.ts";

if (import.meta.main) {
  const { main } = await import("./src/main.ts");
  await main();
}
