-- Commands of the server that are about the annotation at the cursor.

local provenance = require('vibes.provenance')
local server = require('vibes.server')

local M = {}

--- Returns the placement at the cursor; where there is none, the user is told why.
---@param place table
---@return table?
function M.at(place)
  local placement = require('vibes.marks').at(place.bufnr, place.first - 1)
  if placement then
    return placement
  end
  local why = 'nothing is recorded of this line'
  if not server.root(place.bufnr) then
    why = 'there is no trail above this file: see :checkhealth vibes'
  elseif not provenance.of(place.bufnr) then
    why = 'the server has not answered yet; if it does not, see :checkhealth vibes'
  end
  vim.notify('vibes: ' .. why)
end

--- Runs one, if an AI wrote the line.
---@param command string
---@param place table
function M.run(command, place)
  local placement = M.at(place)
  if placement then
    local argument = { uri = vim.uri_from_bufnr(place.bufnr), annotationId = placement.annotationId }
    server.attempt(place.bufnr, command, argument, function() end)
  end
end

return M
