-- Shows Neovim's code lenses if the option `code_lens` is set.

local config = require('vibes.config')
local server = require('vibes.server')

local M = {}

local has_auto_refresh = vim.lsp.codelens.enable ~= nil -- 0.12 and newer

-- Neovim shows lenses only if they are enabled for both the client and the buffer.
local function enable(bufnr, client)
  vim.lsp.codelens.enable(true, { client_id = client.id })
  if not vim.lsp.codelens.is_enabled({ bufnr = bufnr }) then
    vim.lsp.codelens.enable(true, { bufnr = bufnr })
  end
end

--- Refreshes the lenses of a buffer, if the option is set.
---@param bufnr integer
function M.refresh(bufnr)
  local client = config.options.code_lens and server.client(bufnr)
  if not client then
    return
  end
  if has_auto_refresh then
    enable(bufnr, client)
  else
    vim.lsp.codelens.refresh({ bufnr = bufnr })
  end
end

local function hide(bufnr, client)
  if has_auto_refresh then
    vim.lsp.codelens.enable(false, { client_id = client.id }) -- keep the lenses of other servers
  else
    vim.lsp.codelens.clear(client.id, bufnr)
  end
end

--- Shows or hides the lenses of all attached buffers, as the option requires.
function M.apply_option()
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

if not has_auto_refresh then
  require('vibes.provenance').listen(M.refresh)
end

return M
