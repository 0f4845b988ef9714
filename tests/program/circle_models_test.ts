/** Models and thinking levels of a circle RPC process. */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { allOf, withCircle } from "./_with_circle.ts";

Deno.test("circle set_model is used by the next request and lasts for the process", async () => {
  const replies = [{ text: "a" }, { text: "b" }, { text: "c" }];
  await withCircle({ replies }, async (circle) => {
    const config = await Deno.readTextFile(`${circle.home.home}/config.jsonc`);
    await circle.turn("one");
    assertEquals(circle.lastRequest.body.model, "test-model");
    assertEquals(await circle.data({ type: "set_model", modelId: "  other/model:7b " }), {
      model: "other/model:7b",
    });
    assertEquals((await circle.state()).model, "other/model:7b");
    await circle.turn("two");
    assertEquals(circle.lastRequest.body.model, "other/model:7b");
    assertEquals(await circle.data({ type: "set_model", model: "local/third" }), {
      model: "third",
    });
    await circle.data({ type: "new_session" });
    await circle.turn("three");
    assertEquals(circle.lastRequest.body.model, "third");
    assertEquals(await Deno.readTextFile(`${circle.home.home}/config.jsonc`), config);
    await circle.start();
    assertEquals((await circle.state()).model, "test-model");
  });
});

Deno.test("circle set_model refuses what is empty and keeps the model", async () => {
  await withCircle({}, async (circle) => {
    for (const more of [{}, { modelId: "" }, { modelId: " \n" }, { modelId: 5 }, { model: null }]) {
      assertEquals(await circle.error({ type: "set_model", ...more }), "model ID is required");
    }
    assertEquals((await circle.state()).model, "test-model");
  });
});

Deno.test("circle set_model chooses another provider, if that has a key", async () => {
  await using second = startModelServer();
  second.reply({ text: "from the second" });
  const extraConfig = {
    providers: {
      second: { baseUrl: second.url, models: {} },
      locked: { baseUrl: second.url, apiKeyEnv: "WEIR_TEST_UNSET_KEY" },
    },
  };
  await withCircle({ extraConfig }, async (circle) => {
    assertEquals(
      await circle.error({ type: "set_model", modelId: "locked/m" }),
      "missing API key; re-run weir setup",
    );
    assertEquals((await circle.state()).model, "test-model");
    assertEquals(await circle.data({ type: "set_model", modelId: "second/m" }), { model: "m" });
    await circle.turn("hello");
    assertEquals(second.requests.map(({ body }) => body.model), ["m"]);
    assertEquals(second.requests[0].headers.authorization?.includes("test-key") ?? false, false);
    // A bare id now belongs to the second provider.
    assertEquals(await circle.data({ type: "set_model", modelId: "n" }), { model: "n" });
    assertEquals(await circle.data({ type: "get_available_models" }), { models: ["test-model"] });
    assertEquals(second.listRequests.at(-1)!.path, "/v1/models");
    assertEquals(circle.server.requests, []);
  });
});

Deno.test("circle set_thinking_level takes seven levels in any case", async () => {
  await withCircle({ replies: [{ text: "a" }, { text: "b" }] }, async (circle) => {
    for (const level of ["off", "minimal", "low", "medium", "high", "xhigh", "max"]) {
      assertEquals(await circle.data({ type: "set_thinking_level", level }), {
        thinkingLevel: level,
      });
    }
    assertEquals(await circle.data({ type: "set_thinking_level", level: "  HiGh\n" }), {
      thinkingLevel: "high",
    });
    for (const level of ["bogus", "", 5, null, undefined, "toString"]) {
      assertEquals(
        await circle.error({ type: "set_thinking_level", level }),
        "unknown thinking depth",
      );
    }
    await circle.data({ type: "set_model", modelId: "other" });
    assertEquals((await circle.state()).thinkingLevel, "high");
    await circle.data({ type: "set_model", modelId: "test-model" });
    await circle.turn("think");
    assertEquals(circle.lastRequest.body.reasoning_effort, "high");
    await circle.data({ type: "new_session" });
    assertEquals((await circle.state()).thinkingLevel, "high");
    const config = await Deno.readTextFile(`${circle.home.home}/config.jsonc`);
    assertEquals(config.includes("thinking"), false);
    await circle.start();
    assertEquals((await circle.state()).thinkingLevel, "");
  });
});

Deno.test("circle get_available_models lists each id once in the endpoint's order", async () => {
  await withCircle({ models: ["z", "a", "z", "m"] }, async (circle) => {
    assertEquals(await circle.data({ type: "get_available_models" }), { models: ["z", "a", "m"] });
    const [request] = circle.server.listRequests;
    assertEquals(request.headers.authorization, "Bearer test-key");
    circle.server.models = [];
    assertEquals(await circle.data({ type: "get_available_models" }), { models: [] });
  });
});

Deno.test("circle get_available_models says why it has no list", async () => {
  await withCircle({}, async (circle) => {
    circle.server.models = { status: 500, body: "down" };
    assertEquals(await circle.error({ type: "get_available_models" }), "http 500");
    circle.server.models = { body: { models: [] }, status: 200 };
    assertEquals(await circle.error({ type: "get_available_models" }), "invalid model list");
    circle.server.models = { body: "<html>", status: 200 };
    assertEquals(
      await circle.error({ type: "get_available_models" }),
      "connection failed or invalid JSON",
    );
    circle.server.models = { drop: true };
    assertEquals(
      await circle.error({ type: "get_available_models" }),
      "connection failed or invalid JSON",
    );
    // A client may repeat a request whose kept-alive connection died, so only the path counts.
    const paths = new Set(circle.server.listRequests.map(({ path }) => path));
    assertEquals([...paths], ["/v1/models"]);
  });
});

Deno.test("circle get_available_models tries the version path and joins the reasons", async () => {
  await using second = startModelServer({ models: ["found"] });
  const extraConfig = { providers: { local: { baseUrl: second.origin } } };
  await withCircle({ extraConfig }, async (circle) => {
    assertEquals(await circle.data({ type: "get_available_models" }), { models: ["found"] });
    assertEquals(second.listRequests.map(({ path }) => path), ["/models", "/v1/models"]);
    second.models = { status: 403, body: {} };
    assertEquals(await circle.error({ type: "get_available_models" }), "http 404, http 403");
  });
});

Deno.test("circle get_available_models fails for an endpoint that is not there", async () => {
  const gone = startModelServer();
  const baseUrl = gone.url;
  await gone[Symbol.asyncDispose]();
  await withCircle({ extraConfig: { providers: { local: { baseUrl } } } }, async (circle) => {
    assertEquals(
      await circle.error({ type: "get_available_models" }),
      "connection failed or invalid JSON",
    );
  });
});

Deno.test("circle --model demo works without key and network", async () => {
  await withCircle({ args: ["--model", "demo"] }, async (circle) => {
    assertEquals(await circle.data({ type: "get_available_models" }), { models: ["demo"] });
    assertEquals((await circle.state()).model, "demo");
    const records = await circle.turn("What is in notes.txt?");
    assertEquals(allOf(records, "turn_end").length, 1);
    assertEquals(allOf(records, "tool_result").every(({ status }) => status === "success"), true);
    assertEquals(allOf(records, "tool_result").length > 0, true);
    assertEquals(circle.server.requests, []);
  });
});

Deno.test("circle --model, --base-url and --api-key choose the endpoint for the process", async () => {
  await using second = startModelServer();
  second.reply({ text: "hi" });
  const args = ["--model", "chosen", "--base-url", second.url, "--api-key=secret-key-123"];
  await withCircle({ args }, async (circle) => {
    await circle.turn("hello");
    assertEquals(second.requests[0].body.model, "chosen");
    assertEquals(second.requests[0].headers.authorization, "Bearer secret-key-123");
    assertEquals(circle.server.requests, []);
  });
});

Deno.test("circle error messages carry the endpoint's text and never a key", async () => {
  const message = "Incorrect API key provided: test-key.\nGet one elsewhere.";
  const reply = { status: 401, body: { error: { message } } };
  await withCircle({ replies: [reply] }, async (circle) => {
    const [error] = allOf(await circle.turn("hello"), "error");
    assertMatch(String(error.message), /^[^\n]*401[^\n]*$/);
    assertStringIncludes(String(error.message), "Incorrect API key provided: [redacted].");
    assertEquals(JSON.stringify(circle.weir.records).includes("test-key"), false);
  });
});
