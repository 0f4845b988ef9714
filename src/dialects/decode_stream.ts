/** Stage between lines and commands. Knows no field of any dialect: it asks the dialect. */

import type { Request } from "../session/command.ts";
import type { Line } from "../wire/line_stream.ts";
import type { Dialect } from "./dialect.ts";

/** Turns batches of lines into batches of requests, one for each line that gets an answer; a bad line is a request too. */
export class DecodeStream extends TransformStream<readonly Line[], readonly Request[]> {
  constructor(dialect: Dialect) {
    super({
      async transform(lines, controller) {
        const requests: Request[] = [];
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
