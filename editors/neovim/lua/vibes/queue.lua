-- The review queue of the project as a quickfix list, highest risk first.

local plain = require('vibes.text').plain
local provenance = require('vibes.provenance')
local server = require('vibes.server')

local M = {}

local quickfix_types = { critical = 'E', high = 'W', medium = 'I', low = 'N' }
local list_id -- id of the last list that this module created

local function entry(placement)
  local band = provenance.is_present(placement.band) and placement.band or 'no score'
  local score = provenance.is_present(placement.score) and ('%.2f '):format(placement.score) or ''
  local parts = { plain(placement.displayName, 40), score .. band, plain(placement.model.name, 40) }
  if provenance.is_present(placement.age) then
    table.insert(parts, plain(placement.age, 20))
  end
  if provenance.is_present(placement.prompt) then
    table.insert(parts, ('“%s”'):format(plain(placement.prompt, 70)))
  end
  return {
    filename = vim.uri_to_fname(placement.uri),
    lnum = placement.lineStart,
    end_lnum = placement.lineEnd,
    col = 1,
    type = quickfix_types[band],
    text = table.concat(parts, ' · '),
  }
end

local function fill(answer, action, properties)
  local items = vim.tbl_map(entry, answer.placements)
  local riskiest = #items < answer.total and ('the riskiest %d of '):format(#items) or ''
  local title = ('VIBES: %s%d to review'):format(riskiest, answer.total)
  vim.fn.setqflist({}, action, vim.tbl_extend('error', properties, { title = title, items = items }))
end

--- Opens the list.
---@param bufnr integer selects the project; without an attached server, the first one
function M.open(bufnr)
  server.run_or_notify(bufnr, 'vibes.queue', { uri = server.uri(bufnr) }, function(answer)
    if #answer.placements == 0 then
      vim.notify('vibes: nothing to review')
      return
    end
    fill(answer, ' ', {})
    list_id = vim.fn.getqflist({ id = 0 }).id
    vim.cmd('botright copen')
  end)
end

--- Refreshes the list if it is open.
---@param bufnr integer
function M.refresh(bufnr)
  local current = vim.fn.getqflist({ id = 0, winid = 0 })
  if list_id == nil or current.id ~= list_id or current.winid == 0 then
    return
  end
  server.run(bufnr, 'vibes.queue', { uri = server.uri(bufnr) }, function(err, answer)
    if not err then
      fill(answer, 'r', { id = list_id })
    end
  end)
end

return M
