import { assertEquals } from "@std/assert";
import {
  baseName,
  CREDENTIAL_PATTERNS,
  isCredentialFile,
} from "../../../src/session/approvals/credential_files.ts";

Deno.test("isCredentialFile() knows every built-in pattern in any folder and case", () => {
  for (const pattern of CREDENTIAL_PATTERNS) {
    const name = pattern.replaceAll("*", "abc");
    for (const path of [name, `/a/b/${name}`, `C:\\a\\${name}`, name.toUpperCase(), `${name}/`]) {
      assertEquals(isCredentialFile(path, { patterns: [] }), true, path);
    }
  }
});

Deno.test("isCredentialFile() leaves other names alone", () => {
  const names = [
    "",
    "/",
    "env",
    ".envrc",
    ".env/a",
    "credentials.json.bak",
    "id_rsa.pub",
    "a.pem.txt",
  ];
  for (const name of [...names, "xid_rsa", "pem", "a.pemx", "token_json"]) {
    assertEquals(isCredentialFile(name, { patterns: [] }), false, name);
  }
});

Deno.test("isCredentialFile() adds the given globs", () => {
  const patterns = ["*.Secret", "key-??", "a*b*c"];
  for (const name of ["x.secret", ".secret", "KEY-01", "abc", "a.b.b.c"]) {
    assertEquals(isCredentialFile(name, { patterns }), true, name);
  }
  for (const name of ["secret", "key-1", "key-123", "acb", "x.secret.txt"]) {
    assertEquals(isCredentialFile(name, { patterns }), false, name);
  }
  assertEquals(isCredentialFile("[x].(y)+", { patterns: ["[x].(y)+"] }), true);
  assertEquals(isCredentialFile("x", { patterns: ["[x]"] }), false);
});

Deno.test("isCredentialFile() is not slowed down by many stars", () => {
  const name = "a".repeat(20_000);
  assertEquals(isCredentialFile(name, { patterns: ["*a".repeat(20) + "*b"] }), false);
});

Deno.test("baseName() takes the last part behind either separator", () => {
  const cases = [["a", "a"], ["/a/b", "b"], ["a\\b", "b"], ["a/b//", "b"], ["/", ""], ["", ""]];
  for (const [path, name] of cases) assertEquals(baseName(path), name);
});
