/** The messages that wait for delivery: steering and follow-ups, each first in, first out. */

import type { MessageExtras } from "./command.ts";
import type { QueueDepths } from "./event.ts";
import type { DeliveryMode } from "./policy.ts";

export type QueueName = "steer" | "follow_up";

export interface WaitingMessage {
  /** As it was sent. */
  readonly text: string;
  /** The id of the command that brought it. */
  readonly requestId: unknown;
  readonly extras?: MessageExtras | undefined;
}

export class MessageQueues {
  readonly #queues: Record<QueueName, WaitingMessage[]> = { steer: [], follow_up: [] };

  add(queue: QueueName, message: WaitingMessage): void {
    this.#queues[queue].push(message);
  }

  /** What a delivery would take now; nothing is removed. */
  peek(queue: QueueName, mode: DeliveryMode): readonly WaitingMessage[] {
    return this.#queues[queue].slice(0, mode === "all" ? undefined : 1);
  }

  /** Removes the oldest message. */
  take(queue: QueueName): WaitingMessage | undefined {
    return this.#queues[queue].shift();
  }

  isEmpty(queue: QueueName): boolean {
    return this.#queues[queue].length === 0;
  }

  depths(): QueueDepths {
    return { steering: this.#queues.steer.length, followUp: this.#queues.follow_up.length };
  }

  /** Empties both queues and returns what was in them, oldest first. */
  clear(): { readonly steering: readonly string[]; readonly followUp: readonly string[] } {
    const steering = this.#queues.steer.map((message) => message.text);
    const followUp = this.#queues.follow_up.map((message) => message.text);
    this.#queues.steer = [];
    this.#queues.follow_up = [];
    return { steering, followUp };
  }
}
