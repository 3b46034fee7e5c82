-- Who wrote each line, in a window beside it that scrolls along.

local annotation = require('vibes.commands.annotation')
local documents = require('vibes.documents')
local marks = require('vibes.marks')
local plain = require('vibes.text').plain
local provenance = require('vibes.provenance')

local M = {}

local width = 36
local beside = {} -- the windows that are open, by those that they stand beside
-- Each line stands beside its own only where every line takes one row.
local source_options = { scrollbind = true, wrap = false, foldenable = false }
local own_options = {
  scrollbind = true,
  wrap = false,
  foldenable = false,
  number = false,
  relativenumber = false,
  signcolumn = 'no',
  winfixwidth = true,
}

local function said(placement)
  local band = provenance.is(placement.band) and placement.band or ''
  return plain(('%s %s'):format(plain(placement.model.name, width - 10), band), width)
end

-- Sets options of a window; returns what they were.
local function set(window, options)
  local before = {}
  for option, value in pairs(options) do
    before[option] = vim.api.nvim_get_option_value(option, { scope = 'local', win = window })
    vim.api.nvim_set_option_value(option, value, { scope = 'local', win = window })
  end
  return before
end

function M.run(_, place)
  local source = vim.api.nvim_get_current_win()
  if beside[source] then
    vim.api.nvim_win_close(beside[source], true)
    return
  end
  if not provenance.of(place.bufnr) then
    annotation.at(place) -- says why
    return
  end
  local lines = {}
  for row = 0, vim.api.nvim_buf_line_count(place.bufnr) - 1 do
    local owner = marks.owner(place.bufnr, row)
    table.insert(lines, owner and said(owner) or '')
  end
  local view = vim.fn.winsaveview()
  local shown = documents.beside('VIBES blame', lines)
  local window = vim.api.nvim_get_current_win()
  beside[source] = window
  vim.api.nvim_win_set_width(window, width)
  set(window, own_options)
  local has_bar = vim.wo[source].winbar ~= ''
  vim.wo[window].winbar = has_bar and 'VIBES blame' or ''
  vim.fn.winrestview({ topline = view.topline, lnum = view.lnum })
  vim.api.nvim_set_current_win(source)
  local before = set(source, source_options)
  vim.fn.winrestview(view)
  vim.cmd.syncbind()
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = shown,
    once = true,
    callback = function()
      beside[source] = nil
      if vim.api.nvim_win_is_valid(source) then
        set(source, before)
      end
    end,
  })
end

return M
