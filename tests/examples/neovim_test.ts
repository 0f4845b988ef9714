import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { lacksProgram, ROOT, runEditor, weirCommand } from "./_run_editor.ts";

const ignore = lacksProgram("nvim");

const PRELUDE = `
local weir = require("weir")
local result = {}
local function answer()
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_get_name(buffer):match("weir://answer") then return buffer end
  end
end
local function text()
  return answer() and table.concat(vim.api.nvim_buf_get_lines(answer(), 0, -1, true), "\\n") or ""
end
local function wait(condition)
  if not vim.wait(30000, condition, 5) then error("waited in vain; the answer is: " .. text()) end
end
local function settled() wait(function() return not weir.is_busy() end) end
local function contains(part) return function() return text():find(part, 1, true) ~= nil end end
local function pid() return vim.fn.readfile(vim.env.PID)[1] end
`;

/** Runs Lua that fills \`result\`. */
async function run(script: string, command = weirCommand()) {
  const list = command.map((word) => `[==[${word}]==]`).join(", ");
  const { code, output, result } = await runEditor("nvim", {
    script: `${PRELUDE}
local ok, problem = pcall(function()
  weir.setup({ command = { ${list} } })
  ${script}
end)
result.problem = not ok and tostring(problem) or nil
vim.fn.writefile({ vim.json.encode(result) }, vim.env.RESULT)
vim.cmd("qall!")`,
    args: (file) => [
      ...["--headless", "-u", "NONE", "-i", "NONE", "--cmd", `set rtp+=${ROOT}examples/neovim`],
      ...["-c", `luafile ${file}`],
    ],
  });
  assertEquals([code, result.problem], [0, undefined], output);
  return result;
}

Deno.test({
  name: "the Neovim plugin sends the buffer and streams the answer into a scratch buffer",
  ignore,
  async fn() {
    const result = await run(`
      vim.api.nvim_buf_set_lines(0, 0, -1, true, { "What is", "in \\"kettle\\" ☕?" })
      vim.cmd("WeirAsk")
      result.source = vim.api.nvim_get_current_buf() ~= answer()
      result.changes = 0
      vim.api.nvim_buf_attach(answer(), false, { on_lines = function() result.changes = result.changes + 1 end })
      settled()
      result.text = text()
      result.kind = vim.bo[answer()].buftype
      vim.cmd("edit README.md | WeirAsk And this?")
      settled()
      result.second = text()
    `);
    const text = String(result.text);
    assertStringIncludes(text, '> What is\n> in "kettle" ☕?\n\n');
    assertMatch(text, /\[ls\][^]*\[read\][^]*not a language model[^]*README\.md begins: # Kettle/);
    assert(Number(result.changes) > 10, `${result.changes} changes`);
    assertEquals([result.source, result.kind], [true, "nofile"]);
    assertStringIncludes(String(result.second), "This is about the file README.md.");
  },
});

Deno.test({
  name: "the Neovim plugin aborts on a key and goes on",
  ignore,
  async fn() {
    const result = await run(`
      weir.ask("What is here?")
      wait(contains("[ls]"))
      vim.api.nvim_set_current_win(vim.fn.win_findbuf(answer())[1])
      vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes("<C-c>", true, false, true), "mx", false)
      settled()
      result.aborted = text()
      weir.ask("And now?")
      settled()
      result.text = text():sub(#result.aborted)
    `);
    assertStringIncludes(String(result.aborted), "[aborted]");
    assert(!String(result.aborted).includes("not a language model"));
    assertStringIncludes(String(result.text), "not a language model");
  },
});

Deno.test({
  name: "the Neovim plugin survives the death of the process",
  ignore,
  async fn() {
    const result = await run(`
      weir.ask("What is here?")
      wait(contains("[ls]"))
      result.first = pid()
      vim.fn.system({ "kill", "-9", result.first })
      wait(contains("weir ended with code 137"))
      result.busy = weir.is_busy()
      weir.abort()
      weir.ask("Again?")
      settled()
      result.second = pid()
      result.text = text()
    `);
    assertEquals(result.busy, false);
    assert(result.first !== result.second);
    assertStringIncludes(String(result.text).split("> Again?")[1]!, "not a language model");
  },
});

Deno.test({
  name: "the Neovim plugin says why the process cannot work",
  ignore,
  async fn() {
    const refused = await run(
      `
      weir.ask("Hello?")
      wait(contains("weir ended"))
      result.text = text()
    `,
      weirCommand().filter((word) => word !== "--trust"),
    );
    assertMatch(String(refused.text), /\[weir ended with code 2: .*not trusted/);
    const missing = await run('weir.ask("Hello?") result.text = text()', ["no-such-weir"]);
    assertStringIncludes(String(missing.text), "[cannot start no-such-weir, is it on PATH?]");
  },
});
