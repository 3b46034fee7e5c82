-- The status of a buffer: counts of lines and reviews, as text, as buffer variables and as an event.

require('vibes.marks') -- draws before the event of this module
local knowledge = require('vibes.knowledge')
local provenance = require('vibes.provenance')
local server = require('vibes.server')

local M = {}

---@class vibes.Status
---@field lines integer Lines of the buffer.
---@field ai integer Lines that are verified as an AI's.
---@field claimed integer Lines that are only claimed.
---@field edited integer Lines of an AI that were edited since.
---@field review integer Annotations that wait for a review, as in `:Vibes review`.
---@field lost integer Annotations whose lines could not be found.
---@field root? string Folder of the project.
---@field claims? integer Claims of the knowledge base about the file, if the project has one.
---@field stale? integer Those whose lines are not as they were quoted.
---@field proposed? integer Proposals about the file that wait for a decision.

--- Returns the counts of a buffer; nil without placements, claims and proposals.
---@param bufnr integer
---@return vibes.Status?
function M.counts(bufnr)
  local response = provenance.get(bufnr) or { placements = {} }
  local known = knowledge.counts(bufnr) or {}
  if #response.placements + (known.claims or 0) + (known.pending or 0) == 0 then
    return nil
  end
  local counts = { ai = 0, claimed = 0, edited = 0 }
  for _, line in ipairs(response.lines or {}) do
    counts[line.kind] = counts[line.kind] + 1
  end
  local review = 0
  for _, placement in ipairs(response.placements) do
    review = review + (placement.waits and 1 or 0)
  end
  local total = math.max(1, vim.api.nvim_buf_line_count(bufnr))
  return {
    lines = total,
    ai = math.min(counts.ai, total), -- the response may be for an earlier, longer text
    claimed = math.min(counts.claimed, total),
    edited = math.min(counts.edited, total),
    review = review,
    lost = #provenance.lost(bufnr),
    root = server.root(bufnr),
    claims = known.claims,
    stale = known.stale,
    proposed = known.pending,
  }
end

-- Returns the text; nil without annotations: claims are only in the counts.
local function format(bufnr, counts)
  local response = provenance.get(bufnr)
  if not counts or not response or #response.placements == 0 then
    return nil
  end
  local function percent(count)
    return math.floor(100 * count / counts.lines + 0.5)
  end
  local parts = { ('AI %d%%'):format(percent(counts.ai)) }
  if counts.claimed > 0 then
    table.insert(parts, ('%d%% claimed'):format(percent(counts.claimed)))
  end
  if counts.review > 0 then
    table.insert(parts, ('%d to review'):format(counts.review))
  end
  return table.concat(parts, ' · ')
end

--- Returns the status line text of a buffer; empty without placements.
---@param bufnr integer 0 for the current one
---@return string
function M.text(bufnr)
  bufnr = bufnr == 0 and vim.api.nvim_get_current_buf() or bufnr
  return format(bufnr, M.counts(bufnr)) or ''
end

-- Sets the variables and runs the event `User VibesUpdate`.
local function publish(bufnr)
  if not vim.api.nvim_buf_is_valid(bufnr) then
    return
  end
  local counts = M.counts(bufnr)
  vim.b[bufnr].vibes_status = format(bufnr, counts)
  vim.b[bufnr].vibes_status_dict = counts
  vim.api.nvim_exec_autocmds('User', { pattern = 'VibesUpdate', modeline = false, data = { buffer = bufnr } })
  vim.cmd.redrawstatus({ bang = true })
end

provenance.listen(publish)
knowledge.listen(publish)

return M
