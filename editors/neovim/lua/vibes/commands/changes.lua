-- The AI's lines of a change: `:Vibes changes [REVISION]`.

local M = {}

function M.run(words, place)
  local server = require('vibes.server')
  local argument = { uri = server.uri(place.bufnr), base = words[1], show = true }
  server.attempt(place.bufnr, 'vibes.changes', argument, function() end)
end

return M
