-- The AI's share of a buffer, and how much of its risk nobody has reviewed.

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
  local written = 0
  for _, line in ipairs(known.lines or {}) do
    written = written + (line.kind == 'human' and 0 or 1)
  end
  local waiting = 0
  for _, placement in ipairs(known.placements) do
    if provenance.is_pressing(placement) then
      waiting = waiting + 1
    end
  end
  local total = math.max(1, vim.api.nvim_buf_line_count(bufnr))
  local share = ('AI %d%%'):format(math.floor(100 * math.min(written, total) / total + 0.5))
  return waiting == 0 and share or ('%s · %d to review'):format(share, waiting)
end

return M
