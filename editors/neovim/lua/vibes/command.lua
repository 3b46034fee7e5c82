-- The user command: `:[range]Vibes NAME ...`.

local M = {}

-- Name, summary, and whether arguments are required.
local commands = {
  { 'blame', 'Show who wrote each line, in a window beside it' },
  { 'changes', "Show the AI's lines since HEAD" },
  { 'claims', 'Show claims about the line; confirm, supersede, archive' },
  { 'history', 'Show records and reviews of the line' },
  { 'next', 'Go to the next lines of an AI' },
  { 'previous', 'Go to the previous lines of an AI' },
  { 'prompt', 'Show the prompt of the line' },
  { 'propose', 'Propose a claim about the lines' },
  { 'record', 'Record that an AI wrote the lines', true },
  { 'remap', 'Record where annotations are after a rewrite of history' },
  { 'review', 'List what waits for a review or a decision' },
  { 'select', 'Select the lines of the annotation' },
  { 'session', 'Show the current session' },
  { 'show', 'Show prompt and history; approve, reject, open the commit' },
  { 'toggle', 'Hide or show all marks' },
  { 'verify', 'Show what the attestation of the trail covers' },
}

--- Returns the names of the subcommands.
---@return string[]
function M.names()
  return vim.tbl_map(function(command)
    return command[1]
  end, commands)
end

--- Runs the command.
---@param opts table arguments of an `nvim_create_user_command` callback
function M.run(opts)
  local name = table.remove(opts.fargs, 1)
  if name == nil then
    require('vibes.menu').open(commands)
    return
  end
  if not vim.tbl_contains(M.names(), name) then
    local message = 'vibes: unknown command :Vibes %s; expected %s'
    vim.notify(message:format(name, table.concat(M.names(), ', ')), vim.log.levels.ERROR)
    return
  end
  require('vibes.commands.' .. name).run(opts.fargs, {
    bufnr = vim.api.nvim_get_current_buf(),
    first = opts.range > 0 and opts.line1 or vim.fn.line('.'),
    last = opts.range > 0 and opts.line2 or vim.fn.line('.'),
    is_selection = opts.range > 0,
  })
end

local function candidates(words, lead)
  local name = table.remove(words, 1)
  if name == nil then
    return M.names()
  end
  local found = vim.tbl_contains(M.names(), name) and require('vibes.commands.' .. name) or {}
  if #words == 0 then
    return found.words or {}
  end
  return found.complete and found.complete(words, lead) or {}
end

--- Returns completion candidates at the cursor.
---@param line string up to the cursor; the command may be abbreviated
---@return string[]
function M.complete(line)
  local words = vim.split(line:gsub('^.-Vi?b?e?s?%s+', ''), '%s+')
  local lead = table.remove(words)
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, candidates(words, lead))
end

return M
