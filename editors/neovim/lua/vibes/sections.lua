-- A floating window with sections, one for each annotation or claim. Its keys act on the section at the cursor.

local documents = require('vibes.documents')
local provenance = require('vibes.provenance')

local M = {}

local namespace = vim.api.nvim_create_namespace('vibes.sections')
local separator = { '', '---', '' }

---@class vibes.Section
---@field lines string[]
---@field value any What the keys act on.
---@field groups? table<integer, string> Highlight groups of lines, by their number in the section.

---@class vibes.SectionsWindow
---@field window integer
---@field title string
---@field footer string
---@field values table<integer, any> Value of a section, by the row at which it starts.

---@class vibes.SectionKey
---@field [1] string Key.
---@field [2] string What it does.
---@field [3] fun(value: any, view: vibes.SectionsWindow)

local function flatten(sections)
  local lines, values, groups = {}, {}, {}
  for number, section in ipairs(sections) do
    if number > 1 then
      vim.list_extend(lines, separator)
    end
    values[#lines + 1] = section.value
    for line, group in pairs(section.groups or {}) do
      groups[#lines + line] = group
    end
    vim.list_extend(lines, section.lines)
  end
  return lines, values, groups
end

local function highlight(window, groups)
  local bufnr = vim.api.nvim_win_get_buf(window)
  for row, group in pairs(groups) do
    vim.api.nvim_buf_set_extmark(bufnr, namespace, row - 1, 0, { end_row = row, hl_group = group, strict = false })
  end
end

local function value_at_cursor(view)
  local row = vim.api.nvim_win_get_cursor(view.window)[1]
  while row > 1 and view.values[row] == nil do
    row = row - 1
  end
  return view.values[row]
end

--- Replaces the sections, if the window is still open.
---@param view vibes.SectionsWindow
---@param sections vibes.Section[]
function M.refill(view, sections)
  if vim.api.nvim_win_is_valid(view.window) then
    local lines, values, groups = flatten(sections)
    view.values = values
    documents.refill_float(view.window, view.title, lines, view.footer)
    highlight(view.window, groups)
  end
end

--- Opens sections in a window and enters it. `q` and Escape close it, `?` lists the keys.
---@param title string
---@param footer string
---@param sections vibes.Section[]
---@param keys vibes.SectionKey[]
---@return vibes.SectionsWindow
function M.open(title, footer, sections, keys)
  local lines, values, groups = flatten(sections)
  local bufnr, window = documents.float(title, lines, footer)
  highlight(window, groups)
  local view = { window = window, title = title, footer = footer, values = values }
  local mapped = vim.tbl_map(function(key)
    return {
      key[1],
      key[2],
      function()
        key[3](value_at_cursor(view), view)
      end,
    }
  end, keys)
  local function close()
    documents.close_float(window)
  end
  table.insert(mapped, { 'q', 'Close', close })
  documents.map_keys(bufnr, mapped)
  return view
end

--- Closes the window and goes to a line of a file, in a window that shows it if there is one.
---@param view vibes.SectionsWindow
---@param bufnr integer
---@param line? integer 1-based; without it the user reads that the lines were not found
---@param what string what the lines belong to
function M.go_to(view, bufnr, line, what)
  if not provenance.is_present(line) then
    vim.notify(('vibes: the lines of this %s were not found'):format(what))
    return
  end
  documents.close_float(view.window)
  local windows = vim.fn.win_findbuf(bufnr)
  if windows[1] then
    vim.api.nvim_set_current_win(windows[1])
  else
    vim.cmd.sbuffer(bufnr)
  end
  vim.cmd("normal! m'")
  vim.api.nvim_win_set_cursor(0, { math.min(line, vim.api.nvim_buf_line_count(bufnr)), 0 })
end

return M
