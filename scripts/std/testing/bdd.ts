// Stands in for `jsr:@std/testing/bdd` where only the npm registry is reachable. Knows nothing of the project.
// Each outermost `describe` is one `Deno.test` with steps, each outermost `it` a test of its own.

type Callback = () => void | Promise<void>;
type Hooks = {
  before: Callback[];
  beforeEach: Callback[];
  afterEach: Callback[];
  after: Callback[];
};
interface Suite extends Hooks {
  parent: Suite | undefined;
  children: Array<
    { name: string; run: Callback; ignore: boolean } | {
      name: string;
      suite: Suite;
      ignore: boolean;
    }
  >;
}

const outermost = createSuite(undefined);
let open: Suite = outermost;

/** Groups the tests that `fn` defines. */
export function describe(name: string, fn: () => void): void {
  addSuite(name, fn, false);
}
describe.ignore = (name: string, fn: () => void): void => addSuite(name, fn, true);
describe.skip = describe.ignore;

/** Defines a test. */
export function it(name: string, fn: Callback): void {
  addTest(name, fn, false);
}
it.ignore = (name: string, fn: Callback): void => addTest(name, fn, true);
it.skip = it.ignore;

/** Runs `fn` once before the first test of its group. */
export function beforeAll(fn: Callback): void {
  open.before.push(fn);
}

/** Runs `fn` once after the last test of its group. */
export function afterAll(fn: Callback): void {
  open.after.push(fn);
}

/** Runs `fn` before each test of its group and of the groups in it. */
export function beforeEach(fn: Callback): void {
  open.beforeEach.push(fn);
}

/** Runs `fn` after each test of its group and of the groups in it, also after a failed one. */
export function afterEach(fn: Callback): void {
  open.afterEach.push(fn);
}

function createSuite(parent: Suite | undefined): Suite {
  return { parent, children: [], before: [], beforeEach: [], afterEach: [], after: [] };
}

function addSuite(name: string, fn: () => void, ignore: boolean): void {
  const parent = open;
  const suite = createSuite(parent);
  open = suite;
  try {
    fn();
  } finally {
    open = parent;
  }
  parent.children.push({ name, suite, ignore });
  if (parent === outermost) {
    Deno.test({ name, ignore, fn: (context) => runSuite(suite, context) });
  }
}

function addTest(name: string, run: Callback, ignore: boolean): void {
  const parent = open;
  parent.children.push({ name, run, ignore });
  if (parent === outermost) Deno.test({ name, ignore, fn: () => runTest(outermost, run) });
}

async function runSuite(suite: Suite, context: Deno.TestContext): Promise<void> {
  for (const hook of suite.before) await hook();
  try {
    for (const child of suite.children) {
      const fn = "suite" in child
        ? (step: Deno.TestContext) => runSuite(child.suite, step)
        : () => runTest(suite, child.run);
      await context.step({ name: child.name, ignore: child.ignore, fn });
    }
  } finally {
    for (const hook of suite.after) await hook();
  }
}

async function runTest(suite: Suite, run: Callback): Promise<void> {
  const chain: Suite[] = [];
  for (let at: Suite | undefined = suite; at; at = at.parent) chain.unshift(at);
  try {
    for (const { beforeEach } of chain) for (const hook of beforeEach) await hook();
    await run();
  } finally {
    for (const { afterEach } of chain.reverse()) for (const hook of afterEach) await hook();
  }
}
