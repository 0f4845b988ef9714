// Assertions about what a function throws or a promise rejects with.
import { AssertionError } from "./assertion_error.ts";
import { format } from "./equal.ts";

// deno-lint-ignore no-explicit-any -- any error class, whatever its constructor takes
type ErrorClass<E> = abstract new (...args: any[]) => E;

/** Fails unless `fn` throws; returns what it threw. */
export function assertThrows(fn: () => unknown, msg?: string): unknown;
/** Fails unless `fn` throws an instance of `ErrorClass` whose message has `msgIncludes` in it; returns the error. */
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  ErrorClass: ErrorClass<E>,
  msgIncludes?: string,
  msg?: string,
): E;
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  classOrMsg?: ErrorClass<E> | string,
  includesOrMsg?: string,
  msg?: string,
): unknown {
  const wanted = expectation(classOrMsg, includesOrMsg, msg);
  try {
    fn();
  } catch (error) {
    return checkError(error, wanted);
  }
  throw new AssertionError(`Expected function to throw${wanted.suffix}`);
}

/** Fails unless the promise of `fn` rejects; resolves to the reason. */
export function assertRejects(fn: () => PromiseLike<unknown>, msg?: string): Promise<unknown>;
/** Fails unless the promise of `fn` rejects with an `ErrorClass` whose message has `msgIncludes` in it; resolves to the error. */
export function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  ErrorClass: ErrorClass<E>,
  msgIncludes?: string,
  msg?: string,
): Promise<E>;
export async function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  classOrMsg?: ErrorClass<E> | string,
  includesOrMsg?: string,
  msg?: string,
): Promise<unknown> {
  const wanted = expectation(classOrMsg, includesOrMsg, msg);
  let promise: unknown;
  try {
    promise = fn();
  } catch {
    throw new AssertionError(`Function throws when expected to reject${wanted.suffix}`);
  }
  if (typeof (promise as PromiseLike<unknown> | undefined)?.then !== "function") {
    throw new AssertionError(`Function did not return a promise${wanted.suffix}`);
  }
  try {
    await promise;
  } catch (error) {
    return checkError(error, wanted);
  }
  throw new AssertionError(`Expected function to reject${wanted.suffix}`);
}

interface Expectation {
  ErrorClass?: ErrorClass<Error>;
  includes?: string;
  suffix: string;
}

function expectation(
  classOrMsg: ErrorClass<Error> | string | undefined,
  includesOrMsg: string | undefined,
  msg: string | undefined,
): Expectation {
  if (typeof classOrMsg === "function") {
    return { ErrorClass: classOrMsg, includes: includesOrMsg, suffix: msg ? `: ${msg}` : "." };
  }
  const text = classOrMsg ?? msg;
  return { suffix: text ? `: ${text}` : "." };
}

function checkError(error: unknown, { ErrorClass, includes, suffix }: Expectation): unknown {
  if (ErrorClass === undefined) return error;
  if (!(error instanceof Error)) {
    throw new AssertionError(
      `A non-Error object was thrown or rejected: ${format(error)}${suffix}`,
    );
  }
  if (!(error instanceof ErrorClass)) {
    throw new AssertionError(
      `Expected error to be instance of "${ErrorClass.name}", but was ${format(error)}${suffix}`,
      { cause: error },
    );
  }
  if (includes !== undefined && !error.message.includes(includes)) {
    throw new AssertionError(
      `Expected error message to include ${JSON.stringify(includes)}, but got ${
        JSON.stringify(error.message)
      }${suffix}`,
      { cause: error },
    );
  }
  return error;
}
