/** What the small MCP servers of the tests answer, over whatever they are reached. */

interface Request {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly arguments?: Record<string, unknown> };
}

const TOOLS: Record<string, (args: Record<string, unknown>) => unknown> = {
  echo: ({ text }) => ({ content: [{ type: "text", text: `echo: ${text}` }] }),
  "get env!": ({ name }) => ({
    content: [{ type: "text", text: Deno.env.get(String(name)) ?? "(unset)" }],
  }),
  big: () => ({ content: [{ type: "text", text: "x".repeat(1_000_000) + "…end" }] }),
  fail: () => ({ content: [{ type: "text", text: "it did not work" }], isError: true }),
  image: () => ({ content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] }),
  structured: () => ({ content: [], structuredContent: { a: 1 } }),
  leave: () => ({ content: [{ type: "text", text: "left something running" }] }),
  die: () => undefined,
  wait: () => undefined,
};

/** The result or error for a request, or `undefined` where there is no answer. */
export function answer(request: Request): { result: unknown } | { error: unknown } | undefined {
  const { id, method, params } = request;
  if (id === undefined) return undefined;
  switch (method) {
    case "initialize":
      return {
        result: {
          protocolVersion: "2025-06-18",
          capabilities: { tools: {} },
          serverInfo: { name: "tiny", version: "1" },
        },
      };
    case "tools/list":
      return { result: { tools: Object.keys(TOOLS).map(describe) } };
    case "tools/call": {
      const tool = TOOLS[params?.name ?? ""];
      if (tool === undefined) return { error: { code: -32602, message: "no such tool" } };
      const result = tool(params?.arguments ?? {});
      return result === undefined ? undefined : { result };
    }
  }
  return { error: { code: -32601, message: "no such method" } };
}

function describe(name: string) {
  return {
    name,
    description: `The tool ${name}`,
    inputSchema: { $schema: "https://json-schema.org/draft/2020-12/schema", type: "object" },
  };
}
