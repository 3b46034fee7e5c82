-- `:Vibes remap`: records current locations after a rewrite of history.

local M = {}

function M.run(_, target)
  local server = require('vibes.server')
  server.run_or_notify(target.bufnr, 'vibes.remap', { uri = server.uri(target.bufnr) }, function(result)
    local message = 'vibes: %d annotations remapped, %d no longer found'
    vim.notify(message:format(#result.remapped, #result.orphaned))
  end)
end

return M
