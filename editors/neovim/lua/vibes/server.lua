-- Configures and starts the server, and sends requests. It runs only for files below a folder with an audit trail or a
-- knowledge base.

local M = { name = 'vibes_lsp' }

local is_nvim_011 = vim.fn.has('nvim-0.11') == 1
local sync_timeout = 1000 -- milliseconds
local max_bytes = 50 * 2 ^ 20 -- as in VS Code, which tells no extension of a larger file

-- Returns the nearest folder above a file or folder that has a folder of this name.
local function above(path, name)
  return vim.fs.root(path, function(entry, folder)
    return entry == name and vim.fn.isdirectory(vim.fs.joinpath(folder, entry)) == 1
  end)
end

-- Returns the path of a buffer's file; without an attached server, the folder of the first project.
local function path_of(bufnr)
  local client = M.any_client(bufnr)
  if M.client(bufnr) or not client then
    return vim.api.nvim_buf_get_name(bufnr)
  end
  return client.root_dir and vim.fs.joinpath(client.root_dir, 'file')
end

--- Returns the project folder of a buffer: the nearest one above its file with a trail, else with a knowledge base.
---@param bufnr integer
---@return string?
function M.root(bufnr)
  local name = vim.api.nvim_buf_get_name(bufnr)
  if vim.bo[bufnr].buftype ~= '' or name == '' or name:match('^%a[%w+.-]+://') then
    return nil
  end
  return above(name, '.ai-audit') or above(name, '.vouch')
end

-- Returns the project folder of a buffer that the server is sent. Neovim copies a text for each server and compares
-- the copies at a change: at a gigabyte that takes 4 GB and 13 seconds.
local function served_root(bufnr)
  local root = M.root(bufnr)
  if root and vim.api.nvim_buf_get_offset(bufnr, vim.api.nvim_buf_line_count(bufnr)) > max_bytes then
    local name = vim.fs.basename(vim.api.nvim_buf_get_name(bufnr))
    vim.notify(('vibes: nothing is shown in %s: it has more than 50 MB'):format(name))
    return nil
  end
  return root
end

--- Whether the project has an audit trail.
---@param bufnr integer
---@return boolean
function M.has_trail(bufnr)
  local path = path_of(bufnr)
  return (path or '') ~= '' and above(path, '.ai-audit') ~= nil
end

--- Whether the project has a knowledge base.
---@param bufnr integer
---@return boolean
function M.has_knowledge(bufnr)
  local path = path_of(bufnr)
  return (path or '') ~= '' and above(path, '.vouch') ~= nil
end

local function handlers()
  return {
    ['textDocument/publishDiagnostics'] = function(...)
      return require('vibes.diagnostics').published(...)
    end,
    ['textDocument/diagnostic'] = function(...)
      return require('vibes.diagnostics').pulled(...)
    end,
    ['vibes/provenanceChanged'] = function(_, params)
      require('vibes.provenance').refresh(params.uri)
    end,
    ['vibes/knowledgeChanged'] = function(_, params)
      require('vibes.knowledge').refresh(params.uri)
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

-- Commands of code actions and lenses that this client carries out.
local commands = {
  ['vibes.ui.rejectWithNote'] = function(command, context)
    require('vibes.commands.review').reject_with_note(context.bufnr, command.arguments[1])
  end,
  ['vibes.ui.showAnnotations'] = function(command)
    local argument = command.arguments[1]
    require('vibes.annotation_window').open(vim.uri_to_bufnr(argument.uri), argument.annotationIds)
  end,
  ['vibes.ui.kbPropose'] = function(command, context)
    require('vibes.knowledge').propose(context.bufnr, command.arguments[1])
  end,
  ['vibes.ui.kbReject'] = function(command, context)
    local argument = command.arguments[1]
    require('vibes.knowledge').reject({ bufnr = context.bufnr, uri = argument.uri }, argument)
  end,
  ['vibes.ui.kbSupersede'] = function(command, context)
    local argument = command.arguments[1]
    require('vibes.knowledge').supersede({ bufnr = context.bufnr, uri = argument.uri }, argument)
  end,
  ['vibes.ui.kbContradict'] = function(command, context)
    local argument = command.arguments[1]
    require('vibes.knowledge').contradict({ bufnr = context.bufnr, uri = argument.uri }, argument)
  end,
  ['vibes.ui.kbShow'] = function(command)
    local argument = command.arguments[1]
    local wanted = { claimIds = argument.claimIds or {}, proposalIds = argument.proposalIds or {} }
    require('vibes.claims_window').open(vim.uri_to_bufnr(argument.uri), wanted)
  end,
}

--- Returns the client configuration for `vim.lsp.config` and `vim.lsp.start`.
---@return table
function M.config()
  local options = require('vibes.config').options
  local settings = next(options.settings) and options.settings or vim.empty_dict()
  local capabilities = {
    workspace = { textDocumentContent = { dynamicRegistration = true } },
    experimental = { vibes = { commands = vim.tbl_keys(commands), resolvedLenses = true, lineText = true } },
  }
  return {
    cmd = options.cmd,
    root_dir = function(bufnr, on_dir)
      local root = served_root(bufnr)
      if root then
        on_dir(root)
      end
    end,
    capabilities = vim.tbl_deep_extend('force', vim.lsp.protocol.make_client_capabilities(), capabilities),
    init_options = settings,
    settings = { vibes = settings },
    handlers = handlers(),
    commands = commands,
  }
end

--- Starts the server for a buffer on Neovim 0.10, which has no `vim.lsp.enable`.
---@param bufnr integer
function M.start(bufnr)
  local root = served_root(bufnr)
  if root then
    local config = vim.tbl_extend('force', M.config(), { name = M.name, root_dir = root })
    vim.lsp.start(config, { bufnr = bufnr })
  end
end

--- Returns the client of a buffer.
---@param bufnr integer
---@return vim.lsp.Client?
function M.client(bufnr)
  return vim.lsp.get_clients({ bufnr = bufnr, name = M.name })[1]
end

--- Returns the client of a buffer, else any client of this server.
---@param bufnr integer
---@return vim.lsp.Client?
function M.any_client(bufnr)
  return M.client(bufnr) or vim.lsp.get_clients({ name = M.name })[1]
end

--- Returns the URI of a buffer; nil if the server is not attached to it, as for a help page.
---@param bufnr integer
---@return string?
function M.uri(bufnr)
  return M.client(bufnr) and vim.uri_from_bufnr(bufnr)
end

--- Sends a request. The callback gets an error message or the result.
---@param bufnr integer
---@param method string
---@param params table
---@param callback fun(err?: string, result?: any)
function M.request(bufnr, method, params, callback)
  local client = M.any_client(bufnr)
  if not client then
    callback('no server runs: see :checkhealth vibes')
    return
  end
  local function answered(err, result)
    callback(err and (err.message or vim.inspect(err)) or nil, result)
  end
  local ok, err = pcall(function() -- what cannot be JSON, such as a function, raises an error
    if is_nvim_011 then
      client:request(method, params, answered, bufnr)
    else
      client.request(method, params, answered, bufnr)
    end
  end)
  if not ok then
    callback(tostring(err):gsub('^.-:%d+: ', ''), nil)
  end
end

--- Executes a command of the server.
---@param bufnr integer
---@param command string
---@param argument table
---@param callback fun(err?: string, result?: any)
function M.run(bufnr, command, argument, callback)
  M.request(bufnr, 'workspace/executeCommand', { command = command, arguments = { argument } }, callback)
end

--- Executes a command of the server and waits at most one second. Ignores the result.
---@param client vim.lsp.Client
---@param command string
---@param argument table
function M.run_sync(client, command, argument)
  local method, params = 'workspace/executeCommand', { command = command, arguments = { argument } }
  if is_nvim_011 then
    client:request_sync(method, params, sync_timeout)
  else
    client.request_sync(method, params, sync_timeout)
  end
end

--- Executes a command of the server. On failure, shows the error and does not call back.
---@param bufnr integer
---@param command string
---@param argument table
---@param callback fun(result: any)
function M.run_or_notify(bufnr, command, argument, callback)
  M.run(bufnr, command, argument, function(err, result)
    if err then
      vim.notify('vibes: ' .. require('vibes.text').plain(err, 400), vim.log.levels.ERROR)
    else
      callback(result)
    end
  end)
end

return M
