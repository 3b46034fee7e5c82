-- Signs and line-end text: extmarks of one namespace. They move with the text during edits.

local config = require('vibes.config')
local highlights = require('vibes.highlights')
local plain = require('vibes.text').plain
local provenance = require('vibes.provenance')

local M = { namespace = vim.api.nvim_create_namespace('vibes') }

---@type table<integer, { owners: table<integer, string>, firsts: table<string, integer>, text: integer[] }>
local drawn = {}

--- Returns the sign of a placement's band.
---@param placement table
---@return string
function M.sign(placement)
  local texts = config.options.sign_text
  return provenance.is_present(placement.band) and texts[placement.band] or texts.none
end

local function sign_of(placement, kind, is_first)
  local texts = config.options.sign_text
  if not is_first then
    return kind == 'ai' and texts.more or texts[kind] or texts.more
  end
  local text = M.sign(placement)
  if kind == 'claimed' then
    local first = vim.fn.strcharpart(text, 0, 1)
    return (vim.fn.strdisplaywidth(first) == 1 and first or '') .. '?'
  end
  local is_approved = not placement.waits
    and provenance.is_present(placement.review)
    and placement.review.verdict == 'approved'
  return is_approved and vim.fn.strdisplaywidth(text) == 1 and text .. '✓' or text
end

local function add_text(bufnr, row, placement)
  local id = vim.api.nvim_buf_set_extmark(bufnr, M.namespace, row, 0, {
    virt_text = { { plain(placement.lineText, 160), 'VibesText' } },
    virt_text_pos = 'eol',
    hl_mode = 'combine',
    strict = false,
  })
  table.insert(drawn[bufnr].text, id)
end

local function clear_text(bufnr)
  for _, id in ipairs(drawn[bufnr].text) do
    vim.api.nvim_buf_del_extmark(bufnr, M.namespace, id)
  end
  drawn[bufnr].text = {}
end

--- Returns the placement that owns a 0-based line of the current text.
---@param bufnr integer
---@param row integer
---@return table?
function M.owner(bufnr, row)
  local placements = drawn[bufnr] and provenance.by_id(bufnr)
  if not placements then
    return nil
  end
  local marks = vim.api.nvim_buf_get_extmarks(bufnr, M.namespace, { row, 0 }, { row, -1 }, { details = true })
  for _, mark in ipairs(marks) do
    local id = drawn[bufnr].owners[mark[1]]
    if id and not mark[4].invalid then
      return placements[id]
    end
  end
end

---@class vibes.Block
---@field first integer 0-based.
---@field last integer 0-based, inclusive.
---@field placement table

--- Returns the blocks of consecutive lines that one placement owns, in the order of the current text.
---@param bufnr integer
---@return vibes.Block[]
function M.blocks(bufnr)
  local placements, blocks = provenance.by_id(bufnr), {}
  local owners = drawn[bufnr] and drawn[bufnr].owners or {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(bufnr, M.namespace, 0, -1, { details = true })) do
    local placement = owners[mark[1]] and placements[owners[mark[1]]]
    local block, row = blocks[#blocks], mark[2]
    if placement and not mark[4].invalid then
      if block and block.placement == placement and row <= block.last + 1 then
        block.last = row
      else
        table.insert(blocks, { first = row, last = row, placement = placement })
      end
    end
  end
  return blocks
end

--- Returns the placements on a 0-based line: the owner first, then others whose range encloses it.
---@param bufnr integer
---@param row integer
---@return table[]
function M.placements_at(bufnr, row)
  local owner = M.owner(bufnr, row)
  local found = { owner }
  if not provenance.is_fresh(bufnr) then
    return found -- the ranges are for another text
  end
  for _, placement in ipairs(provenance.get(bufnr).placements) do
    local range = placement.range
    if placement ~= owner and provenance.is_present(range) and range.start.line <= row and row < range['end'].line then
      table.insert(found, placement)
    end
  end
  return found
end

--- Returns the placement that owns a 0-based line, else one whose range encloses it.
---@param bufnr integer
---@param row integer
---@return table?
function M.placement_at(bufnr, row)
  return M.placements_at(bufnr, row)[1]
end

--- Redraws the text at line ends, after cursor moves or new placements.
---@param bufnr integer
function M.draw_text(bufnr)
  if not drawn[bufnr] then
    return
  end
  clear_text(bufnr)
  local mode = M.is_hidden and 'off' or config.options.line_text
  if mode == 'line' and bufnr == vim.api.nvim_get_current_buf() then
    local row = vim.api.nvim_win_get_cursor(0)[1] - 1
    local owner = M.owner(bufnr, row)
    if owner then
      add_text(bufnr, row, owner)
    end
  elseif mode == 'all' then
    local placements = provenance.by_id(bufnr)
    for id, mark in pairs(drawn[bufnr].firsts) do
      local position = vim.api.nvim_buf_get_extmark_by_id(bufnr, M.namespace, mark, {})
      if position[1] and placements[id] then
        add_text(bufnr, position[1], placements[id])
      end
    end
  end
end

--- Redraws all marks of a buffer from its placements.
---@param bufnr integer
function M.draw(bufnr)
  if not vim.api.nvim_buf_is_loaded(bufnr) then
    drawn[bufnr] = nil
    return
  end
  vim.api.nvim_buf_clear_namespace(bufnr, M.namespace, 0, -1)
  drawn[bufnr] = { owners = {}, firsts = {}, text = {} }
  local placements = provenance.by_id(bufnr)
  local has_signs = config.options.signs and not M.is_hidden
  for _, line in ipairs((provenance.get(bufnr) or {}).lines or {}) do
    local placement = placements[line.annotationId]
    if placement then
      local is_first = drawn[bufnr].firsts[line.annotationId] == nil
      local id = vim.api.nvim_buf_set_extmark(bufnr, M.namespace, line.line - 1, 0, {
        sign_text = has_signs and sign_of(placement, line.kind, is_first) or nil,
        sign_hl_group = has_signs and highlights.of(placement.band) or nil,
        priority = provenance.is_urgent(placement) and 11 or 9,
        invalidate = true,
        undo_restore = false,
        strict = false,
      })
      drawn[bufnr].owners[id] = line.annotationId
      if is_first then
        drawn[bufnr].firsts[line.annotationId] = id
      end
    end
  end
  M.draw_text(bufnr)
end

--- Redraws every buffer with marks, after a change of options.
function M.draw_all()
  for bufnr in pairs(drawn) do
    M.draw(bufnr)
  end
  vim.cmd.redrawstatus({ bang = true })
end

--- Redraws line-end text on cursor moves in an attached buffer.
---@param bufnr integer
function M.attach(bufnr)
  vim.api.nvim_create_autocmd({ 'CursorMoved', 'CursorMovedI', 'BufEnter' }, {
    group = vim.api.nvim_create_augroup('vibes.marks.' .. bufnr, {}),
    buffer = bufnr,
    callback = function()
      if config.options.line_text == 'line' then
        M.draw_text(bufnr)
      end
    end,
  })
end

provenance.listen(M.draw)

return M
