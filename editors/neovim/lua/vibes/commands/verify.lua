-- `:Vibes verify`: what the attestation of the trail covers, and whose word it is.

local M = {}

function M.run(_, target)
  local server = require('vibes.server')
  server.run_or_notify(target.bufnr, 'vibes.verify', { uri = server.uri(target.bufnr), show = true }, function(result)
    if not result.attested then
      vim.notify('vibes: the audit trail is not attested')
    end
  end)
end

return M
