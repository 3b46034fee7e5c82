-- `:[range]Vibes propose [TEXT]`: proposes a claim with the lines as its evidence.

local lines = require('vibes.commands.annotation').lines
local server = require('vibes.server')

local M = {}

function M.run(words, target)
  if not server.uri(target.bufnr) then
    vim.notify('vibes: no knowledge base owns this file; see :checkhealth vibes', vim.log.levels.ERROR)
    return
  end
  local text = table.concat(words, ' ')
  local about = {
    uri = server.uri(target.bufnr),
    range = lines(target),
    version = vim.lsp.util.buf_versions[target.bufnr],
  }
  require('vibes.knowledge').propose(target.bufnr, about, text ~= '' and text or nil)
end

return M
