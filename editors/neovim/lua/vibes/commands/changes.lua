-- `:Vibes changes [REVISION]`: the AI lines of a change.

local documents = require('vibes.documents')
local server = require('vibes.server')

local M = {}

-- Returns the file and line of the code at a row of the text; nil where there is no code.
local function place_at(files, row)
  for _, file in ipairs(files) do
    for _, range in ipairs(file.ranges) do
      local line = range.lineStart + row - range.textLine
      if range.lineStart <= line and line <= range.lineEnd then
        return file, line
      end
    end
  end
end

-- Opens the code at the cursor in another window of the tab page.
local function go_to_code(files, bufnr)
  local file, line = place_at(files, vim.api.nvim_win_get_cursor(0)[1])
  local path = file and vim.uri_to_fname(file.uri)
  if not path or vim.fn.filereadable(path) == 0 then
    vim.notify('vibes: ' .. (path and 'this file is no longer there' or 'no code at the cursor'))
    return
  end
  vim.cmd.wincmd('p')
  if vim.api.nvim_get_current_buf() == bufnr then
    vim.cmd('rightbelow vertical split')
  end
  if vim.fn.bufnr(path) ~= vim.api.nvim_get_current_buf() then
    vim.cmd.edit(vim.fn.fnameescape(vim.fn.fnamemodify(path, ':.')))
  end
  vim.cmd("normal! m'")
  vim.api.nvim_win_set_cursor(0, { math.min(line, vim.api.nvim_buf_line_count(0)), 0 })
end

function M.run(words, target)
  local argument = { uri = server.uri(target.bufnr), base = words[1], show = false }
  server.run_or_notify(target.bufnr, 'vibes.changes', argument, function(changes)
    local bufnr
    local function go()
      go_to_code(changes.files, bufnr)
    end
    local lines = vim.split(vim.trim(changes.text), '\n', { plain = true })
    bufnr = documents.open_beside('VIBES changes', lines, { { '<CR>', 'Go to the code', go } })
    documents.render(0)
  end)
end

return M
