-- Sends the recording commands of the Lua API to the server.

local server = require('vibes.server')

local M = {}

local function send(bufnr, command, argument, callback)
  bufnr = bufnr == 0 and vim.api.nvim_get_current_buf() or bufnr
  local params = vim.tbl_extend('keep', { uri = vim.uri_from_bufnr(bufnr) }, argument)
  server.run(bufnr, command, params, callback or function(err)
    if err then
      vim.notify('vibes: nothing was recorded: ' .. require('vibes.text').plain(err, 400), vim.log.levels.ERROR)
    end
  end)
end

--- See `require('vibes').record_inline_completion`.
function M.completion(bufnr, completion, callback)
  bufnr = bufnr == 0 and vim.api.nvim_get_current_buf() or bufnr
  local version = { version = vim.lsp.util.buf_versions[bufnr] }
  send(bufnr, 'vibes.recordInlineCompletion', vim.tbl_extend('keep', completion, version), callback)
end

--- See `require('vibes').record_annotation`.
function M.annotation(bufnr, annotation, callback)
  send(bufnr, 'vibes.recordAnnotation', annotation, callback)
end

--- See `require('vibes').start_session`.
function M.session_start(bufnr, session, callback)
  send(bufnr, 'vibes.startSession', session, callback)
end

--- See `require('vibes').end_session`.
function M.session_end(bufnr, id, callback)
  send(bufnr, 'vibes.endSession', { sessionId = id }, callback)
end

return M
