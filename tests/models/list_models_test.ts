import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { ModelError } from "../../src/errors.ts";
import { startModelServer } from "../fakes/model_server.ts";
import { testModel } from "./_ask.ts";

const signal = new AbortController().signal;

Deno.test("listModels() gives each id once, in the endpoint's order", async () => {
  await using server = startModelServer({ models: ["b", "a", "b"] });
  assertEquals(await testModel({ baseUrl: server.url }).listModels({ signal }), ["b", "a"]);
  const request = server.listRequests[0]!;
  assertEquals([request.method, request.path], ["GET", "/v1/models"]);
  assertEquals(request.headers.authorization, "Bearer sk-test-1234567890");
  server.models = [];
  assertEquals(await testModel({ baseUrl: server.url }).listModels({ signal }), []);
});

Deno.test("listModels() asks under /v1 when the base has no version part", async () => {
  await using server = startModelServer({ models: ["a"] });
  const model = testModel({ baseUrl: `${server.origin}/`, apiKey: undefined });
  assertEquals(await model.listModels({ signal }), ["a"]);
  assertEquals(server.listRequests.map(({ path }) => path), ["/models", "/v1/models"]);
  assertEquals(server.listRequests[1].headers.authorization, undefined);
});

Deno.test("listModels() joins the reasons of both addresses", async () => {
  await using server = startModelServer({ models: { status: 500 } });
  const reasons = async (baseUrl: string, apiKey: string | undefined = "sk-test-1") =>
    (await assertRejects(() => testModel({ baseUrl, apiKey }).listModels({ signal }), ModelError))
      .message;
  assertEquals(await reasons(server.origin), "http 404, http 500");
  assertEquals(await reasons(server.url), "http 500");
  server.models = { status: 200, body: { data: "x" } };
  assertEquals(await reasons(server.url), "invalid model list");
  server.models = { status: 200, body: { data: [{ name: "x" }] } };
  assertEquals(await reasons(server.url), "invalid model list");
  server.models = { status: 200, body: "<html>" };
  assertEquals(await reasons(server.url), "connection failed or invalid JSON");
  server.models = { drop: true };
  assertEquals(await reasons(server.url), "connection failed or invalid JSON");
  assertEquals(await reasons("nonsense"), "invalid API base URL");
  assertEquals(await reasons("file:///v1"), "invalid API base URL");
  assertEquals(await reasons(server.url, ""), "missing API key");
});

Deno.test("listModels() ends with the reason when aborted", async () => {
  await using server = startModelServer({ models: { gate: new Promise(() => {}), status: 200 } });
  const controller = new AbortController();
  const reason = new Error("enough");
  const listing = testModel({ baseUrl: server.url }).listModels({ signal: controller.signal });
  const rejected = assertRejects(() => listing);
  await server.waitForListRequests(1);
  controller.abort(reason);
  assertStrictEquals(await rejected, reason);
  await server.waitForAborted(1);
  const early = testModel({ baseUrl: server.url }).listModels({
    signal: AbortSignal.abort(reason),
  });
  assertStrictEquals(await assertRejects(() => early), reason);
});
