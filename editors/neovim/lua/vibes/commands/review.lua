-- Answering for what an AI wrote: `:Vibes review` lists what waits, `:[range]Vibes review approved|rejected [NOTE]` answers.

local annotation = require('vibes.commands.annotation')
local queue = require('vibes.queue')
local server = require('vibes.server')

local M = { words = { 'approved', 'rejected' } }

local function review(bufnr, argument)
  server.attempt(bufnr, 'vibes.review', argument, function(result)
    vim.notify(('vibes: %d %s'):format(#result.reviewed, argument.verdict))
    queue.renew(bufnr)
  end)
end

local function reviewed_at(place)
  if place.is_selection then
    return {
      range = { start = { line = place.first - 1, character = 0 }, ['end'] = { line = place.last, character = 0 } },
    }
  end
  local placement = annotation.at(place)
  return placement and { annotationIds = { placement.annotationId } }
end

function M.run(words, place)
  local verdict = table.remove(words, 1)
  if verdict == nil then
    queue.open(place.bufnr)
    return
  end
  if not vim.tbl_contains(M.words, verdict) then
    vim.notify('vibes: expected a verdict: approved or rejected', vim.log.levels.ERROR)
    return
  end
  local what = reviewed_at(place)
  if not what then
    return
  end
  local note = table.concat(words, ' ')
  local argument = { uri = vim.uri_from_bufnr(place.bufnr), verdict = verdict, note = note ~= '' and note or nil }
  review(place.bufnr, vim.tbl_extend('error', argument, what))
end

--- Asks for a note, and rejects with it: what the server's action *Reject with note…* comes to.
---@param bufnr integer
---@param argument table
function M.reject_with_note(bufnr, argument)
  vim.ui.input({ prompt = 'Why is it rejected? ' }, function(note)
    if note then
      review(bufnr, vim.tbl_extend('force', argument, { note = note ~= '' and note or nil }))
    end
  end)
end

return M
