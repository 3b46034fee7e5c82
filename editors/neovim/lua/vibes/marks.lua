-- Signs, and text at line ends: extmarks of one namespace, which move with the text as it is edited.

local config = require('vibes.config')
local highlights = require('vibes.highlights')
local plain = require('vibes.text').plain
local provenance = require('vibes.provenance')

local M = { namespace = vim.api.nvim_create_namespace('vibes') }

---@type table<integer, { owners: table<integer, string>, firsts: table<string, integer>, text: integer[] }>
local painted = {}

local function sign_of(placement, kind, is_first)
  local texts = config.options.sign_text
  local band = provenance.is(placement.band) and placement.band or 'none'
  if not is_first then
    return kind == 'ai' and texts.more or texts[kind] or texts.more
  end
  local text = texts[band] or texts.none
  if kind == 'claimed' then
    return vim.fn.strcharpart(text, 0, 1) .. '?'
  end
  local is_approved = not placement.waits and provenance.is(placement.review) and placement.review.verdict == 'approved'
  return is_approved and vim.fn.strdisplaywidth(text) == 1 and text .. '✓' or text
end

local function write(bufnr, row, placement)
  local id = vim.api.nvim_buf_set_extmark(bufnr, M.namespace, row, 0, {
    virt_text = { { plain(placement.lineText, 160), 'VibesText' } },
    virt_text_pos = 'eol',
    hl_mode = 'combine',
    strict = false,
  })
  table.insert(painted[bufnr].text, id)
end

local function unwrite(bufnr)
  for _, id in ipairs(painted[bufnr].text) do
    vim.api.nvim_buf_del_extmark(bufnr, M.namespace, id)
  end
  painted[bufnr].text = {}
end

--- Returns the annotation that a 0-based line belongs to, as the text is now.
---@param bufnr integer
---@param row integer
---@return table?
function M.owner(bufnr, row)
  local known = painted[bufnr] and provenance.by_id(bufnr)
  if not known then
    return nil
  end
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(bufnr, M.namespace, { row, 0 }, { row, -1 }, {})) do
    local id = painted[bufnr].owners[mark[1]]
    if id then
      return known[id]
    end
  end
end

--- Returns what a 0-based line belongs to, else a function or an earlier edit that it lies in.
---@param bufnr integer
---@param row integer
---@return table?
function M.at(bufnr, row)
  local owner = M.owner(bufnr, row)
  if owner or not provenance.is_fresh(bufnr) then
    return owner
  end
  for _, placement in ipairs(provenance.of(bufnr).placements) do
    local range = placement.range
    if provenance.is(range) and range.start.line <= row and row < range['end'].line then
      return placement
    end
  end
end

--- Redraws the text at line ends: the cursor moved, or placements changed.
---@param bufnr integer
function M.follow(bufnr)
  if not painted[bufnr] then
    return
  end
  unwrite(bufnr)
  local mode = M.is_hidden and 'off' or config.options.line_text
  if mode == 'line' and bufnr == vim.api.nvim_get_current_buf() then
    local row = vim.api.nvim_win_get_cursor(0)[1] - 1
    local owner = M.owner(bufnr, row)
    if owner then
      write(bufnr, row, owner)
    end
  elseif mode == 'all' then
    local known = provenance.by_id(bufnr)
    for id, mark in pairs(painted[bufnr].firsts) do
      local place = vim.api.nvim_buf_get_extmark_by_id(bufnr, M.namespace, mark, {})
      if place[1] and known[id] then
        write(bufnr, place[1], known[id])
      end
    end
  end
end

--- Redraws a buffer from its placements; without any, all marks are removed.
---@param bufnr integer
function M.paint(bufnr)
  if not vim.api.nvim_buf_is_loaded(bufnr) then
    painted[bufnr] = nil
    return
  end
  vim.api.nvim_buf_clear_namespace(bufnr, M.namespace, 0, -1)
  painted[bufnr] = { owners = {}, firsts = {}, text = {} }
  local known = provenance.by_id(bufnr)
  local has_signs = config.options.signs and not M.is_hidden
  for _, line in ipairs((provenance.of(bufnr) or {}).lines or {}) do
    local placement = known[line.annotationId]
    if placement and line.kind ~= 'human' then
      local is_first = painted[bufnr].firsts[line.annotationId] == nil
      local id = vim.api.nvim_buf_set_extmark(bufnr, M.namespace, line.line - 1, 0, {
        sign_text = has_signs and sign_of(placement, line.kind, is_first) or nil,
        sign_hl_group = has_signs and highlights.of(placement.band) or nil,
        priority = provenance.is_pressing(placement) and 11 or 9,
        invalidate = true,
        undo_restore = false,
        strict = false,
      })
      painted[bufnr].owners[id] = line.annotationId
      if is_first then
        painted[bufnr].firsts[line.annotationId] = id
      end
    end
  end
  M.follow(bufnr)
end

--- Paints every buffer that has marks: something was switched.
function M.paint_all()
  for bufnr in pairs(painted) do
    M.paint(bufnr)
  end
  vim.cmd.redrawstatus({ bang = true })
end

--- Follows the cursor in a buffer that the server is attached to.
---@param bufnr integer
function M.attach(bufnr)
  vim.api.nvim_create_autocmd({ 'CursorMoved', 'CursorMovedI', 'BufEnter' }, {
    group = vim.api.nvim_create_augroup('vibes.marks.' .. bufnr, {}),
    buffer = bufnr,
    callback = function()
      if config.options.line_text == 'line' then
        M.follow(bufnr)
      end
    end,
  })
end

provenance.listen(function(bufnr)
  M.paint(bufnr)
  vim.cmd.redrawstatus({ bang = true })
end)

return M
