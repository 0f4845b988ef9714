import { assertEquals } from "@std/assert";
import { createReceipt } from "../../src/agent/receipt.ts";

const price = { input: 1, output: 2, cacheRead: 0.1 };
const call = { model: "gpt-5.1", provider: "openai" };

Deno.test("createReceipt() prices a call", () => {
  const usage = { inputTokens: 1000, outputTokens: 500, cacheReadTokens: 400 };
  assertEquals(createReceipt({ ...call, usage, price }), {
    model: "gpt-5.1",
    currency: "USD",
    amount: 0.00164,
    tokens: { input_miss: 600, input_hit: 400, input_write: 0, input_write_1h: 0, output: 500 },
    rates: { input: 1, output: 2, cache_read: 0.1, cache_write: 0 },
    provider: "openai",
  });
});

Deno.test("createReceipt() charges a cache rate that is 0 or absent as input", () => {
  const usage = { inputTokens: 100, outputTokens: 0, cacheReadTokens: 30, cacheWriteTokens: 20 };
  const receipt = createReceipt({ ...call, usage, price: { ...price, cacheRead: 0 } });
  assertEquals(receipt.amount, 0.0001);
  assertEquals(receipt.tokens.input_miss, 50);
  const dear = createReceipt({ ...call, usage, price: { ...price, cacheWrite: 1.25 } });
  assertEquals(dear.amount, 0.000078);
  assertEquals(dear.rates, { input: 1, output: 2, cache_read: 0.1, cache_write: 1.25 });
});

Deno.test("createReceipt() knows no amount without a price", () => {
  const usage = { inputTokens: 10, outputTokens: 5 };
  const receipt = createReceipt({ ...call, usage, price: undefined });
  assertEquals([receipt.currency, receipt.amount, receipt.rates], ["", null, {}]);
  assertEquals(receipt.tokens.output, 5);
});

Deno.test("createReceipt() never counts more than the input", () => {
  const usage = { inputTokens: 10, outputTokens: 0, cacheReadTokens: 8, cacheWriteTokens: 8 };
  const { tokens } = createReceipt({ ...call, usage, price });
  assertEquals([tokens.input_miss, tokens.input_hit, tokens.input_write], [0, 8, 2]);
});
