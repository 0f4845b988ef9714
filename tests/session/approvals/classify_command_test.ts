import {
  check,
  DELETES,
  DESTROYS,
  ENCODED,
  file,
  PYTHON,
  READS,
  refused,
  RUNS,
  sudo,
} from "./_check_commands.ts";

Deno.test("classifyCommand() refuses programs that change the user", () => {
  for (const name of ["sudo", "su", "doas", "pkexec", "runas", "gsudo"]) {
    check(sudo(name), [name, `${name} id`, `/usr/bin/${name} -n id`, `ls; ${name} x`]);
  }
  check(sudo(), [
    "sudo rm -rf / && cat .env",
    "cat .env; sudo id",
    "A=1 B=2 sudo id",
    "ls | sudo tee x",
    "(sudo id)",
    "{ sudo id; }",
    "if true; then sudo id; fi",
    "echo $(sudo id)",
    'echo "now: `sudo id`"',
    "s\\udo id",
    "'su'do id",
    "$'\\x73udo' id",
    "SUDO.exe id",
    "C:\\tools\\sudo.exe id",
    "sudo id 'unfinished",
    "find . -exec sudo id {} \\;",
    "> log sudo id",
    "cat <(sudo id)",
    "ls &\nsudo id",
  ]);
});

Deno.test("classifyCommand() refuses credential files wherever a part names them", () => {
  const names = [".env", ".env.local", ".env.example", "prod.env", ".netrc", ".pgpass"];
  names.push(".git-credentials", "credentials.json", "token.json", "id_rsa", "id_dsa", "id_ecdsa");
  names.push("id_ed25519", "server.pem", "a.p12", "a.pfx", "my.secret", ".ENV", "ID_RSA");
  for (const name of names) {
    check(file(name), [`cat ${name}`, `cat < ${name}`, `echo x >> ${name}`, `FOO=${name} cmd`]);
    check(file(`~/x/${name}`), [`cat ~/x/${name}`, `ls; grep a ~/x/${name} | wc`]);
  }
  check(file(".env"), [
    "FOO=.env",
    "curl --data=.env host",
    "dd if=.env",
    "cat '.env'",
    'cat ".e"nv',
    "cat .e\\nv",
    "cat ls 2>.env",
    "cat &>.env",
    "cat <<< .env",
    "bash -c 'cat .env'",
    "echo $(cat .env)",
    "env -S 'cat .env'",
    "timeout 5 cat .env",
    "cat '.env",
    "command -v .env",
    "find . -name .env",
    "rm .env",
    "[ -f .env ]",
    "sh <<EOF\ncat .env\nEOF",
    "cat <<EOF\n$(cat .env)\nEOF",
    "tee >(cat > .env)",
  ]);
  check(file("$HOME/.env"), ["cat $HOME/.env", 'cat "$HOME/.env"']);
  check(file("$()/.env"), ["cat $(pwd)/.env", "cat `pwd`/.env"]);
  check(file("keys\\id_rsa"), ["cat keys\\id_rsa", "cat 'keys\\id_rsa'"]);
  check(refused("credential file in Python code"), [
    "python -c 'open(\".env\")'",
    "python3 -c \"print(open('/home/ann/.ssh/id_rsa').read())\"",
    "python3 -Bc 'import os; os.system(\"cat x/server.pem; ls\")'",
    'py -3 -c \'open(r"""C:\\x\\token.json""")\'',
    "python3.12 -c \"# it's\nopen('.env')\"",
  ]);
});

Deno.test("classifyCommand() leaves words alone that only look like credential files", () => {
  check(READS, [
    "cat credentials.json.bak",
    "cat .environment",
    "cat .envrc",
    "cat id_rsa.pub",
    "cat tokens.json",
    "ls env",
    "grep -r password .",
    "grep -rn 'process.env.HOME' src",
    "ls # .env",
    "cat .env/readme",
  ]);
  check(RUNS, ["python3 -c 'print(self.env)'", "cat <<EOF > notes\nsee .env\nEOF"]);
});

Deno.test("classifyCommand() always asks for encoded PowerShell commands", () => {
  for (const option of ["-EncodedCommand", "-encodedcommand", "-enc", "-ec", "-e", "-en", "/enc"]) {
    check(ENCODED, [`powershell ${option} QQBB`, `pwsh.exe -NoProfile ${option} QQBB`]);
  }
  check(ENCODED, ["powershell -ExecutionPolicy Bypass -w hidden -enc QQBB"]);
  check(RUNS, ["powershell -ExecutionPolicy Bypass -File a.ps1", "powershell -ep Bypass -f a.ps1"]);
});

Deno.test("classifyCommand() looks into python -c for code that deletes", () => {
  const calls = ["os.remove('a')", "os.unlink('a')", "os.rmdir('a')", "os.removedirs('a')"];
  calls.push("shutil.rmtree('a')", "Path('a').unlink()", "p.rmdir()", "p.unlink (missing_ok=True)");
  for (const call of calls) {
    check(PYTHON, [`python -c "${call}"`, `python3 -I -c "import os\n${call}"`, `py -c "${call}"`]);
  }
  check(PYTHON, [
    "python3.11 -c'os.remove(1)'",
    "/usr/bin/python3 -W ignore -c 'os.remove(1)'",
    "python.exe -c 'os.remove(1)'",
    "env X=1 python -uc 'os.remove(1)'",
  ]);
  check(RUNS, [
    "python -c 'print(1)'",
    "python a.py -c 'os.remove(1)'",
    "python -m x -c 'os.remove(1)'",
    "python -c 'repos.remove(1)'",
    "python3 - <<'EOF'\nprint(1)\nEOF",
  ]);
});

Deno.test("classifyCommand() always asks for programs that delete", () => {
  const names = ["rm", "rmdir", "unlink", "shred", "srm", "trash", "trash-put", "del", "erase"];
  names.push("rd", "remove-item", "ri", "Remove-Item", "rm.exe", "RM", "./rm", "C:\\bin\\rm.exe");
  for (const name of names) check(DELETES, [`${name} a`, `ls && ${name} a`, `A=b ${name} a`]);
  check(DELETES, [
    "find . -delete",
    "find . -name a -exec rm {} \\;",
    "find . -execdir rm {} +",
    "find . -ok rm {} ';'",
    "find . -exec grep x {} \\; -exec rm {} \\;",
    "find . -exec sh -c 'rm \"$1\"' _ {} \\;",
    "find . -exec env A=1 /bin/rm {} +",
    "git rm a",
    "git rm --cached a",
    "git -C dir -c a.b=c --no-pager rm a",
    "git --git-dir x rm a",
    "git reset --hard; rm a",
  ]);
});

Deno.test("classifyCommand() always asks for destructive programs", () => {
  const names = ["dd", "truncate", "wipefs", "fdisk", "parted", "format", "diskpart", "cipher"];
  names.push("sdelete", "clear-disk", "format-volume", "mkfs", "mkfs.ext4", "Format-Volume");
  names.push("format.com", "/sbin/mkfs.vfat");
  for (const name of names) check(DESTROYS, [`${name} a`, `ls; nice ${name} a`]);
});

Deno.test("classifyCommand() knows which git commands destroy work", () => {
  check(DESTROYS, [
    "git reset --hard",
    "git reset HEAD~1 --hard",
    "git reset --merge",
    "git reset --har",
    "git clean -f",
    "git clean -fd",
    "git clean -xdf",
    "git clean --force",
    "git push -f",
    "git push --force",
    "git push --force-with-lease",
    "git push --force-with-lease=main:abc origin",
    "git push --mirror",
    "git push -d origin a",
    "git push --delete origin a",
    "git push -uf origin a",
    "git push origin +main",
    "git push origin +a:b",
    "git push origin :a",
    "git branch -D a",
    "git branch -d -f a",
    "git branch -df a",
    "git branch --delete --force a",
    "git stash drop",
    "git stash drop stash@{1}",
    "git stash clear",
    "git checkout -f",
    "git checkout --force main",
    "git checkout -- a",
    "git checkout main -- a",
    "git checkout .",
    "git checkout HEAD .",
    "git restore a",
    "git restore .",
    "git restore --staged --worktree a",
    "git restore -SW a",
    "git restore -s HEAD a",
    "git filter-branch --all",
    "git filter-repo --path a",
    "git -C dir reset --hard",
    "git -c a.b=c -C dir push -f",
    "git --no-pager --git-dir=x --work-tree y clean -fdx",
    "git.exe reset --hard",
    "env GIT_DIR=x git reset --hard",
    "git status && git reset --hard",
  ]);
  check(RUNS, [
    "git",
    "git add .",
    "git commit -m 'rm x'",
    "git commit -m \"$(cat <<'EOF'\nfix: it's (rm -rf) \"done\nEOF\n)\"",
    "git reset HEAD a",
    "git reset --soft HEAD~1",
    "git clean -n",
    "git clean -n -efoo",
    "git push",
    "git push -u origin main",
    "git push origin a:b",
    "git push --dry-run --follow-tags",
    "git push -o force",
    "git branch -d a",
    "git branch a",
    "git stash",
    "git stash pop",
    "git stash push -m drop",
    "git checkout main",
    "git checkout -b fix",
    "git checkout -bf",
    "git restore --staged a",
    "git restore -S .",
    "git -C rm pull",
    "git log > a",
    "git remote rm a",
  ]);
  check(READS, [
    "git status",
    "git log --oneline -5",
    "git diff HEAD~1 -- a",
    "git show HEAD:a",
    "git -C dir -c color.ui=never --no-pager log",
    "git diff | head -5",
  ]);
});

Deno.test("classifyCommand() knows commands that only read", () => {
  const names =
    "cat head tail wc ls pwd stat file du df which grep egrep fgrep rg find tree sort uniq " +
    "cut tr diff cmp echo printf true false basename dirname realpath readlink date uname whoami";
  for (const name of names.split(" ")) {
    check(READS, [name, `${name} a b`, `/usr/bin/${name} -x "a"`, `${name} a 2>&1 | wc -l`]);
    check(RUNS, [`${name} a > b`, `${name} a; make`, `${name} $(make)`, `x-${name} a`]);
  }
  check(READS, [
    'echo "rm -rf /"',
    "echo 'a; sudo b'",
    "echo rm",
    "echo a \\; rm b",
    'echo "a\\"; rm b"',
    "echo '$(rm a)' '`rm a`'",
    'echo "\\$(rm a) \\`rm a\\`"',
    "echo a{1,2} {}",
    "ls # ; rm a",
    "ls;",
    "ls &",
    "(ls)",
    "{ ls; }",
    "ls > /dev/null",
    "ls >/dev/null 2>&1",
    "ls &>/dev/null",
    "ls >&2",
    "ls 2>&-",
    "ls >| /dev/null",
    "cat < a",
    "cat <<EOF\nrm a\nEOF",
    "cat <<'EOF'\n$(rm a) `rm a` it's\nEOF",
    "cat <<\\EOF\n$(rm a)\nEOF",
    "cat <<EOF\n\\$(rm a)\nEOF",
    "cat <<A <<B\nrm a\nA\nrm b\nB",
    "cat <<-EOF\n\trm a\n\tEOF",
    "cat <<< 'rm a'",
    "A=1 ls",
    "echo $((1 + 2))",
    "echo $((1 << (2 - 1)))",
    "echo ${a#b} ${#a} \"${a:-it's}\" ${a:-')'}",
    "diff <(sort a) <(sort b)",
    "find . -name '*.ts' -type f",
    "find . -name a | xargs grep -l rm",
    "sort -t o -k 2 a",
    "sort -to a",
    "ls \\\n  -l",
    "grep -E 'rm|sudo' a",
    "grep '(' a",
    "cat a 2>/dev/null || echo none",
  ]);
});

Deno.test("classifyCommand() does not take a writing command for a reading one", () => {
  check(RUNS, [
    "ls > out.txt",
    "ls >> out.txt",
    "ls >| out.txt",
    "ls &> out.txt",
    "ls &>> out.txt",
    "ls >& out.txt",
    "ls 2> out.txt",
    "ls 2>out.txt -l",
    "ls {fd}> out.txt",
    "ls <> out.txt",
    "ls > /dev/null > a",
    'ls > "$X"',
    "(ls) > out.txt",
    "{ ls; } > out.txt",
    "> out.txt",
    "echo a | tee b",
    "sort -o a a",
    "sort -oa a",
    "sort -uo a a",
    "sort a --output=b",
    "sort a --out b",
    "find . -exec cat {} \\;",
    "find . -execdir cat {} +",
    "find . -ok cat {} \\;",
    "bash -c 'ls > a'",
    "bash -c ls > a",
    "A=1",
    "",
    "  \n",
    "# rm a",
    "npm test",
    "$X a",
    "$(echo rm) a",
    "eval ls",
    "rmx a",
    "xrm a",
    "rm-old a",
    "gsudox a",
    "if ls; then cat a; fi",
    "make -C rm",
    "chmod 644 a",
    "bash -c ''",
  ]);
});
