-- Moves the cursor between blocks of lines of an AI.

local annotation = require('vibes.commands.annotation')
local marks = require('vibes.marks')
local provenance = require('vibes.provenance')

local M = {}

local function wanted(blocks, only_waiting)
  return vim.tbl_filter(function(block)
    return not only_waiting or block.placement.waits
  end, blocks)
end

-- Returns the index of the block to go to; nil if there is none and 'wrapscan' is off.
local function target_index(blocks, row, step, count)
  local index
  for number, block in ipairs(blocks) do
    if step > 0 and block.first > row then
      index = number
      break
    elseif step < 0 and block.first < row then
      index = number
    end
  end
  index = index or (step > 0 and #blocks + 1 or 0)
  index = index + step * (count - 1)
  if index >= 1 and index <= #blocks then
    return index
  end
  return vim.o.wrapscan and (index - 1) % #blocks + 1 or nil
end

--- Moves to the next or previous block, `v:count` times.
---@param bufnr integer
---@param step 1|-1
---@param only_waiting boolean whether to stop only where a review waits
function M.move(bufnr, step, only_waiting)
  if not provenance.get(bufnr) then
    annotation.notify_why(bufnr)
    return
  end
  local blocks = wanted(marks.blocks(bufnr), only_waiting)
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local index = #blocks > 0 and target_index(blocks, row, step, vim.v.count1)
  if not index then
    local what = only_waiting and 'review' or 'AI lines'
    local which = #blocks == 0 and 'no %s in this file' or step > 0 and 'no %s below' or 'no %s above'
    vim.notify('vibes: ' .. which:format(what))
    return
  end
  vim.cmd("normal! m'")
  vim.api.nvim_win_set_cursor(0, { blocks[index].first + 1, 0 })
  vim.cmd('normal! ^')
  if vim.o.foldopen:find('search') then
    vim.cmd('silent! foldopen!')
  end
  vim.api.nvim_echo({ { ('vibes: %d of %d'):format(index, #blocks) } }, false, {})
end

--- Selects the block at the cursor linewise, also as a text object.
---@param bufnr integer
function M.select(bufnr)
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  for _, block in ipairs(marks.blocks(bufnr)) do
    if block.first <= row and row <= block.last then
      if vim.fn.mode():find('[vV\22]') then
        vim.cmd('normal! \27')
      end
      vim.api.nvim_win_set_cursor(0, { block.first + 1, 0 })
      vim.cmd('normal! V')
      vim.api.nvim_win_set_cursor(0, { block.last + 1, 0 })
      return
    end
  end
  annotation.notify_why(bufnr)
end

return M
