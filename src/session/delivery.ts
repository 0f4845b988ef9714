/**
 * Messages that wait, and how they come into the conversation or to a turn of their own. Tells of every change of the queues. Knows no command and no
 * job.
 */

import type { CommandResults } from "./command.ts";
import { createMessage } from "./create_message.ts";
import type { QueueDepths, SessionEvent, WaitingTexts } from "./event.ts";
import { MessageQueues, type QueueName, type WaitingMessage } from "./message_queue.ts";
import type { Settings } from "./settings.ts";
import type { Transcript } from "./transcript.ts";

export interface DeliveryOptions {
  readonly settings: Settings;
  readonly transcript: Transcript;
  emit(event: SessionEvent): Promise<void> | undefined;
}

export class Delivery {
  readonly #queues = new MessageQueues();
  readonly #settings: Settings;
  readonly #transcript: Transcript;
  readonly #emit: DeliveryOptions["emit"];

  constructor({ settings, transcript, emit }: DeliveryOptions) {
    this.#settings = settings;
    this.#transcript = transcript;
    this.#emit = emit;
  }

  get depths(): QueueDepths {
    return this.#queues.depths();
  }

  /** Lets a message wait. The returned function tells of it. */
  enqueue(queue: QueueName, message: WaitingMessage): () => undefined {
    this.#queues.add(queue, message);
    const news = this.#news();
    return () => {
      this.#emit({ type: "queue_change", action: "enqueue", queue, ...message, ...news });
    };
  }

  /** Removes and returns what waits. */
  clear(): CommandResults["clear_queue"] {
    const removed = this.#queues.clear();
    if (removed.steering.length + removed.followUp.length > 0) this.#emit({ type: "queue_clear" });
    return removed;
  }

  /** Whether something waits that belongs to the running turn. */
  get isDue(): boolean {
    if (!this.#queues.isEmpty("steer")) return true;
    return this.#settings.policy.followUps === "steps" && !this.#queues.isEmpty("follow_up");
  }

  /** Takes the message that opens a turn of its own: steering first. */
  takeNext(): (WaitingMessage & { readonly origin: QueueName }) | undefined {
    for (const queue of ["steer", "follow_up"] as const) {
      const waiting = this.#queues.take(queue);
      if (waiting === undefined) continue;
      this.#tellDequeued(queue, waiting);
      return { ...waiting, origin: queue };
    }
    return undefined;
  }

  /** Puts what is due into the conversation, right before a model request. Throws what storing and reading files throw. */
  async deliver(afterAnswer: boolean, { signal }: { signal: AbortSignal }): Promise<void> {
    const { policy, steeringMode, followUpMode } = this.#settings;
    if (!this.#queues.isEmpty("steer")) {
      await this.#deliverFrom("steer", { mode: steeringMode, signal });
    } else if (afterAnswer && policy.followUps === "steps") {
      await this.#deliverFrom("follow_up", { mode: followUpMode, signal });
    }
  }

  async #deliverFrom(
    queue: QueueName,
    { mode, signal }: { mode: Settings["steeringMode"]; signal: AbortSignal },
  ): Promise<void> {
    const settings = this.#settings;
    const { expandDelivered: expand, queueNewsFirst: isTogether = false } = settings.policy;
    let last: WaitingMessage | undefined;
    const delivered: SessionEvent[] = [];
    try {
      for (const waiting of this.#queues.peek(queue, mode)) {
        const message = await createMessage(waiting, { expand, settings, signal });
        // Somebody may have cleared the queue while a file was read for the message.
        if (this.#queues.peek(queue, "one-at-a-time")[0] !== waiting) break;
        const id = this.#transcript.append(message);
        this.#queues.take(queue);
        if (!isTogether) this.#tellDequeued(queue, waiting);
        last = waiting;
        delivered.push({ type: "user_message", id, message, ...waiting, origin: queue });
      }
    } finally {
      // Those before one that could not be stored are in the conversation.
      if (isTogether && last !== undefined) this.#tellDequeued(queue, last);
      for (const event of delivered) await this.#emit(event);
    }
  }

  #tellDequeued(queue: QueueName, { text, requestId }: WaitingMessage): void {
    this.#emit({
      type: "queue_change",
      action: "dequeue",
      queue,
      text,
      requestId,
      ...this.#news(),
    });
  }

  #news(): QueueDepths & { readonly waiting?: WaitingTexts } {
    const depths = this.#queues.depths();
    return this.#settings.policy.queueNewsFirst
      ? { ...depths, waiting: this.#queues.texts() }
      : depths;
  }
}
