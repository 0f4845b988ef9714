/**
 * What a model call cost. Knows tokens and prices, no endpoint.
 */

import type { Price, Receipt, Usage } from "./message.ts";

/**
 * The receipt of one call: rates in US$ per million tokens, `amount` in US$ to 12 decimals. Without a price the amount is `null`; a
 * cache rate that is 0 or absent is charged as input.
 */
export function createReceipt(options: {
  readonly usage: Usage;
  readonly model: string;
  readonly provider: string;
  readonly price: Price | undefined;
}): Receipt {
  const { usage, model, provider, price } = options;
  // Together never more than the input, whatever the endpoint counted.
  const hit = Math.min(usage.cacheReadTokens ?? 0, usage.inputTokens);
  const write = Math.min(usage.cacheWriteTokens ?? 0, usage.inputTokens - hit);
  const miss = usage.inputTokens - hit - write;
  const tokens = {
    input_miss: miss,
    input_hit: hit,
    input_write: write,
    input_write_1h: 0,
    output: usage.outputTokens,
  };
  if (price === undefined) {
    return { model, currency: "", amount: null, tokens, rates: {}, provider };
  }
  const millionths = miss * price.input +
    hit * (price.cacheRead || price.input) +
    write * (price.cacheWrite || price.input) +
    usage.outputTokens * price.output;
  const rates = {
    input: price.input,
    output: price.output,
    cache_read: price.cacheRead ?? 0,
    cache_write: price.cacheWrite ?? 0,
  };
  const amount = Number((millionths / 1e6).toFixed(12));
  return { model, currency: "USD", amount, tokens, rates, provider };
}
