// What the library's bundle brings for engines that do not have it yet (Node 20). Put in the place of the names by the bundler, so
// that no global changes.

export const withResolvers = Promise.withResolvers?.bind(Promise) ?? (() => {
  let resolve, reject;
  const promise = new Promise((...both) => [resolve, reject] = both);
  return { promise, resolve, reject };
});

export const AsyncDisposables = globalThis.AsyncDisposableStack ?? class AsyncDisposables {
  #owned = [];

  use(value) {
    if (value) {
      this.#owned.push(() => (value[Symbol.asyncDispose] ?? value[Symbol.dispose]).call(value));
    }
    return value;
  }

  adopt(value, dispose) {
    this.#owned.push(() => dispose(value));
    return value;
  }

  defer(dispose) {
    this.#owned.push(dispose);
  }

  move() {
    const next = new AsyncDisposables();
    next.#owned = this.#owned.splice(0);
    return next;
  }

  async disposeAsync() {
    const errors = [];
    for (const dispose of this.#owned.splice(0).reverse()) {
      try {
        await dispose();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  [Symbol.asyncDispose]() {
    return this.disposeAsync();
  }
};
