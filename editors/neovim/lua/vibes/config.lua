-- The options: `vim.g.vibes` or `require('vibes').setup()`, else the defaults.

local M = {}

---@class vibes.Options
---@field cmd string[] Program and arguments of the server.
---@field settings table Settings of the server; see docs/server.md.
---@field signs boolean Whether to show signs.
---@field sign_text table<string, string> Texts of one or two cells; see `:help vibes-option-sign_text`.
---@field line_text 'off'|'line'|'all' Text at line ends: none, the cursor's line, or the first line of every range.
---@field code_lens boolean Whether to show lenses.
---@field on_attach? fun(bufnr: integer) Called when the server is attached to a buffer, to set mappings.
---@field tool? { name: string, version: string } Tool for `:Vibes record`; default: ask.
---@field model? { name: string, version: string } Model for `:Vibes record`; default: ask.
local defaults = {
  cmd = { 'vibes-lsp' },
  settings = {},
  signs = true,
  sign_text = {
    low = '○',
    medium = '△',
    high = '◆',
    critical = '■',
    none = 'AI',
    more = '│',
    claimed = '¦',
    edited = '┆',
  },
  line_text = 'line',
  code_lens = false,
}

-- Type of each option.
M.types = {
  cmd = 'table',
  settings = 'table',
  signs = 'boolean',
  sign_text = 'table',
  line_text = 'string',
  code_lens = 'boolean',
  on_attach = 'function',
  tool = 'table',
  model = 'table',
}

local line_texts = { 'off', 'line', 'all' }

--- Returns the errors in options, one message each.
---@param given unknown
---@return string[]
function M.problems(given)
  if type(given) ~= 'table' then
    return { ('options must be a table, not a %s'):format(type(given)) }
  end
  local found = {}
  for name, value in pairs(given) do
    local expected = M.types[name]
    if expected == nil then
      table.insert(found, ('unknown option %q'):format(tostring(name)))
    elseif type(value) ~= expected then
      table.insert(found, ('%s must be a %s, not a %s'):format(name, expected, type(value)))
    end
  end
  if type(given.line_text) == 'string' and not vim.tbl_contains(line_texts, given.line_text) then
    table.insert(found, 'line_text must be "off", "line" or "all"')
  end
  table.sort(found)
  return found
end

--- Sets options. Invalid ones are ignored with a warning.
---@param given? unknown
function M.set(given)
  if given == nil then
    given = {}
  end
  M.given = given
  local problems = M.problems(given)
  if #problems > 0 then
    vim.notify('vibes: ' .. table.concat(problems, '; '), vim.log.levels.WARN)
  end
  local valid = {}
  for name, value in pairs(type(given) == 'table' and given or {}) do
    if #M.problems({ [name] = value }) == 0 then
      valid[name] = value
    end
  end
  M.options = vim.tbl_deep_extend('force', defaults, valid)
end

M.options = vim.deepcopy(defaults)
M.given = vim.g.vibes
if M.given ~= nil then
  M.set(M.given)
end

return M
