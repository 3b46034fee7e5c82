-- Starts the server for files with an audit trail, and connects the other modules when it attaches.

local M = {}

local function attached(bufnr)
  require('vibes.highlights').define()
  require('vibes.provenance').attach(bufnr)
  require('vibes.marks').attach(bufnr)
  require('vibes.statusline')
  require('vibes.lens').refresh(bufnr)
  local on_attach = require('vibes.config').options.on_attach
  if on_attach then
    local ok, err = pcall(on_attach, bufnr)
    if not ok then
      vim.schedule(function() -- not as an error of this autocommand
        vim.notify('vibes: the option on_attach failed: ' .. tostring(err), vim.log.levels.ERROR)
      end)
    end
  end
end

local function is_ours(client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  return client ~= nil and client.name == require('vibes.server').name
end

--- Attaches the server to open and future files below a folder with a trail.
function M.start()
  local group = vim.api.nvim_create_augroup('vibes', {})
  vim.api.nvim_create_autocmd('VimLeavePre', { -- runs before Neovim's own autocommand stops the servers
    group = group,
    callback = function()
      if package.loaded['vibes.authors'] then
        require('vibes.authors').end_sessions()
      end
    end,
  })
  vim.api.nvim_create_autocmd('LspAttach', {
    group = group,
    callback = function(event)
      if is_ours(event.data.client_id) then
        attached(event.buf)
      end
    end,
  })
  vim.api.nvim_create_autocmd('LspDetach', {
    group = group,
    callback = function(event)
      if is_ours(event.data.client_id) then
        require('vibes.provenance').detach(event.buf)
      end
    end,
  })
  if vim.lsp.enable then
    vim.lsp.enable('vibes_lsp')
    return
  end
  local function attach(event)
    require('vibes.server').start(event.buf)
  end
  vim.api.nvim_create_autocmd('FileType', { group = group, callback = attach })
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) then
      attach({ buf = bufnr })
    end
  end
end

return M
