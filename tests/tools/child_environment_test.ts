import { assertEquals } from "@std/assert";
import { childEnvironment } from "../../src/tools/child_environment.ts";

function kept(names: string[], options = { allowed: [] as string[], secrets: [] as string[] }) {
  return Object.keys(
    childEnvironment(Object.fromEntries(names.map((name) => [name, "x"])), options),
  );
}

Deno.test("childEnvironment() leaves out what looks like a secret", () => {
  const secrets = [
    ...[
      "OPENAI_API_KEY",
      "openai_api_key",
      "GITHUB_TOKEN",
      "CLIENT_SECRET",
      "PGPASSWORD",
      "MY_PASSWD",
    ],
    ...["GOOGLE_APPLICATION_CREDENTIALS", "NPM_AUTH", "npm_config__authToken", "AWS_ACCESS_KEY_ID"],
    ...[
      "AWS_SECRET_ACCESS_KEY",
      "AWS_SESSION_TOKEN",
      "AZURE_STORAGE_KEY",
      "WEIR_API_URL",
      "KEY",
      "TOKEN",
    ],
    ...[
      "GH_PAT",
      "DB_PASS",
      "SSH_PASSPHRASE",
      "AZURE_STORAGE_CONNECTION_STRING",
      "PRIVATE_KEY_PEM",
      "MYSQL_PWD",
      "SSHPASS",
      "DOCKER_AUTH_CONFIG",
      "SIGNING_KEYS",
      "ENCRYPTION_KEY_V2",
    ],
  ];
  assertEquals(kept(secrets), []);
});

Deno.test("childEnvironment() keeps what is harmless", () => {
  const names = [
    ...["PATH", "HOME", "PWD", "OLDPWD", "LANG", "SSH_AUTH_SOCK", "XAUTHORITY", "KEYBOARD", "TERM"],
    ...[
      "AWS_REGION",
      "AWS_PROFILE",
      "MONKEY",
      "WEIR_HOME",
      "GIT_AUTHOR_NAME",
      "COMPASS",
      "XPC_FLAGS",
    ],
  ];
  assertEquals(kept(names), names);
});

Deno.test("childEnvironment() goes by the two lists first", () => {
  const options = { allowed: ["A_KEY", "BOTH"], secrets: ["PLAIN", "BOTH"] };
  assertEquals(kept(["A_KEY", "B_KEY", "PLAIN", "BOTH", "PATH"], options), [
    "A_KEY",
    "BOTH",
    "PATH",
  ]);
});
