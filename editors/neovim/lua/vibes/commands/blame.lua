-- Who wrote each line, in a window beside it that scrolls along.

local marks = require('vibes.marks')
local plain = require('vibes.text').plain

local M = {}

local width = 36

local function said(placement)
  local band = placement.band ~= vim.NIL and placement.band or ''
  return plain(('%s %s'):format(plain(placement.model.name, width - 10), band), width)
end

function M.run(_, place)
  local lines = {}
  for row = 0, vim.api.nvim_buf_line_count(place.bufnr) - 1 do
    local owner = marks.owner(place.bufnr, row)
    table.insert(lines, owner and said(owner) or '')
  end
  local source = vim.api.nvim_get_current_win()
  local top = vim.fn.line('w0')
  local shown = require('vibes.documents').beside('VIBES blame', table.concat(lines, '\n'))
  local window = vim.api.nvim_get_current_win()
  vim.api.nvim_win_set_width(window, width)
  for option, value in pairs({
    wrap = false,
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    winfixwidth = true,
  }) do
    vim.api.nvim_set_option_value(option, value, { scope = 'local', win = window })
  end
  vim.wo[window].scrollbind, vim.wo[source].scrollbind = true, true
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = shown,
    once = true,
    callback = function()
      if vim.api.nvim_win_is_valid(source) then
        vim.wo[source].scrollbind = false
      end
    end,
  })
  vim.fn.winrestview({ topline = top, lnum = place.first })
  vim.cmd.syncbind()
  vim.api.nvim_set_current_win(source)
end

return M
