/**
 * The environment that commands get: ours without secrets. Knows names only, no process.
 */

const SECRET_NAME = new RegExp(
  [
    "(^|_)KEYS?(_ID|_BASE64|_B64|_V?\\d+)?$",
    "(API|ACCESS|PRIVATE|SECRET)_?KEY",
    "(TOKEN|SECRET)S?$",
    "(^|_)(TOKEN|SECRET)_",
    "PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL",
    "(^|_)(AUTH|PAT|AUTH_CONFIG)$",
    "(^|_)(SSH)?PASS$",
    "_PWD$",
    "^WEIR_API",
    "^(AWS|AZURE|GOOGLE|GCP)_.*(SECRET|TOKEN|KEY|SAS)",
    "CONNECTION_?STRING",
  ].join("|"),
  "i",
);

/**
 * The variables of `all` whose names do not look like secrets (`*_KEY`, `*_TOKEN`, `*PASSWORD*` and their kin, in any case) and are not
 * in `secrets`. A name in `allowed` always stays.
 */
export function childEnvironment(
  all: Readonly<Record<string, string>>,
  options: { allowed: readonly string[]; secrets: readonly string[] },
): Record<string, string> {
  const allowed = new Set(options.allowed);
  const secrets = new Set(options.secrets);
  return Object.fromEntries(
    Object.entries(all).filter(([name]) =>
      allowed.has(name) || !(secrets.has(name) || SECRET_NAME.test(name))
    ),
  );
}
