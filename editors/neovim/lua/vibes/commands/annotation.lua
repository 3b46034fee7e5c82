-- Runs server commands for the annotation at the cursor.

local provenance = require('vibes.provenance')
local server = require('vibes.server')

local M = {}

--- Shows why there is no placement.
---@param bufnr integer
function M.notify_why(bufnr)
  local why = 'nothing is recorded for this line'
  if not server.has_trail(bufnr) then
    why = 'there is no trail above this file: see :checkhealth vibes'
  elseif not provenance.get(bufnr) then
    why = 'the server has not answered yet; if it does not, see :checkhealth vibes'
  end
  vim.notify('vibes: ' .. why)
end

--- Returns the placement at the cursor. Without one, shows the reason.
---@param target table
---@return table?
function M.placement_at(target)
  local placement = require('vibes.marks').placement_at(target.bufnr, target.first - 1)
  if not placement then
    M.notify_why(target.bufnr)
  end
  return placement
end

--- Returns the lines that a command is about, as an LSP range.
---@param target table
---@return table
function M.lines(target)
  return { start = { line = target.first - 1, character = 0 }, ['end'] = { line = target.last, character = 0 } }
end

--- Runs a command for the placement at the cursor, if there is one.
---@param command string
---@param target table
function M.run(command, target)
  local placement = M.placement_at(target)
  if placement then
    local argument = { uri = vim.uri_from_bufnr(target.bufnr), annotationId = placement.annotationId }
    server.run_or_notify(target.bufnr, command, argument, function() end)
  end
end

return M
