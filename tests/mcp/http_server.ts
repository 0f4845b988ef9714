/** An MCP server over streamable HTTP for tests, in this process. */

import { answer } from "./tiny_answers.ts";

export interface TinyHttpServer extends AsyncDisposable {
  readonly url: string;
  /** Method and headers of every request, in order. */
  readonly requests: readonly { method: string; headers: Headers }[];
}

/** Serves on 127.0.0.1. With `hang` it accepts requests and never answers. */
export function startHttpServer(options: { hang?: boolean } = {}): TinyHttpServer {
  const requests: { method: string; headers: Headers }[] = [];
  const ended = Promise.withResolvers<Response>();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      requests.push({ method: request.method, headers: request.headers });
      if (options.hang) return await ended.promise;
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const message = await request.json();
      const result = answer(message);
      if (message.id === undefined) return new Response(null, { status: 202 });
      if (result === undefined) return await ended.promise;
      const headers = { "mcp-session-id": "s1" };
      return Response.json({ jsonrpc: "2.0", id: message.id, ...result }, { headers });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/mcp`,
    requests,
    [Symbol.asyncDispose]: async () => {
      ended.resolve(new Response(null, { status: 503 }));
      await server.shutdown();
    },
  };
}
