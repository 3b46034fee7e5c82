-- The user command: `:[range]Vibes NAME ...`.

local M = {}

--- Returns the names of the subcommands.
---@return string[]
function M.names()
  return { 'blame', 'changes', 'history', 'prompt', 'record', 'remap', 'review', 'session', 'toggle' }
end

--- Runs the command.
---@param opts table arguments of an `nvim_create_user_command` callback
function M.run(opts)
  local name = table.remove(opts.fargs, 1)
  if not vim.tbl_contains(M.names(), name) then
    local wrong = name and ('unknown command :Vibes %s'):format(name) or 'a command is missing'
    vim.notify(('vibes: %s; expected %s'):format(wrong, table.concat(M.names(), ', ')), vim.log.levels.ERROR)
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
