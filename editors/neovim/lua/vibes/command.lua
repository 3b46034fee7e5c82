-- The one command: `:[range]Vibes NAME ...`.

local M = {}

--- Returns the names of all that `:Vibes` does.
---@return string[]
function M.names()
  return { 'blame', 'changes', 'history', 'prompt', 'record', 'review', 'toggle' }
end

--- Runs what was typed.
---@param given table as nvim_create_user_command hands it over
function M.run(given)
  local name = table.remove(given.fargs, 1)
  if not vim.tbl_contains(M.names(), name) then
    vim.notify(
      ('vibes: there is no :Vibes %s; there are %s'):format(name, table.concat(M.names(), ', ')),
      vim.log.levels.ERROR
    )
    return
  end
  require('vibes.commands.' .. name).run(given.fargs, {
    bufnr = vim.api.nvim_get_current_buf(),
    first = given.range > 0 and given.line1 or vim.fn.line('.'),
    last = given.range > 0 and given.line2 or vim.fn.line('.'),
    is_selection = given.range > 0,
  })
end

--- Returns what may stand where the cursor is.
---@param line string
---@return string[]
function M.complete(line)
  local words = vim.split(line:gsub('^.-Vibes!?%s*', ''), '%s+')
  local offered = M.names()
  if #words > 1 then
    local found = vim.tbl_contains(offered, words[1]) and require('vibes.commands.' .. words[1])
    offered = #words == 2 and found and found.words or {}
  end
  return vim.tbl_filter(function(word)
    return vim.startswith(word, words[#words])
  end, offered)
end

return M
