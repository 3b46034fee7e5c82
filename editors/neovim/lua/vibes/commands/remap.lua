-- Records current locations after a rewrite of history: `:Vibes remap`.

local M = {}

function M.run(_, place)
  local server = require('vibes.server')
  server.attempt(place.bufnr, 'vibes.remap', { uri = server.uri(place.bufnr) }, function(result)
    local said = 'vibes: %d annotations remapped, %d no longer found'
    vim.notify(said:format(#result.remapped, #result.orphaned))
  end)
end

return M
