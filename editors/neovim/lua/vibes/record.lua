-- Sends the recording commands of the Lua API to the server.

local server = require('vibes.server')

local M = {}

-- Returns what is wrong with the arguments of an API function; nil if nothing is.
local function problem(bufnr, argument, name, callback)
  if type(bufnr) ~= 'number' or not vim.api.nvim_buf_is_valid(bufnr) then
    return ('bufnr must be a valid buffer, not %s'):format(vim.inspect(bufnr))
  elseif type(argument) ~= 'table' then
    return ('%s must be a table, not %s'):format(name, vim.inspect(argument))
  elseif callback ~= nil and not vim.is_callable(callback) then
    return ('callback must be a function, not %s'):format(vim.inspect(callback))
  end
end

local function notify(err)
  vim.notify('vibes: nothing was recorded: ' .. require('vibes.text').plain(err, 400), vim.log.levels.ERROR)
end

-- Runs a command of the server for a buffer, or reports what is wrong with the arguments.
local function send(call)
  local callback = vim.is_callable(call.callback) and call.callback
    or function(err)
      if err then
        notify(err)
      end
    end
  local wrong = problem(call.bufnr, call.argument, call.name, call.callback)
  if wrong then
    callback(('%s (:help vibes.%s())'):format(wrong, call.api))
    return
  end
  local bufnr = call.bufnr == 0 and vim.api.nvim_get_current_buf() or call.bufnr
  local added =
    { uri = vim.uri_from_bufnr(bufnr), version = call.has_version and vim.lsp.util.buf_versions[bufnr] or nil }
  server.run(bufnr, call.command, vim.tbl_extend('keep', call.argument, added), callback)
end

--- See `require('vibes').record_inline_completion`.
function M.completion(bufnr, completion, callback)
  send({
    api = 'record_inline_completion',
    command = 'vibes.recordInlineCompletion',
    bufnr = bufnr,
    name = 'completion',
    argument = completion,
    callback = callback,
    has_version = true,
  })
end

--- See `require('vibes').record_annotation`.
function M.annotation(bufnr, annotation, callback)
  send({
    api = 'record_annotation',
    command = 'vibes.recordAnnotation',
    bufnr = bufnr,
    name = 'annotation',
    argument = annotation,
    callback = callback,
  })
end

--- See `require('vibes').start_session`.
function M.session_start(bufnr, session, callback)
  send({
    api = 'start_session',
    command = 'vibes.startSession',
    bufnr = bufnr,
    name = 'session',
    argument = session,
    callback = callback,
  })
end

--- See `require('vibes').end_session`.
function M.session_end(bufnr, id, callback)
  send({
    api = 'end_session',
    command = 'vibes.endSession',
    bufnr = bufnr,
    name = 'sessionId',
    argument = { sessionId = id },
    callback = callback,
  })
end

return M
