-- Sends the commands of the Lua API to the server.

local server = require('vibes.server')

local M = {}

-- Command of the server, name of the argument, and its type if it is no table, by function of the API.
local calls = {
  record_annotation = { 'vibes.recordAnnotation', 'annotation' },
  record_inline_completion = { 'vibes.recordInlineCompletion', 'completion' },
  start_session = { 'vibes.startSession', 'session' },
  end_session = { 'vibes.endSession', 'sessionId' },
  claims_at = { 'vibes.kbAt', 'line', 'number' },
  propose_claim = { 'vibes.kbPropose', 'claim' },
  knowledge = { 'vibes.kb', 'request' },
}

-- Methods that decide: a person does, in a window, not a plugin that an agent may use.
local deciding = { 'kb.approve', 'kb.reject', 'kb.crystallize', 'kb.import_apply' }

-- Returns what is wrong with the arguments of an API function; nil if nothing is.
local function problem(bufnr, argument, name, expected, callback)
  if type(bufnr) ~= 'number' or not vim.api.nvim_buf_is_valid(bufnr) then
    return ('bufnr must be a valid buffer, not %s'):format(vim.inspect(bufnr))
  elseif type(argument) ~= expected then
    return ('%s must be a %s, not %s'):format(name, expected, vim.inspect(argument))
  elseif callback ~= nil and not vim.is_callable(callback) then
    return ('callback must be a function, not %s'):format(vim.inspect(callback))
  end
end

local function notify(err)
  vim.notify('vibes: nothing was done: ' .. require('vibes.text').plain(err, 400), vim.log.levels.ERROR)
end

--- Runs the command of an API function, or reports what is wrong with the arguments.
---@param api string name of the function
---@param bufnr integer 0 for the current one
---@param argument table|number the argument of the command; a line for `claims_at`
---@param callback? fun(err?: string, result?: table)
function M.send(api, bufnr, argument, callback)
  local command, name = calls[api][1], calls[api][2]
  local report = vim.is_callable(callback) and callback or function(err)
    if err then
      notify(err)
    end
  end
  local wrong = problem(bufnr, argument, name, calls[api][3] or 'table', callback)
  if not wrong and api == 'knowledge' and vim.tbl_contains(deciding, argument.method) then
    wrong = ('%s is for a person: use :Vibes review'):format(argument.method)
  end
  if wrong then
    report(('%s (:help vibes.%s())'):format(wrong, api))
    return
  end
  if type(argument) == 'number' then
    local line = math.max(1, math.floor(argument))
    argument = { range = { start = { line = line - 1, character = 0 }, ['end'] = { line = line, character = 0 } } }
  end
  bufnr = bufnr == 0 and vim.api.nvim_get_current_buf() or bufnr
  local added = { uri = vim.uri_from_bufnr(bufnr) }
  if api == 'record_inline_completion' or api == 'propose_claim' then -- the range is in the text that is open now
    added.version = vim.lsp.util.buf_versions[bufnr]
  end
  server.run(bufnr, command, vim.tbl_extend('keep', argument, added), report)
end

return M
