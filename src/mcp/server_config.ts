/** How an MCP server is reached: as a program to start, or at an address. */
export type ServerConfig =
  | {
    readonly command: string;
    readonly args: readonly string[];
    /** Added to the environment of the program. */
    readonly env: Readonly<Record<string, string>>;
  }
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> };
