-- Weir in Neovim (0.7 or newer). Put the folder above `lua` on the runtimepath, then:
--
--   require("weir").setup({ command = { "weir", "--mode", "rpc" } })
--
-- :WeirAsk            asks what stands in the current buffer
-- :WeirAsk {question} asks this about the current buffer's file
-- :WeirAbort          ends the running turn; <C-c> in the window with the answer does the same
--
-- The answer streams into a scratch buffer. The process is started by the first question and again after it has died.
local M = {}

local config = { command = { "weir", "--mode", "rpc" }, abort_key = "<C-c>" }
local job -- channel of the running process, nil when there is none
local busy = false -- from a question until nothing runs any more
local partial = "" -- the beginning of a line whose end has not come yet
local complaints = {} -- what the process said on stderr
local answer -- the scratch buffer

local function answer_buffer()
  if answer and vim.api.nvim_buf_is_valid(answer) then return answer end
  answer = vim.api.nvim_create_buf(true, true)
  vim.api.nvim_buf_set_name(answer, "weir://answer-" .. answer)
  vim.api.nvim_buf_set_option(answer, "filetype", "markdown")
  vim.keymap.set("n", config.abort_key, M.abort, { buffer = answer, desc = "Abort Weir's turn" })
  return answer
end

local function append(text)
  local buffer = answer_buffer()
  local last = vim.api.nvim_buf_line_count(buffer)
  local column = #vim.api.nvim_buf_get_lines(buffer, last - 1, last, true)[1]
  vim.api.nvim_buf_set_text(buffer, last - 1, column, last - 1, column, vim.split(text, "\n", { plain = true }))
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(buffer), 0 })
  end
end

-- A line of its own for what is no part of the answer.
local function note(text)
  append("\n[" .. text:gsub("%s+$", "") .. "]\n")
end

local handlers = {
  message_delta = function(event) append(event.delta) end,
  assistant = function(event)
    for _, call in ipairs(event.tool_calls or {}) do note(call.name) end
  end,
  not_run = function(event) note("not run: " .. event.reason) end,
  error = function(event) note("error: " .. event.message) end,
  turn_end = function(event)
    if event.aborted then note("aborted") end
  end,
  agent_settled = function() busy = false end,
  response = function(event)
    if event.success then return end
    busy = event.command ~= "prompt" and busy
    note(event.command .. " failed: " .. tostring(event.error))
  end,
}

local function receive(line)
  local ok, event = pcall(vim.json.decode, line)
  if not ok or type(event) ~= "table" then return end
  local handler = handlers[event.type]
  if handler then handler(event) end
end

-- `data` is what came, split at line feeds: its first piece goes on with the last one of before.
local function on_stdout(channel, data)
  if channel ~= job then return end
  data[1] = partial .. data[1]
  partial = table.remove(data)
  for _, line in ipairs(data) do receive(line) end
end

local function on_exit(channel, code)
  if channel ~= job then return end
  job, busy, partial = nil, false, ""
  note("weir ended with code " .. code .. ": " .. table.concat(complaints, "\n"))
end

local function send(command)
  return job and pcall(vim.fn.chansend, job, vim.json.encode(command) .. "\n")
end

local function start()
  if job then return true end
  complaints = {}
  local command = vim.list_extend(vim.deepcopy(config.command), { vim.fn.getcwd() })
  local ok, channel = pcall(vim.fn.jobstart, command, {
    on_stdout = on_stdout,
    on_stderr = function(_, data)
      vim.list_extend(complaints, vim.tbl_filter(function(line) return line ~= "" end, data))
    end,
    on_exit = on_exit,
  })
  if not ok or channel <= 0 then
    note("cannot start " .. command[1] .. ", is it on PATH?")
    return false
  end
  job = channel
  send({ type = "set_event_detail", detail = "full" })
  return true
end

-- Sends a question; while a turn runs it waits for its own turn.
function M.ask(question)
  if not question:match("%S") then return vim.notify("Weir: there is no question", vim.log.levels.WARN) end
  local buffer = answer_buffer()
  if #vim.fn.win_findbuf(buffer) == 0 then vim.cmd("sbuffer " .. buffer .. " | wincmd p") end
  append("\n> " .. question:gsub("\n", "\n> ") .. "\n\n")
  if not start() then return end
  send({ type = busy and "follow_up" or "prompt", message = question })
  busy = true
end

function M.abort()
  if busy then send({ type = "abort" }) end
end

function M.is_busy()
  return busy
end

function M.setup(options)
  config = vim.tbl_extend("force", config, options or {})
  vim.api.nvim_create_user_command("WeirAsk", function(command)
    local question = command.args
    if question == "" then
      question = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\n")
    elseif vim.fn.expand("%") ~= "" then
      question = question .. "\n\nThis is about the file " .. vim.fn.expand("%:.") .. "."
    end
    M.ask(question)
  end, { nargs = "*", desc = "Ask Weir" })
  vim.api.nvim_create_user_command("WeirAbort", M.abort, { desc = "Abort Weir's turn" })
end

return M
