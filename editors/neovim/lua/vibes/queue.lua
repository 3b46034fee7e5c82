-- What waits for a review in the whole project, the riskiest first, as a quickfix list.

local plain = require('vibes.text').plain
local provenance = require('vibes.provenance')
local server = require('vibes.server')

local M = {}

local kinds = { critical = 'E', high = 'W', medium = 'I', low = 'N' }
local shown -- id of the list that we made last

local function entry(placement)
  local band = provenance.is(placement.band) and placement.band or 'no score'
  local score = provenance.is(placement.score) and ('%.2f '):format(placement.score) or ''
  local prompt = provenance.is(placement.prompt) and (' · “%s”'):format(plain(placement.prompt, 70)) or ''
  return {
    filename = vim.uri_to_fname(placement.uri),
    lnum = placement.lineStart,
    end_lnum = placement.lineEnd,
    col = 1,
    type = kinds[band],
    text = ('%s%s · %s · %s%s'):format(
      score,
      band,
      plain(placement.model.name, 40),
      plain(placement.state, 20),
      prompt
    ),
  }
end

local function fill(answer, action, what)
  local items = vim.tbl_map(entry, answer.placements)
  local riskiest = #items < answer.total and ('the riskiest %d of '):format(#items) or ''
  local title = ('VIBES: %s%d to review'):format(riskiest, answer.total)
  vim.fn.setqflist({}, action, vim.tbl_extend('error', what, { title = title, items = items }))
end

--- Opens the list.
---@param bufnr integer a buffer of the project, else that of the first folder is taken
function M.open(bufnr)
  server.attempt(bufnr, 'vibes.queue', { uri = server.uri(bufnr) }, function(answer)
    if #answer.placements == 0 then
      vim.notify('vibes: nothing to review')
      return
    end
    fill(answer, ' ', {})
    shown = vim.fn.getqflist({ id = 0 }).id
    vim.cmd('botright copen')
  end)
end

--- Refreshes the list if it is the open one.
---@param bufnr integer
function M.renew(bufnr)
  local current = vim.fn.getqflist({ id = 0, winid = 0 })
  if shown == nil or current.id ~= shown or current.winid == 0 then
    return
  end
  server.run(bufnr, 'vibes.queue', { uri = server.uri(bufnr) }, function(err, answer)
    if not err then
      fill(answer, 'r', { id = shown })
    end
  end)
end

return M
