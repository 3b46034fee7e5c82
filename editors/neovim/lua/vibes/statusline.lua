-- The verified share of the AI in a buffer, what is only claimed, and how much of its risk nobody has reviewed.

local provenance = require('vibes.provenance')

local M = {}

--- Returns what a status line says of a buffer; nothing where there is nothing to say.
---@param bufnr integer 0 for the current one
---@return string
function M.text(bufnr)
  bufnr = bufnr == 0 and vim.api.nvim_get_current_buf() or bufnr
  local known = provenance.of(bufnr)
  if not known or #known.placements == 0 then
    return ''
  end
  local counts = { ai = 0, claimed = 0 }
  for _, line in ipairs(known.lines or {}) do
    counts[line.kind] = (counts[line.kind] or 0) + 1
  end
  local waiting = 0
  for _, placement in ipairs(known.placements) do
    if provenance.is_pressing(placement) then
      waiting = waiting + 1
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
  if waiting > 0 then
    table.insert(parts, ('%d to review'):format(waiting))
  end
  return table.concat(parts, ' · ')
end

return M
