/**
 * Reaches a `node:` module when it is needed. A static import of one costs 5 to 15 ms at every start, which is more than the rest of the start.
 */

/** Throws where the runtime has no such module. */
export function builtInModule<Module>(name: `node:${string}`): Module {
  const { process } = globalThis as unknown as {
    process: { getBuiltinModule(name: string): Module | undefined };
  };
  const found = process.getBuiltinModule(name);
  if (found === undefined) throw new Error(`Cannot load ${name}: this runtime has no such module`);
  return found;
}
