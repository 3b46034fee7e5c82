-- The one command: `:[range]Vibes NAME ...`.

local M = {}

--- Returns the names of all that `:Vibes` does.
---@return string[]
function M.names()
  return { 'blame', 'changes', 'history', 'prompt', 'record', 'remap', 'review', 'session', 'toggle' }
end

--- Runs what was typed.
---@param given table as nvim_create_user_command hands it over
function M.run(given)
  local name = table.remove(given.fargs, 1)
  if not vim.tbl_contains(M.names(), name) then
    local wrong = name and ('unknown command :Vibes %s'):format(name) or 'a command is missing'
    vim.notify(('vibes: %s; expected %s'):format(wrong, table.concat(M.names(), ', ')), vim.log.levels.ERROR)
    return
  end
  require('vibes.commands.' .. name).run(given.fargs, {
    bufnr = vim.api.nvim_get_current_buf(),
    first = given.range > 0 and given.line1 or vim.fn.line('.'),
    last = given.range > 0 and given.line2 or vim.fn.line('.'),
    is_selection = given.range > 0,
  })
end

local function offered(words, lead)
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

--- Returns what may stand where the cursor is.
---@param line string up to the cursor; the command may be abbreviated
---@return string[]
function M.complete(line)
  local words = vim.split(line:gsub('^.-Vi?b?e?s?%s+', ''), '%s+')
  local lead = table.remove(words)
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, offered(words, lead))
end

return M
