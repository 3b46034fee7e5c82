-- Commands of the server that are about the annotation at the cursor.

local M = {}

--- Runs one, if an AI wrote the line.
---@param command string
---@param place table
function M.run(command, place)
  local placement = require('vibes.marks').at(place.bufnr, place.first - 1)
  if not placement then
    vim.notify('vibes: nothing is recorded of this line')
    return
  end
  local argument = { uri = vim.uri_from_bufnr(place.bufnr), annotationId = placement.annotationId }
  require('vibes.server').attempt(place.bufnr, command, argument, function() end)
end

return M
