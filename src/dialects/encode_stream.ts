/** Stage between records and text. What is written in one go leaves in one chunk. */

import type { Wire } from "./wire.ts";

/** Turns batches of records into the dialect's lines, one chunk of text a batch; a batch of which nothing is told gives no chunk. */
export class EncodeStream<Out> extends TransformStream<readonly Out[], string> {
  constructor(
    dialect: Pick<Wire<never, Out>, "createEncoder">,
    options: { mode: "rpc" | "print" },
  ) {
    const encoder = dialect.createEncoder(options);
    super({
      transform(records, controller) {
        let text = "";
        for (const record of records) text += encoder.encode(record);
        if (text !== "") controller.enqueue(text);
      },
    });
  }
}
