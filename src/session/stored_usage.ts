/**
 * Tokens and costs of model calls in the session format's shape. Knows no entry and no message.
 */

import type { JsonObject, JsonValue, Receipt, Usage } from "../agent/message.ts";
import { asNumber, asObject, present } from "./json_members.ts";

/** Tokens and costs in the format's shape, where nothing can be left out: what was not reported is 0 there. */
export function encodeUsage(usage: Usage | undefined, receipt: Receipt | undefined): JsonObject {
  const cacheRead = usage?.cacheReadTokens ?? 0;
  const cacheWrite = usage?.cacheWriteTokens ?? 0;
  const input = Math.max(0, (usage?.inputTokens ?? 0) - cacheRead - cacheWrite);
  const output = usage?.outputTokens ?? 0;
  const { input: inputRate = 0, output: outputRate = 0, cache_read, cache_write } =
    receipt?.rates ?? {};
  const cost = {
    input: input * inputRate / 1e6,
    output: output * outputRate / 1e6,
    cacheRead: cacheRead * (cache_read || inputRate) / 1e6,
    cacheWrite: cacheWrite * (cache_write || inputRate) / 1e6,
    total: receipt?.amount ?? 0,
  };
  const reasoning = usage?.reasoningTokens;
  const totalTokens = input + output + cacheRead + cacheWrite;
  return present({ input, output, cacheRead, cacheWrite, reasoning, totalTokens, cost });
}

/** What another program recorded; only zeros mean that nothing was reported. */
function decodeUsage(value: JsonValue | undefined): Usage | undefined {
  const raw = asObject(value);
  if (raw === undefined) return undefined;
  const cacheReadTokens = asNumber(raw.cacheRead) ?? 0;
  const cacheWriteTokens = asNumber(raw.cacheWrite) ?? 0;
  const inputTokens = (asNumber(raw.input) ?? 0) + cacheReadTokens + cacheWriteTokens;
  const outputTokens = asNumber(raw.output) ?? 0;
  if (inputTokens === 0 && outputTokens === 0) return undefined;
  const reasoningTokens = asNumber(raw.reasoning);
  return {
    inputTokens,
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    ...(reasoningTokens !== undefined && { reasoningTokens }),
  };
}

/**
 * What a message or an entry says of a model call: exactly what Weir stored with it, or what another program recorded, with a receipt
 * for it.
 */
export function decodeCosts(
  raw: JsonObject,
  call: { provider: string; model: string },
): { usage?: Usage; receipt?: Receipt } {
  const own = asObject(raw.weir);
  if (own === undefined) {
    const usage = decodeUsage(raw.usage);
    return usage ? { usage, receipt: foreignReceipt(raw.usage, { usage, ...call }) } : {};
  }
  const usage = asObject(own.usage);
  const receipt = asObject(own.receipt);
  return {
    ...(isUsage(usage) && { usage }),
    ...(isReceipt(receipt) && { receipt }),
  };
}

function isUsage(value: unknown): value is Usage {
  const { inputTokens, outputTokens } = asObject(value) ?? {};
  return typeof inputTokens === "number" && typeof outputTokens === "number";
}

function isReceipt(value: unknown): value is Receipt {
  const { tokens, currency } = asObject(value) ?? {};
  return asObject(tokens) !== undefined && typeof currency === "string";
}

/** A receipt for a call that another program made: its costs as it recorded them; 0 means that it knew no price. */
function foreignReceipt(
  rawUsage: JsonValue | undefined,
  call: { usage: Usage; provider: string; model: string },
): Receipt {
  const { usage, provider, model } = call;
  const total = asNumber(asObject(asObject(rawUsage)?.cost)?.total) ?? 0;
  const input_hit = usage.cacheReadTokens ?? 0;
  const input_write = usage.cacheWriteTokens ?? 0;
  return {
    model,
    currency: total > 0 ? "USD" : "",
    amount: total > 0 ? total : null,
    tokens: {
      input_miss: usage.inputTokens - input_hit - input_write,
      input_hit,
      input_write,
      input_write_1h: 0,
      output: usage.outputTokens,
    },
    rates: {},
    provider,
  };
}
