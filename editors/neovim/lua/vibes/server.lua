-- The server: how it is configured and started, and how it is asked. It runs only where there is an audit trail.

local M = { name = 'vibes_lsp' }

local is_newer = vim.fn.has('nvim-0.11') == 1
local longest_wait = 1000 -- milliseconds

--- Returns the project that owns a buffer's file: the nearest folder above it that has a trail.
---@param bufnr integer
---@return string?
function M.root(bufnr)
  local name = vim.api.nvim_buf_get_name(bufnr)
  if vim.bo[bufnr].buftype ~= '' or name == '' or name:match('^%a[%w+.-]+://') then
    return nil
  end
  return vim.fs.root(bufnr, function(entry, folder)
    return entry == '.ai-audit' and vim.fn.isdirectory(vim.fs.joinpath(folder, entry)) == 1
  end)
end

local function handlers()
  return {
    ['vibes/provenanceChanged'] = function(_, params)
      require('vibes.provenance').changed(params.uri)
    end,
    ['window/showDocument'] = function(err, params, context, config)
      if params.uri:match('^vibes:/') then
        require('vibes.documents').open(context.client_id, params.uri)
        return { success = true }
      end
      return vim.lsp.handlers['window/showDocument'](err, params, context, config)
    end,
  }
end

--- Returns the configuration of the client, for `vim.lsp.config` and `vim.lsp.start`.
---@return table
function M.config()
  local options = require('vibes.config').options
  local settings = next(options.settings) and options.settings or vim.empty_dict()
  local ours = {
    workspace = { textDocumentContent = { dynamicRegistration = true } },
    experimental = { vibes = { commands = { 'vibes.ui.rejectWithNote' }, resolvedLenses = true } },
  }
  return {
    cmd = options.cmd,
    root_dir = function(bufnr, on_dir)
      local root = M.root(bufnr)
      if root then
        on_dir(root)
      end
    end,
    capabilities = vim.tbl_deep_extend('force', vim.lsp.protocol.make_client_capabilities(), ours),
    init_options = settings,
    settings = { vibes = settings },
    handlers = handlers(),
    commands = {
      ['vibes.ui.rejectWithNote'] = function(command, context)
        require('vibes.commands.review').reject_with_note(context.bufnr, command.arguments[1])
      end,
    },
  }
end

--- Starts the server for a buffer, where Neovim has no configurations of its own (0.10).
---@param bufnr integer
function M.start(bufnr)
  local root = M.root(bufnr)
  if root then
    local config = vim.tbl_extend('force', M.config(), { name = M.name, root_dir = root })
    vim.lsp.start(config, { bufnr = bufnr })
  end
end

--- Returns the client that a buffer is attached to.
---@param bufnr integer
---@return vim.lsp.Client?
function M.client(bufnr)
  return vim.lsp.get_clients({ bufnr = bufnr, name = M.name })[1]
end

--- Returns the client that questions about no file go to.
---@param bufnr integer
---@return vim.lsp.Client?
function M.any(bufnr)
  return M.client(bufnr) or vim.lsp.get_clients({ name = M.name })[1]
end

--- Returns how the server knows a buffer; nil for one that it does not, such as a list or a help page.
---@param bufnr integer
---@return string?
function M.uri(bufnr)
  return M.client(bufnr) and vim.uri_from_bufnr(bufnr)
end

--- Asks the server; the callback gets a message for people, or the result.
---@param bufnr integer
---@param method string
---@param params table
---@param callback fun(err?: string, result?: any)
function M.request(bufnr, method, params, callback)
  local client = M.any(bufnr)
  if not client then
    callback('no server runs: see :checkhealth vibes')
    return
  end
  local function answered(err, result)
    callback(err and (err.message or vim.inspect(err)) or nil, result)
  end
  if is_newer then
    client:request(method, params, answered, bufnr)
  else
    client.request(method, params, answered, bufnr)
  end
end

--- Runs a command of the server.
---@param bufnr integer
---@param command string
---@param argument table
---@param callback fun(err?: string, result?: any)
function M.run(bufnr, command, argument, callback)
  M.request(bufnr, 'workspace/executeCommand', { command = command, arguments = { argument } }, callback)
end

--- Runs a command of the server and waits for it, a second at most; the result is dropped.
---@param client vim.lsp.Client
---@param command string
---@param argument table
function M.run_now(client, command, argument)
  local method, params = 'workspace/executeCommand', { command = command, arguments = { argument } }
  if is_newer then
    client:request_sync(method, params, longest_wait)
  else
    client.request_sync(method, params, longest_wait)
  end
end

--- Runs a command of the server; when it fails, the user is told, and the callback is not called.
---@param bufnr integer
---@param command string
---@param argument table
---@param callback fun(result: any)
function M.attempt(bufnr, command, argument, callback)
  M.run(bufnr, command, argument, function(err, result)
    if err then
      vim.notify('vibes: ' .. require('vibes.text').plain(err, 400), vim.log.levels.ERROR)
    else
      callback(result)
    end
  end)
end

return M
