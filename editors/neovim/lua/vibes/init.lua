-- What other plugins and the user's own configuration call; all of it is described in `:help vibes-lua`.

local M = {}

--- Chooses options; `vim.g.vibes` is the other way.
---@param options? table
function M.setup(options)
  require('vibes.config').choose(options)
  if vim.lsp.enable and vim.lsp.config.vibes_lsp then
    vim.lsp.config('vibes_lsp', require('vibes.server').config())
  end
  require('vibes.marks').paint_all()
  require('vibes.lens').switch()
end

--- Returns the AI's share of a buffer and what waits for a review, for a status line.
---@param bufnr? integer anything but a number is the current one: status line plugins pass what they like
---@return string
function M.statusline(bufnr)
  return require('vibes.statusline').text(type(bufnr) == 'number' and bufnr or 0)
end

--- Returns the placement that a line belongs to, as docs/server.md describes it; nil for a person's.
---@param bufnr integer 0 for the current one
---@param line integer from 1 on
---@return table?
function M.provenance_at(bufnr, line)
  bufnr = bufnr == 0 and vim.api.nvim_get_current_buf() or bufnr
  return require('vibes.marks').at(bufnr, line - 1)
end

--- Records an inline completion that was accepted: call it from the accept handler, before or after the text is put in.
---@param bufnr integer 0 for the current one
---@param completion table as `vibes.recordInlineCompletion` takes it, without `uri`; `version` is that of the text now, unless given
---@param callback? fun(err?: string, result?: table)
function M.record_inline_completion(bufnr, completion, callback)
  require('vibes.record').completion(bufnr, completion, callback)
end

--- Records that an AI wrote lines of a buffer.
---@param bufnr integer 0 for the current one
---@param annotation table as `vibes.recordAnnotation` takes it, without `uri`
---@param callback? fun(err?: string, result?: table)
function M.record_annotation(bufnr, annotation, callback)
  require('vibes.record').annotation(bufnr, annotation, callback)
end

--- Starts a session to name in what is recorded.
---@param bufnr integer 0 for the current one
---@param session table as `vibes.startSession` takes it, without `uri`
---@param callback fun(err?: string, result?: table)
function M.start_session(bufnr, session, callback)
  require('vibes.record').session_start(bufnr, session, callback)
end

--- Ends a session.
---@param bufnr integer 0 for the current one
---@param id string the `sessionId` that its start gave
---@param callback? fun(err?: string, result?: table)
function M.end_session(bufnr, id, callback)
  require('vibes.record').session_end(bufnr, id, callback)
end

return M
