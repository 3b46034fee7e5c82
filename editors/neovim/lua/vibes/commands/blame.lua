-- `:Vibes blame`: the author of each line, in a window that scrolls with the source.

local annotation = require('vibes.commands.annotation')
local documents = require('vibes.documents')
local marks = require('vibes.marks')
local plain = require('vibes.text').plain
local provenance = require('vibes.provenance')

local M = {}

local width = 36
local blame_windows = {} -- blame window by source window
-- Lines align only if every line takes exactly one row.
local source_options = { scrollbind = true, wrap = false, foldenable = false }
local blame_options = {
  scrollbind = true,
  wrap = false,
  foldenable = false,
  number = false,
  relativenumber = false,
  signcolumn = 'no',
  winfixwidth = true,
}

local function author_text(placement)
  local band = provenance.is_present(placement.band) and placement.band or ''
  return plain(('%s %s'):format(plain(placement.model.name, width - 10), band), width)
end

-- Sets window options; returns their previous values.
local function set_options(window, options)
  local before = {}
  for option, value in pairs(options) do
    before[option] = vim.api.nvim_get_option_value(option, { scope = 'local', win = window })
    vim.api.nvim_set_option_value(option, value, { scope = 'local', win = window })
  end
  return before
end

function M.run(_, target)
  local source = vim.api.nvim_get_current_win()
  if blame_windows[source] then
    vim.api.nvim_win_close(blame_windows[source], true)
    return
  end
  if not provenance.get(target.bufnr) then
    annotation.placement_at(target) -- shows the reason
    return
  end
  local lines = {}
  for row = 0, vim.api.nvim_buf_line_count(target.bufnr) - 1 do
    local owner = marks.owner(target.bufnr, row)
    table.insert(lines, owner and author_text(owner) or '')
  end
  local view = vim.fn.winsaveview()
  local shown = documents.open_beside('VIBES blame', lines)
  local window = vim.api.nvim_get_current_win()
  blame_windows[source] = window
  vim.api.nvim_win_set_width(window, width)
  set_options(window, blame_options)
  local has_bar = vim.wo[source].winbar ~= ''
  vim.wo[window].winbar = has_bar and 'VIBES blame' or ''
  vim.fn.winrestview({ topline = view.topline, lnum = view.lnum })
  vim.api.nvim_set_current_win(source)
  local before = set_options(source, source_options)
  vim.fn.winrestview(view)
  vim.cmd.syncbind()
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = shown,
    once = true,
    callback = function()
      blame_windows[source] = nil
      if vim.api.nvim_win_is_valid(source) then
        set_options(source, before)
      end
    end,
  })
end

return M
