/** Stage between lines and commands. Knows no field of any dialect: it asks the dialect. */

import type { Line } from "../wire/line_stream.ts";
import type { Wire } from "./wire.ts";

/** Turns batches of lines into batches of requests, one for each line that gets an answer; a bad line is a request too. */
export class DecodeStream<In> extends TransformStream<readonly Line[], readonly In[]> {
  constructor(dialect: Pick<Wire<In, never>, "decode">) {
    super({
      async transform(lines, controller) {
        const requests: In[] = [];
        for (const line of lines) {
          let request = dialect.decode(line);
          if (request instanceof Promise) request = await request;
          if (request !== undefined) requests.push(request);
        }
        if (requests.length > 0) controller.enqueue(requests);
      },
    });
  }
}
