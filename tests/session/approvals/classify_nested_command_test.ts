import { check, DELETES, READS, RUNS, sudo, TOO_DEEP, UNPARSED } from "./_check_commands.ts";
import { classifyCommand } from "../../../src/session/approvals/classify_command.ts";

Deno.test("classifyCommand() always asks when quotes or substitutions do not end", () => {
  check(UNPARSED, [
    "echo 'a",
    'echo "a',
    "echo it's",
    "echo `ls",
    "echo $(ls",
    "echo ${a",
    "echo $'a",
    "rm 'a",
    "bash -c 'echo \"a'",
    'echo "$(echo "a)"',
    "echo $((1",
  ]);
});

Deno.test("classifyCommand() reads three levels of nesting and no more", () => {
  check(READS, [
    "echo $(echo $(echo $(ls)))",
    "sh -c \"sh -c 'sh -c ls'\"",
    "echo `echo \\`ls\\``",
    "env nohup nice time timeout 5 ls",
  ]);
  check(DELETES, ["echo $(echo $(echo $(rm a)))", 'sh -c "bash -c \'zsh -c \\"rm a\\"\'"']);
  check(DELETES, ["echo `echo \\`rm a\\``", "sh -c 'echo $(echo `rm a`)'"]);
  check(TOO_DEEP, [
    "echo $(echo $(echo $(echo $(ls))))",
    'sh -c "sh -c \'sh -c \\"sh -c ls\\"\'"',
    "bash -c 'echo $(echo $(echo $(ls)))'",
    "rm $(echo $(echo $(echo $(ls))))",
  ]);
  check(sudo(), ["sudo $(echo $(echo $(echo $(ls))))"]);
});

Deno.test("classifyCommand() finds a deletion in every form of a part", () => {
  check(DELETES, [
    "ls;rm a",
    "ls&rm a",
    "ls&&rm a",
    "ls||rm a",
    "ls|rm a",
    "ls|&rm a",
    "ls\nrm a",
    "ls\r\nrm a",
    "(rm a)",
    "(ls; (rm a))",
    "{ rm a; }",
    "f() { rm a; }",
    "((rm a); ls)",
    "((rm a))",
    "echo $((rm a); ls)",
    "! rm a",
    "if rm a; then ls; fi",
    "if ls; then rm a; else ls; fi",
    "while true; do rm a; done",
    "for f in *; do rm $f; done",
    "case x in a) rm a;; esac",
    "echo $(case x in (a) ls;; b) rm a;; esac)",
    "> out rm a",
    "2>/dev/null rm a",
    "rm<a",
    "\\rm a",
    "r\\m a",
    "r\\\nm a",
    "'rm' a",
    'r""m a',
    "$'rm' a",
    "$'\\162\\x6d' a",
    '$"rm" a',
    "echo `rm a`",
    'echo "`rm a`"',
    'echo "$(rm a)"',
    'echo "${a:-$(rm a)}"',
    "echo ${a:-`rm a`}",
    "echo $((1 + $(rm a)))",
    "diff <(ls) <(rm a)",
    "ls > >(rm a)",
    "A=$(rm a)",
    "cat <<EOF\n$(rm a)\nEOF",
    "cat <<EOF\n`rm a`\nEOF",
    "cat <<EOF; rm a\nx\nEOF",
    "cat <<EOF\nx\nEOF\nrm a",
    "cat <<-EOF\n\tx\n\tEOF\nrm a",
    "echo $((1 << 2))\nrm a\n2",
    "cat <<'E OF'\nx\nE OF\nrm a",
    "cat <<EOF\nrm a",
    "bash <<EOF\nrm a\nEOF",
    "bash -s x <<'EOF'\nrm a\nEOF",
    "env A=b sh - <<EOF\nrm a\nEOF",
    "cat <<EOF | sh\nrm a\nEOF",
    "bash <<< 'rm a'",
    "bash <(cat <<'EOF'\nrm a\nEOF\n)",
    "bash -c \"$(cat <<'EOF'\nrm a\nEOF\n)\"",
    "source /dev/stdin <<EOF\nrm a\nEOF",
    "ls # it's\nrm a",
    "echo a#b; rm a",
  ]);
});

Deno.test("classifyCommand() sees through programs that start others", () => {
  const wrappers = ["env", "env -i", "env A=1 B=2", "env -u NAME", "env -uNAME -C dir -"];
  wrappers.push(
    "env --unset=A --chdir dir",
    "env --",
    "nohup",
    "time",
    "time -p",
    "time -f %e -o x",
  );
  wrappers.push(
    "command",
    "command -p",
    "builtin",
    "exec",
    "exec -a name",
    "exec -cl",
    "stdbuf -oL",
  );
  wrappers.push("stdbuf -o L -e 0", "stdbuf --output=L", "stdbuf --output L", "caffeinate");
  wrappers.push("caffeinate -dims -t 5", "nice", "nice -n 5", "nice -5", "nice --adjustment=5");
  wrappers.push("timeout 5", "timeout -s KILL 5", "timeout -k 1 --signal TERM 5s", "ionice -c 3");
  wrappers.push("timeout --sig=KILL 5", "timeout --foreground 5", "ionice -c2 -n 0", "xargs");
  wrappers.push(
    "xargs -0",
    "xargs -I{} -n 1",
    "xargs -I {} -P 4",
    "xargs --max-args 1",
    "xargs -r0",
  );
  wrappers.push("xargs -a list", "/usr/bin/env", "env nohup nice -n 5", "xargs env timeout 5");
  for (const wrapper of wrappers) {
    check(DELETES, [`${wrapper} rm a`]);
    check(READS, [`${wrapper} cat a`]);
    check(RUNS, [`${wrapper} make a`]);
    check(sudo(), [`${wrapper} sudo a`]);
  }
  check(DELETES, ["env -S 'rm a'", "env -S'rm a'", "env -iS 'rm' a", "env --split-string='rm a'"]);
  check(READS, ["env -S 'cat a' b"]);
  check(RUNS, ["env", "xargs", "nohup", "command -v rm", "command -V sudo", "timeout 5"]);
});

Deno.test("classifyCommand() reads the text that a shell is given", () => {
  const shells = [
    "sh -c",
    "bash -c",
    "zsh -c",
    "dash -c",
    "ksh -c",
    "fish -c",
    "bash -lc",
    "sh -ec",
  ];
  shells.push(
    "bash -euo pipefail -c",
    "bash --norc -c",
    "bash --rcfile x -c",
    "bash -c -e",
    "bash.exe -c",
  );
  shells.push(
    "/bin/bash -c --",
    "bash +o posix -c",
    "bash -O extglob -c",
    "zsh -o x -c",
    "bash -co posix",
  );
  shells.push("fish --command", "fish -C ls -c", "env bash -c", "xargs sh -c", "pwsh -c", "cmd /c");
  shells.push(
    "cmd.exe /d /s /c",
    "cmd //c",
    "cmd /s/c",
    "cmd /k",
    "powershell -Command",
    "pwsh -NoP -c",
  );
  shells.push("powershell -ExecutionPolicy Bypass -com", "powershell");
  for (const shell of shells) {
    check(DELETES, [`${shell} 'rm a'`, `${shell} "ls; rm a"`, `${shell} 'ls | rm'`]);
    check(READS, [`${shell} 'cat a'`]);
    check(RUNS, [`${shell} 'make a'`, `${shell} 'cat a > b'`]);
    check(sudo(), [`${shell} 'sudo a'`]);
  }
  check(DELETES, [
    "fish -c'rm a'",
    "cmd /c del a",
    "cmd /cdel a",
    "cmd /c 'del/q a'",
    "cmd /c '@del a'",
    'cmd /c "echo it\'s & del a"',
    "cmd /c 'd^el a'",
    "cmd /c 'for %i in (*) do del %i'",
    "powershell -Command Remove-Item a",
    "powershell -Command '& {Remove-Item a}'",
    "powershell -Command 'ls | % {ri $_}'",
    "powershell -Command 'if (Test-Path a) { del a }'",
    "powershell -Command '<# x #> rm a'",
    "powershell -Command 'r`m a'",
  ]);
  check(RUNS, ["bash a.sh", "sh", "bash -s", "bash a.sh -c 'rm a'", "cmd", "pwsh", 'bash -c "$X"']);
});

Deno.test("classifyCommand() never throws and stays linear on hostile text", () => {
  const pieces = ["(", ")", "'", '"', "`", "\\", "$(", "$((", "((", "${", '"$(', '"${', "<(", "$'"];
  pieces.push(
    "<<a ",
    "<<a\n",
    "<<a\na\n",
    "{ ",
    "env ",
    "find -exec ",
    "x;",
    "> ",
    "case a in a) ",
  );
  pieces.push("$(`", "a=b ", "do ", "bash -c '", "python -c '", "cmd /c ", "\0", "\ud800", "😀");
  for (const piece of pieces) {
    const text = piece.repeat(Math.ceil(30_000 / piece.length));
    for (
      const command of [text, `${text}'`, `bash -c '${text}'`, `cmd ${text}`, `pwsh -c ${text}`]
    ) {
      classifyCommand(command, { credentialPatterns: ["*x*y*"] });
    }
  }
  check(TOO_DEEP, ["$(".repeat(300_000) + "ls" + ")".repeat(300_000)]);
  check(DELETES, ["a ".repeat(300_000) + "; rm a"]);
});
