-- `:Vibes blame`: who wrote each line, block by block, in a window that scrolls with the source.

local annotation = require('vibes.commands.annotation')
local documents = require('vibes.documents')
local highlights = require('vibes.highlights')
local marks = require('vibes.marks')
local provenance = require('vibes.provenance')
local text = require('vibes.text')

local M = {}

local namespace = vim.api.nvim_create_namespace('vibes.blame')
local max_width = 40
---@type table<integer, { window: integer, bufnr: integer, source: integer }> by source window
local open = {}
-- Lines align only if every line takes exactly one row.
local source_options = { scrollbind = true, wrap = false, foldenable = false }
local blame_options = {
  scrollbind = true,
  wrap = false,
  foldenable = false,
  winfixwidth = true,
}

-- Returns the texts of a block: model and age, then risk and review, then the prompt.
local function block_texts(placement)
  local age = provenance.is_present(placement.age) and ' · ' .. placement.age or ''
  local texts = { text.plain(placement.model.name, 20) .. age }
  local state = {}
  if provenance.is_present(placement.band) then
    local score = provenance.is_present(placement.score) and ('%.2f '):format(placement.score) or ''
    table.insert(state, ('risk %s%s'):format(score, placement.band))
  end
  if placement.state == 'unverified' then
    table.insert(state, 'claimed')
  end
  if provenance.is_present(placement.review) then
    local verdict = provenance.is_present(placement.review.verdict) and placement.review.verdict or 'reviewed'
    table.insert(state, placement.review.stale and 'review stale' or text.plain(verdict, 20))
  elseif placement.waits then
    table.insert(state, 'to review')
  end
  if #state > 0 then
    table.insert(texts, table.concat(state, ' · '))
  end
  if provenance.is_present(placement.prompt) then
    table.insert(texts, ('“%s”'):format(text.plain(placement.prompt, max_width - 5)))
  end
  return texts
end

-- Returns one text for each line of the source, and the placement and band that it belongs to.
local function rows_of(bufnr, width)
  local lines, owners = {}, {}
  for _ = 1, vim.api.nvim_buf_line_count(bufnr) do
    table.insert(lines, '')
  end
  local described = {}
  for _, block in ipairs(marks.blocks(bufnr)) do
    local placement = block.placement
    local texts = described[placement] and {} or block_texts(placement)
    for row = block.first, block.last do
      local is_first = row == block.first and not described[placement]
      local said = text.plain(texts[row - block.first + 1] or '', width - 3)
      lines[row + 1] = vim.trim(('%s %s'):format(is_first and marks.sign(placement) or '│', said))
      owners[row + 1] = placement
    end
    described[placement] = true
  end
  return lines, owners
end

local function paint(state)
  local widest = math.min(max_width, math.floor(vim.o.columns * 0.45))
  local lines, owners = rows_of(state.source, widest)
  documents.set_lines(state.bufnr, lines)
  vim.api.nvim_buf_clear_namespace(state.bufnr, namespace, 0, -1)
  local width = 12
  for row, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line) + 1)
    if owners[row] then
      local sign = #vim.fn.matchstr(line, '^\\S*')
      vim.api.nvim_buf_set_extmark(state.bufnr, namespace, row - 1, 0, {
        end_col = sign,
        hl_group = highlights.of(owners[row].band),
      })
    end
  end
  vim.api.nvim_win_set_width(state.window, math.min(width, widest))
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

-- Shows prompt and history of the annotation beside the cursor of the blame window.
local function show_annotation(state)
  local row = vim.api.nvim_win_get_cursor(state.window)[1] - 1
  local placement = marks.placement_at(state.source, row)
  if placement then
    require('vibes.annotation_window').open(state.source, { placement.annotationId })
  else
    annotation.notify_why(state.source)
  end
end

function M.run(_, target)
  local source = vim.api.nvim_get_current_win()
  for window, state in pairs(open) do
    if source == window or source == state.window then
      vim.api.nvim_win_close(state.window, true)
      return
    end
  end
  if not provenance.get(target.bufnr) then
    annotation.notify_why(target.bufnr)
    return
  end
  local view = vim.fn.winsaveview()
  local state = { source = target.bufnr }
  local function show()
    show_annotation(state)
  end
  state.bufnr = documents.open_beside('VIBES blame', {}, { { '<CR>', 'Show prompt and history', show } })
  state.window = vim.api.nvim_get_current_win()
  open[source] = state
  paint(state)
  set_options(state.window, blame_options)
  local has_bar = vim.wo[source].winbar ~= ''
  vim.wo[state.window].winbar = has_bar and 'VIBES blame' or ''
  vim.fn.winrestview({ topline = view.topline, lnum = view.lnum })
  vim.api.nvim_set_current_win(source)
  local before = set_options(source, source_options)
  vim.fn.winrestview(view)
  vim.cmd.syncbind()
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = state.bufnr,
    once = true,
    callback = function()
      open[source] = nil
      if vim.api.nvim_win_is_valid(source) then
        set_options(source, before)
      end
    end,
  })
end

provenance.listen(function(bufnr)
  for _, state in pairs(open) do
    if state.source == bufnr and vim.api.nvim_buf_is_valid(state.bufnr) and vim.api.nvim_buf_is_loaded(bufnr) then
      paint(state)
    end
  end
end)

return M
