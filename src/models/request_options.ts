/**
 * What requests of both formats depend on besides the conversation.
 */

import type { ModelInfo, ThinkingLevel } from "../agent/model.ts";

/** The model and endpoint that a request is for. */
export interface RequestTarget {
  readonly id: string;
  readonly baseUrl: string;
  readonly info: ModelInfo;
}

/** Whether the endpoint is OpenAI's own, which knows parameters that others refuse. */
export function isOpenaiHost(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && /(?:^|\.)api\.openai\.com$/.test(new URL(baseUrl).hostname);
}

/** The effort to ask for; `undefined` asks for nothing. */
export function reasoningEffort(
  level: ThinkingLevel | undefined,
  info: ModelInfo,
): string | undefined {
  if (level === undefined || level === "off" || info.reasoning === false) return undefined;
  return level === "max" ? "xhigh" : level;
}
