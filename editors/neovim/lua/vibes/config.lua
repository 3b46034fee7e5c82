-- What the user chose: `vim.g.vibes`, or `require('vibes').setup()`; else the defaults.

local M = {}

---@class vibes.Options
---@field cmd string[] Program and arguments of the server.
---@field settings table The server's settings, as docs/server.md has them.
---@field signs boolean Whether lines have signs.
---@field sign_text table<string, string> One or two cells for each band, and for the lines below the first.
---@field line_text 'off'|'line'|'all' Text at the end of the cursor's line, of every range's first line, or none.
---@field code_lens boolean Whether lenses are shown.
---@field tool? { name: string, version: string } What `:Vibes record` says wrote it; asked for when absent.
---@field model? { name: string, version: string }
local defaults = {
  cmd = { 'vibes-lsp' },
  settings = {},
  signs = true,
  sign_text = {
    low = 'L',
    medium = 'M',
    high = 'H',
    critical = 'C',
    none = 'AI',
    more = '│',
    claimed = '¦',
    edited = '┆',
  },
  line_text = 'line',
  code_lens = false,
}

-- What each option must be.
M.kinds = {
  cmd = 'table',
  settings = 'table',
  signs = 'boolean',
  sign_text = 'table',
  line_text = 'string',
  code_lens = 'boolean',
  tool = 'table',
  model = 'table',
}

local line_texts = { 'off', 'line', 'all' }

--- Returns what is wrong with options, one sentence each.
---@param given table
---@return string[]
function M.problems(given)
  local found = {}
  for name, value in pairs(given) do
    local kind = M.kinds[name]
    if kind == nil then
      table.insert(found, ('there is no option %q'):format(tostring(name)))
    elseif type(value) ~= kind then
      table.insert(found, ('%s must be a %s, not a %s'):format(name, kind, type(value)))
    end
  end
  if type(given.line_text) == 'string' and not vim.tbl_contains(line_texts, given.line_text) then
    table.insert(found, 'line_text must be "off", "line" or "all"')
  end
  table.sort(found)
  return found
end

--- Takes options over; those that are wrong are left out and told of.
---@param given? table
function M.choose(given)
  given = given or {}
  M.given = given
  local problems = M.problems(given)
  if #problems > 0 then
    vim.notify('vibes: ' .. table.concat(problems, '; '), vim.log.levels.WARN)
  end
  local right = {}
  for name, value in pairs(given) do
    if #M.problems({ [name] = value }) == 0 then
      right[name] = value
    end
  end
  M.options = vim.tbl_deep_extend('force', defaults, right)
end

M.options = vim.deepcopy(defaults)
M.given = vim.g.vibes
if type(M.given) == 'table' then
  M.choose(M.given)
end

return M
