/**
 * What is used of the MCP SDK. A module of its own, because the SDK is large: the bundle keeps it packed until a server is started. Adds nothing.
 */

export { Client } from "@modelcontextprotocol/sdk/client/index.js";
export { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
export {
  CallToolResultSchema,
  JSONRPCMessageSchema,
  ListToolsResultSchema,
} from "@modelcontextprotocol/sdk/types.js";
