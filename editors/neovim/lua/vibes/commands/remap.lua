-- `:Vibes remap`: records current locations after a rewrite of history.

local M = {}

function M.run(_, target)
  local server = require('vibes.server')
  server.run_or_notify(target.bufnr, 'vibes.remap', { uri = server.uri(target.bufnr) }, function(result)
    local noun = #result.remapped == 1 and 'annotation' or 'annotations'
    local message = 'vibes: %d %s remapped, %d no longer found'
    vim.notify(message:format(#result.remapped, noun, #result.orphaned))
  end)
end

return M
