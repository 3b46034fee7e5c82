-- `:Vibes review` lists what waits for a person; `:[range]Vibes review approved|rejected [NOTE]` reviews them.

local annotation = require('vibes.commands.annotation')
local queue = require('vibes.queue')
local server = require('vibes.server')

local M = { words = { 'approved', 'rejected' } }

--- Records a review.
---@param bufnr integer
---@param argument table
---@param callback? fun() called when it is recorded
function M.review(bufnr, argument, callback)
  server.run_or_notify(bufnr, 'vibes.review', argument, function(result)
    vim.notify(('vibes: %d %s'):format(#result.reviewed, argument.verdict))
    queue.refresh()
    if callback then
      callback()
    end
  end)
end

local function selection_of(target)
  if target.is_selection then
    return { range = annotation.lines(target) }
  end
  local placement = annotation.placement_at(target)
  return placement and { annotationIds = { placement.annotationId } }
end

function M.run(words, target)
  local verdict = table.remove(words, 1)
  if verdict == nil then
    queue.open(target.bufnr)
    return
  end
  if not vim.tbl_contains(M.words, verdict) then
    vim.notify('vibes: expected a verdict: approved or rejected', vim.log.levels.ERROR)
    return
  end
  local what = selection_of(target)
  if not what then
    return
  end
  local note = table.concat(words, ' ')
  local argument = { uri = vim.uri_from_bufnr(target.bufnr), verdict = verdict, note = note ~= '' and note or nil }
  M.review(target.bufnr, vim.tbl_extend('error', argument, what))
end

--- Asks for a note and rejects with it, for the server's code action *Reject with note…*.
---@param bufnr integer
---@param argument table
---@param callback? fun() called when it is recorded
function M.reject_with_note(bufnr, argument, callback)
  vim.ui.input({ prompt = 'Why is it rejected? ' }, function(note)
    if note then
      M.review(bufnr, vim.tbl_extend('force', argument, { note = note ~= '' and note or nil }), callback)
    end
  end)
end

return M
