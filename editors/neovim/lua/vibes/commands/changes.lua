-- `:Vibes changes [REVISION]`: the AI lines of a change.

local M = {}

function M.run(words, target)
  local server = require('vibes.server')
  local argument = { uri = server.uri(target.bufnr), base = words[1], show = true }
  server.run_or_notify(target.bufnr, 'vibes.changes', argument, function() end)
end

return M
