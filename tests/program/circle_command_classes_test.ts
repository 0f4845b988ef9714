/** How a circle RPC process classes shell commands: every row of the table, by sample, without running one of them. */

import { assertEquals } from "@std/assert";
import { calls, withCircle } from "./_with_circle.ts";

/** `refused <text>`, `always <reason>` or `asks <reason>` for each command. */
const COMMANDS: Record<string, string[]> = {
  "refused sudo changes who commands run as": [
    "sudo id",
    "A=1 /usr/bin/sudo -n id",
    "time nohup sudo id",
    "echo $(sudo id)",
    "bash -c 'echo a && sudo id'",
    "echo `sudo id`",
    "ls | xargs -n 1 sudo",
  ],
  "refused su changes who commands run as": ["su -c id"],
  "refused pkexec changes who commands run as": ["(pkexec id)"],
  "refused runas changes who commands run as": ["runas /user:a id"],
  "refused gsudo changes who commands run as": ["gsudo id"],
  "refused .env is a credential file": [
    "cat .env",
    "echo a > .env",
    "X=.env make",
    "cat 'a/b'/.env",
  ],
  "refused .env.local is a credential file": ["source .env.local"],
  "refused .netrc is a credential file": ["cat ~/.netrc"],
  "refused id_rsa is a credential file": ["cp ~/.ssh/id_rsa x"],
  "refused token.json is a credential file": ["jq . token.json"],
  "refused server.pem is a credential file": ["openssl x509 -in server.pem"],
  "refused credential file in Python code": [`python3 -c "open('credentials.json')"`],
  "always command could not be parsed": ["echo 'open", 'echo "open'],
  "always nested too deep to read": [
    'sh -c "sh -c \'sh -c \\"sh -c ls\\"\'"',
    "echo $(echo $(echo $(echo $(echo deep))))",
  ],
  "always encoded command": [
    "powershell -EncodedCommand SQBFAFgA",
    "powershell -enc SQBFAFgA",
    "powershell -e SQBFAFgA",
  ],
  "always python code deletes files": [
    `python -c "import os; os.remove('a')"`,
    `python3 -c "import shutil; shutil.rmtree('a')"`,
    `py -c "import pathlib; pathlib.Path('a').unlink()"`,
  ],
  "always deletes files": [
    "rm -rf build",
    "rmdir a",
    "unlink a",
    "shred a",
    "trash a",
    "trash-put a",
    "del a",
    "Remove-Item a",
    "ls; /bin/rm a",
    "find . -name '*.o' -delete",
    "find . -exec rm {} +",
    "find . -execdir unlink {} ;",
    "git rm a",
    "git -C sub -c a=b rm a",
    "ls | xargs rm",
    "nice -n 5 rm a",
    "timeout 5 rm a",
    "env -i A=1 rm a",
    "cmd /c del a",
    "powershell -Command Remove-Item a",
    "echo ok\nrm a",
    "zsh -c 'rm a'",
  ],
  "always destructive operation": [
    "dd if=/dev/zero of=a",
    "truncate -s 0 a",
    "mkfs.ext4 /dev/sdz",
    "wipefs /dev/sdz",
    "git reset --hard",
    "git reset --merge",
    "git clean -fd",
    "git clean -df",
    "git push -f",
    "git push --force-with-lease",
    "git push --mirror",
    "git push -d origin a",
    "git push origin --delete a",
    "git push origin +main",
    "git push origin :main",
    "git branch -D a",
    "git branch -d -f a",
    "git stash drop",
    "git stash clear",
    "git checkout -f",
    "git checkout -- a",
    "git checkout .",
    "git restore a",
    "git restore --staged --worktree a",
    "git filter-branch",
    "git filter-repo",
  ],
  "asks only reads": [
    "cat a b",
    "ls -la | sort | uniq -c",
    "rg needle src 2>/dev/null",
    "find . -name '*.ts'",
    "git status",
    "git log --oneline",
    "git -C sub diff",
    "git show HEAD",
    "pwd && date; whoami",
    "echo $(pwd)",
    "bash -c 'ls'",
    "echo rm",
  ],
  "asks runs a shell command": [
    "make",
    "ls > list.txt",
    "ls >> list.txt",
    "sort -o a a",
    "find . -exec cat {} +",
    "git commit -m a",
    "git reset a",
    "git push",
    "git branch -d a",
    "git stash",
    "git checkout main",
    "git restore --staged a",
    "python3 -c 'print(1)'",
    "python3 script.py",
    "npm test",
    "cat a && make",
    "git clean -n",
  ],
};

const OUTPUTS: Record<string, string> = {
  always: "not run: this operation always asks",
  asks: "not run: needs --yolo or approval",
};

Deno.test("circle approvals class every kind of shell command", async () => {
  const rows = Object.entries(COMMANDS).flatMap(([expected, commands]) =>
    commands.map((command) => ({ command, expected }))
  );
  const toolCalls = rows.map(({ command }, index) => ({
    id: `c${index}`,
    name: "bash",
    args: { command },
  }));
  await withCircle({ replies: [calls(...toolCalls), { text: "ok" }] }, async (circle) => {
    const records = await circle.turn("go");
    const seen: { command: string; expected: string }[] = [];
    let reason: unknown;
    for (const { type, ...record } of records) {
      if (type === "not_run") ({ reason } = record);
      if (type !== "tool_result") continue;
      const output = String(record.output);
      const kind = Object.keys(OUTPUTS).find((key) => OUTPUTS[key] === output);
      const expected = kind
        ? `${kind} ${reason}`
        : output.replace("Denied by approval policy:", "refused").replace(
          / \S*\/(?=\S+ is a)/,
          " ",
        );
      seen.push({ command: rows[seen.length].command, expected });
      reason = undefined;
    }
    assertEquals(seen, rows);
  });
});
