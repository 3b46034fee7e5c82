-- Status line text: verified and claimed AI share of a buffer, and the number of urgent reviews.

local provenance = require('vibes.provenance')

local M = {}

--- Returns the status line text of a buffer; empty without placements.
---@param bufnr integer 0 for the current one
---@return string
function M.text(bufnr)
  bufnr = bufnr == 0 and vim.api.nvim_get_current_buf() or bufnr
  local response = provenance.get(bufnr)
  if not response or #response.placements == 0 then
    return ''
  end
  local counts = { ai = 0, claimed = 0 }
  for _, line in ipairs(response.lines or {}) do
    counts[line.kind] = (counts[line.kind] or 0) + 1
  end
  local urgent = 0
  for _, placement in ipairs(response.placements) do
    if provenance.is_urgent(placement) then
      urgent = urgent + 1
    end
  end
  local total = math.max(1, vim.api.nvim_buf_line_count(bufnr))
  local function percent(count)
    return math.floor(100 * math.min(count, total) / total + 0.5)
  end
  local parts = { ('AI %d%%'):format(percent(counts.ai)) }
  if counts.claimed > 0 then
    table.insert(parts, ('%d%% claimed'):format(percent(counts.claimed)))
  end
  if urgent > 0 then
    table.insert(parts, ('%d to review'):format(urgent))
  end
  return table.concat(parts, ' · ')
end

return M
