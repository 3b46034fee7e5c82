-- `:Vibes changes [REVISION]`: the AI lines of a change.

local documents = require('vibes.documents')

local M = {}

-- Returns the file and line of the code at a row of a changes document; nil where there is no code.
-- Fences are followed from the top: code may look like a heading.
local function place_at(lines, row)
  local path, first, fence, fence_row
  for number = 1, row do
    local line = lines[number]
    local ticks = line:match('^(```+)')
    if fence then
      if line == fence then
        fence = nil
      end
    elseif ticks then
      fence, fence_row = ticks, number
    else
      path = line:match('^## (`+.-`+)') or path
      first = tonumber(line:match('^Lines (%d+)-%d+:$')) or line:match('^## ') and 1 or first
    end
  end
  if not path then
    return nil
  end
  local inside = fence and math.max(0, row - fence_row - 1) or 0
  return vim.trim((path:gsub('^`+', ''):gsub('`+$', ''))), (first or 1) + inside
end

-- Opens the code at the cursor in another window of the tab page.
local function go_to_code(root, bufnr)
  local lines = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  local path, line = place_at(lines, vim.api.nvim_win_get_cursor(0)[1])
  local file = path and vim.uv.fs_realpath(vim.fs.joinpath(root, path))
  local real_root = vim.uv.fs_realpath(root)
  if not file or not vim.startswith(file, real_root .. '/') then
    vim.notify('vibes: no file of this project at the cursor')
    return
  end
  vim.cmd.wincmd('p')
  if vim.api.nvim_get_current_buf() == bufnr then
    vim.cmd('rightbelow vertical split')
  end
  if vim.fn.bufnr(file) ~= vim.api.nvim_get_current_buf() then
    vim.cmd.edit(vim.fn.fnameescape(vim.fn.fnamemodify(file, ':.')))
  end
  vim.cmd("normal! m'")
  vim.api.nvim_win_set_cursor(0, { math.min(line, vim.api.nvim_buf_line_count(0)), 0 })
end

--- Opens a changes document of the server.
---@param root string folder of the project
---@param lines string[]
function M.open(root, lines)
  local bufnr
  local function go()
    go_to_code(root, bufnr)
  end
  bufnr = documents.open_beside('VIBES changes', lines, { { '<CR>', 'Go to the code', go } })
  documents.render(0)
end

function M.run(words, target)
  local server = require('vibes.server')
  local argument = { uri = server.uri(target.bufnr), base = words[1], show = true }
  server.run_or_notify(target.bufnr, 'vibes.changes', argument, function() end)
end

return M
