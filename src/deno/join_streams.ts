/**
 * Several streams as one, for systems where two outputs of a process cannot share a pipe. Knows nothing of what flows.
 */

/** Gives chunks as they come, and ends when all sources have. Takes at most one chunk of each source ahead; cancel reaches all. */
export function joinStreams<T>(sources: readonly ReadableStream<T>[]): ReadableStream<T> {
  const readers = sources.map((source) => source.getReader());
  const pending = new Map<
    number,
    Promise<{ index: number; result: ReadableStreamReadResult<T> }>
  >();
  const ended = new Set<number>();
  return new ReadableStream<T>({
    async pull(controller) {
      while (ended.size < readers.length) {
        for (const [index, reader] of readers.entries()) {
          if (ended.has(index) || pending.has(index)) continue;
          pending.set(index, reader.read().then((result) => ({ index, result })));
        }
        const { index, result } = await Promise.race(pending.values());
        pending.delete(index);
        if (!result.done) return controller.enqueue(result.value);
        ended.add(index);
      }
      controller.close();
    },
    async cancel(reason) {
      await Promise.all(readers.map((reader) => reader.cancel(reason)));
    },
  }, { highWaterMark: 0 });
}
