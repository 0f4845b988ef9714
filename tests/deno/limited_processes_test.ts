/**
 * Processes without the right to read the system's table and, as in an executable of `deno compile`, without all permissions at once: the same
 * tests in a process with named permissions.
 */

import { assert, assertStringIncludes } from "@std/assert";

Deno.test({
  name: "DenoProcesses need no more than the permissions of an executable",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const names = ["read", "write", "net", "env", "run", "sys"];
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["test", "--quiet", "--no-check", "--no-prompt", "--config", "deno.npm.json"],
        ...names.map((name) => `--allow-${name}`),
        // Deno lets nobody write to a device who has not all permissions.
        ...["--filter", "/^(start|stop|exited|isTree|find)/", "tests/deno/deno_processes_test.ts"],
      ],
      cwd: new URL("../..", import.meta.url),
      env: { NO_COLOR: "1" },
    }).output();
    const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    assert(success, text);
    assertStringIncludes(text, "stop() ends a process with an empty environment ... ok");
  },
});
