-- Lenses: Neovim's own, asked for where the user wants them.

local config = require('vibes.config')
local server = require('vibes.server')

local M = {}

local follows_by_itself = vim.lsp.codelens.enable ~= nil -- 0.12 and newer

-- A lens shows where both its client and its buffer may have some.
local function enable(bufnr, client)
  vim.lsp.codelens.enable(true, { client_id = client.id })
  if not vim.lsp.codelens.is_enabled({ bufnr = bufnr }) then
    vim.lsp.codelens.enable(true, { bufnr = bufnr })
  end
end

--- Shows the lenses of a buffer as they are now, if the user wants any.
---@param bufnr integer
function M.refresh(bufnr)
  local client = config.options.code_lens and server.client(bufnr)
  if not client then
    return
  end
  if follows_by_itself then
    enable(bufnr, client)
  else
    vim.lsp.codelens.refresh({ bufnr = bufnr })
  end
end

local function hide(bufnr, client)
  if follows_by_itself then
    vim.lsp.codelens.enable(false, { client_id = client.id }) -- other servers' lenses stay
  else
    vim.lsp.codelens.clear(client.id, bufnr)
  end
end

--- Shows or hides the lenses of every buffer that the server is attached to, as the option says now.
function M.switch()
  for _, client in ipairs(vim.lsp.get_clients({ name = server.name })) do
    for bufnr in pairs(client.attached_buffers) do
      if config.options.code_lens then
        M.refresh(bufnr)
      else
        hide(bufnr, client)
      end
    end
  end
end

if not follows_by_itself then
  require('vibes.provenance').listen(M.refresh)
end

return M
