import { connectMcpServers } from "./src/mcp/client.ts";
import { createDenoHost } from "./src/deno/deno_host.ts";
const host = createDenoHost();
await using m = await connectMcpServers({servers: {
 everything: {command:"npx", args:["-y","@modelcontextprotocol/server-everything"], env:{}},
 fs: {command:"npx", args:["-y","@modelcontextprotocol/server-filesystem", "/tmp"], env:{}},
 dies: {command:"sh", args:["-c","echo hello; echo oops >&2; exit 3"], env:{}},
 none: {command:"nonesuch", args:[], env:{}},
 web: {url: "http://127.0.0.1:9/mcp", headers: {}},
}, host, folder: "/tmp", environment: Deno.env.toObject(), signal: new AbortController().signal, warn: (l)=>console.log(l)});
console.log(m.tools.map(t=>t.name).join(" "));
const ctx = {signal: new AbortController().signal} as never;
for (const [n,a] of [["everything_echo",{message:"hi"}],["everything_get-tiny-image",{}],["everything_get-structured-content",{location:"Chicago"}],["everything_get-resource-links",{count:2}],["everything_get-resource-reference",{resourceType:"Text",resourceId:1}],["fs_list_directory",{path:"/tmp"}],["fs_read_text_file",{path:"/etc/passwd"}], ["everything_echo",{}]] as const) {
  const t = m.tools.find(t=>t.name===n); if(!t){console.log("no",n);continue}
  console.log(n, JSON.stringify(await t.run(a,ctx)).slice(0,400));
}
