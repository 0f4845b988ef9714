import { assertEquals, assertRejects } from "@std/assert";
import { fetchWithinOrigin, redirectTarget } from "../../src/agent/fetch_within_origin.ts";

/** A `fetch` that answers by address, and the requests that it got. */
function fake(answers: Record<string, Response | undefined>) {
  const asked: string[] = [];
  const send = (input: string | URL | Request, init?: RequestInit) => {
    const url = input instanceof Request ? input.url : String(input);
    asked.push(`${init?.method ?? "GET"} ${url} ${init?.redirect} ${init?.body ?? ""}`);
    return Promise.resolve(answers[url]?.clone() ?? new Response("here"));
  };
  return { asked, send: send as typeof fetch };
}

function redirect(status: number, location: string): Response {
  return new Response(null, { status, headers: { location } });
}

Deno.test("fetchWithinOrigin() repeats a request where the same host sends it", async () => {
  const { send, asked } = fake({
    "http://host.test/a": redirect(307, "/b"),
    "http://host.test/b": redirect(308, "https://host.test/c"),
  });
  const init = { method: "POST", body: "x" };
  assertEquals(await (await fetchWithinOrigin(send, "http://host.test/a", init)).text(), "here");
  assertEquals(asked, [
    "POST http://host.test/a manual x",
    "POST http://host.test/b manual x",
    "POST https://host.test/c manual x",
  ]);
});

Deno.test("fetchWithinOrigin() gives every other redirect back", async () => {
  const cases: [number, string, string][] = [
    [307, "http://other.test/", "POST"],
    [307, "http://host.test:81/", "POST"],
    [307, "http://sub.host.test/", "GET"],
    [307, "//other.test/a", "GET"],
    [307, "ftp://host.test/", "GET"],
    [301, "/b", "POST"],
    [302, "/b", "POST"],
    [303, "/b", "POST"],
    [307, "http://", "GET"],
  ];
  for (const [status, location, method] of cases) {
    const { send, asked } = fake({ "http://host.test/a": redirect(status, location) });
    const response = await fetchWithinOrigin(send, "http://host.test/a", { method });
    assertEquals([response.status, asked.length], [status, 1], location);
  }
  const { send } = fake({ "https://host.test/a": redirect(307, "http://host.test/a") });
  assertEquals((await fetchWithinOrigin(send, "https://host.test/a")).status, 307);
});

Deno.test("fetchWithinOrigin() ends when redirects do not", async () => {
  const { send, asked } = fake({ "http://host.test/a": redirect(302, "/a") });
  await assertRejects(
    () => fetchWithinOrigin(send, "http://host.test/a"),
    TypeError,
    "too many redirects",
  );
  assertEquals(asked.length, 21);
});

Deno.test("redirectTarget() is absolute, and undefined where there is none", () => {
  assertEquals(
    redirectTarget(redirect(302, "b?c"), "http://h.test/x/a")?.href,
    "http://h.test/x/b?c",
  );
  assertEquals(redirectTarget(new Response("x"), "http://h.test/"), undefined);
  assertEquals(redirectTarget(new Response(null, { status: 304 }), "http://h.test/"), undefined);
});
