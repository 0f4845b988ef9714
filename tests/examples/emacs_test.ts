import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { lacksProgram, ROOT, runEditor, weirCommand } from "./_run_editor.ts";

const ignore = lacksProgram("emacs");

const PRELUDE = `
(require 'weir)
(defvar result nil)
(defun keep (key value) (push (cons key value) result))
(defun text () (with-current-buffer (weir--buffer) (buffer-string)))
(defun wait (condition)
  (let ((end (+ (float-time) 30)))
    (while (not (funcall condition))
      (when (> (float-time) end) (error "Waited in vain; the answer is: %s" (text)))
      (accept-process-output nil 0.01))))
(defun settled () (wait (lambda () (not weir--busy))))
(defun wait-for (part) (wait (lambda () (string-search part (text)))))
(defun pid () (with-temp-buffer (insert-file-contents (getenv "PID")) (string-trim (buffer-string))))
`;

/** Runs Lisp that puts something into the result. */
async function run(script: string, command = weirCommand()) {
  const list = command.map((word) => JSON.stringify(word)).join(" ");
  const { code, output, result } = await runEditor("emacs", {
    script: `;; -*- lexical-binding: t; coding: utf-8 -*-
${PRELUDE}
(setq weir-command (list ${list}))
(condition-case problem (progn ${script})
  (error (keep 'problem (error-message-string problem))))
(let ((coding-system-for-write 'utf-8-unix))
  (write-region (json-encode result) nil (getenv "RESULT")))`,
    args: (file) => [
      ...["-Q", "--batch", "-L", `${ROOT}examples/emacs`, "--eval"],
      '(set-language-environment "UTF-8")',
      ...["-l", file],
    ],
  });
  assertEquals([code, result.problem], [0, undefined], output);
  return result;
}

Deno.test({
  name: "the Emacs package sends the buffer and streams the answer into a scratch buffer",
  ignore,
  async fn() {
    const result = await run(`
      (let ((changes 0))
        (with-current-buffer (weir--buffer)
          (add-hook 'after-change-functions (lambda (&rest _) (setq changes (1+ changes))) nil t))
        (with-temp-buffer
          (insert "What is\\nin \\"kettle\\" ☕?")
          (call-interactively #'weir-ask))
        (settled)
        (keep 'changes changes))
      (keep 'text (text))
      (keep 'file (with-current-buffer (weir--buffer) (or buffer-file-name "none")))
      (with-current-buffer (find-file-noselect "README.md")
        (cl-letf (((symbol-function 'read-string) (lambda (&rest _) "And this?")))
          (let ((current-prefix-arg '(4))) (call-interactively #'weir-ask))))
      (settled)
      (keep 'second (text))
    `);
    const text = String(result.text);
    assertStringIncludes(text, '> What is\n> in "kettle" ☕?\n\n');
    assertMatch(text, /\[ls\][^]*\[read\][^]*not a language model[^]*README\.md begins: # Kettle/);
    assert(Number(result.changes) > 10, `${result.changes} changes`);
    assertEquals(result.file, "none");
    assertStringIncludes(String(result.second), "This is about the file README.md.");
  },
});

Deno.test({
  name: "the Emacs package aborts on a key and goes on",
  ignore,
  async fn() {
    const result = await run(`
      (weir-ask "What is here?")
      (wait-for "[ls]")
      (with-current-buffer "*weir*" (call-interactively (key-binding (kbd "C-c C-k"))))
      (settled)
      (keep 'aborted (text))
      (weir-ask "And now?")
      (settled)
      (keep 'text (text))
    `);
    const aborted = String(result.aborted);
    assertStringIncludes(aborted, "[aborted]");
    assert(!aborted.includes("not a language model"));
    assertStringIncludes(String(result.text).slice(aborted.length), "not a language model");
  },
});

Deno.test({
  name: "the Emacs package survives the death of the process",
  ignore,
  async fn() {
    const result = await run(`
      (weir-ask "What is here?")
      (wait-for "[ls]")
      (keep 'first (pid))
      (call-process "kill" nil nil nil "-9" (pid))
      (wait-for "weir ended with code 9")
      (keep 'busy (if weir--busy "yes" "no"))
      (weir-abort)
      (weir-ask "Again?")
      (settled)
      (keep 'second (pid))
      (keep 'text (text))
    `);
    assertEquals(result.busy, "no");
    assert(result.first !== result.second);
    assertStringIncludes(String(result.text).split("> Again?")[1]!, "not a language model");
  },
});

Deno.test({
  name: "the Emacs package says why the process cannot work",
  ignore,
  async fn() {
    const refused = await run(
      `(weir-ask "Hello?") (wait-for "weir ended") (keep 'text (text))`,
      weirCommand().filter((word) => word !== "--trust"),
    );
    assertMatch(String(refused.text), /\[weir ended with code 2: [^]*not trusted/);
    const missing = await run(
      `(keep 'text (condition-case problem (weir-ask "Hello?") (error (error-message-string problem))))`,
      ["no-such-weir"],
    );
    assertMatch(String(missing.text), /no-such-weir/);
  },
});
