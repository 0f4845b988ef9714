// Stands in for `jsr:@std/testing/mock` where only the npm registry is reachable. Knows nothing of the project.
import { assertEquals, AssertionError } from "../assert/mod.ts";

/** A wrong use of a spy or stub. */
export class MockError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "MockError";
  }
}

/** One call that a spy saw. */
export interface SpyCall<Self = unknown, Args extends unknown[] = unknown[], Return = unknown> {
  args: Args;
  self?: Self;
  returned?: Return;
  error?: unknown;
}

/** A function that keeps a record of its calls. */
export interface Spy<Self = unknown, Args extends unknown[] = unknown[], Return = unknown> {
  (this: Self, ...args: Args): Return;
  calls: SpyCall<Self, Args, Return>[];
  original: (this: Self, ...args: Args) => Return;
  restored: boolean;
  restore(): void;
  [Symbol.dispose](): void;
}

/** A spy on a method that does something else instead. */
export type Stub<Self = unknown, Args extends unknown[] = unknown[], Return = unknown> = Spy<
  Self,
  Args,
  Return
>;

// deno-lint-ignore no-explicit-any -- a method of any object
type AnyFunction = (...args: any[]) => any;
type MethodArgs<Self, Key extends keyof Self> = Self[Key] extends (...args: infer Args) => unknown
  ? Args
  : never;
type MethodReturn<Self, Key extends keyof Self> = Self[Key] extends
  (...args: never[]) => infer Return ? Return : never;

/** A function that records its calls and does nothing, or what `func` does. */
export function spy<Self = unknown, Args extends unknown[] = unknown[]>(): Spy<
  Self,
  Args,
  undefined
>;
export function spy<Self, Args extends unknown[], Return>(
  func: (this: Self, ...args: Args) => Return,
): Spy<Self, Args, Return>;
/** Records the calls of a method until it is restored. */
export function spy<Self, Key extends keyof Self>(
  self: Self,
  property: Key,
): Spy<Self, MethodArgs<Self, Key>, MethodReturn<Self, Key>>;
export function spy(target?: unknown, property?: PropertyKey): Spy {
  if (property !== undefined) return replaceMethod(target as object, property);
  return createSpy((target as AnyFunction | undefined) ?? (() => undefined), () => {
    throw new MockError("Cannot restore: function cannot be restored");
  });
}

/** Replaces a method by `func` (default: does nothing) until it is restored. */
export function stub<Self, Key extends keyof Self>(
  self: Self,
  property: Key,
  func?: (
    this: Self,
    ...args: MethodArgs<Self, Key>
  ) => MethodReturn<Self, Key>,
): Stub<Self, MethodArgs<Self, Key>, MethodReturn<Self, Key>> {
  const replacement = (func ?? (() => undefined)) as AnyFunction;
  return replaceMethod(self as object, property, replacement) as unknown as Stub<
    Self,
    MethodArgs<Self, Key>,
    MethodReturn<Self, Key>
  >;
}

/** Fails unless the spy was called `expectedCalls` times. */
export function assertSpyCalls<Self, Args extends unknown[], Return>(
  spy: Spy<Self, Args, Return>,
  expectedCalls: number,
): void {
  if (spy.calls.length === expectedCalls) return;
  throw new AssertionError(
    `Spy called ${
      spy.calls.length < expectedCalls ? "less" : "more"
    } than expected: ${spy.calls.length} instead of ${expectedCalls}`,
  );
}

/** Fails unless call number `callIndex` (from 0) was made and is as `expected` says. */
export function assertSpyCall<Self, Args extends unknown[], Return>(
  spy: Spy<Self, Args, Return>,
  callIndex: number,
  expected: Partial<SpyCall<Self, Args, Return>> = {},
): void {
  const call = spy.calls[callIndex];
  if (!call) throw new AssertionError(`Spy not called as expected: there is no call ${callIndex}`);
  if (expected.args) assertEquals(call.args, expected.args, "Spy not called with expected args");
  if ("self" in expected) assertEquals(call.self, expected.self, "Spy not called as method");
  if ("returned" in expected) {
    assertEquals(call.returned, expected.returned, "Spy did not return expected value");
  }
}

function replaceMethod(self: object, property: PropertyKey, replacement?: AnyFunction): Spy {
  const target = self as Record<PropertyKey, unknown>;
  const original = target[property];
  if (typeof original !== "function") {
    throw new MockError(`Cannot spy: property "${String(property)}" is not a method`);
  }
  const descriptor = Object.getOwnPropertyDescriptor(self, property);
  const method = createSpy(replacement ?? original as AnyFunction, () => {
    if (descriptor) Object.defineProperty(self, property, descriptor);
    else delete target[property];
  });
  method.original = original as AnyFunction;
  Object.defineProperty(self, property, {
    value: method,
    configurable: true,
    enumerable: descriptor?.enumerable ?? true,
    writable: true,
  });
  return method;
}

function createSpy(run: AnyFunction, restore: () => void): Spy {
  const record = function (this: unknown, ...args: unknown[]): unknown {
    const call: SpyCall = { args };
    if (this !== undefined) call.self = this;
    method.calls.push(call);
    try {
      return call.returned = run.apply(this, args);
    } catch (error) {
      call.error = error;
      throw error;
    }
  };
  const method: Spy = Object.assign(record, {
    calls: [],
    original: run,
    restored: false,
    restore() {
      if (method.restored) throw new MockError("Cannot restore: function already restored");
      restore();
      method.restored = true;
    },
    [Symbol.dispose]() {
      if (!method.restored) method.restore();
    },
  });
  return method;
}
