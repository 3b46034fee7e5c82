-- The public Lua API; see `:help vibes-lua`.

local M = {
  version = 3, -- of this API: it grows when something is added; what is there stays
}

-- Returns a valid buffer number for 0 or a number; nil, with a message to the user, for anything else.
local function checked_buffer(bufnr, api)
  if type(bufnr) == 'number' and vim.api.nvim_buf_is_valid(bufnr) then
    return bufnr == 0 and vim.api.nvim_get_current_buf() or bufnr
  end
  local message = 'vibes: bufnr must be a valid buffer, not %s (:help vibes.%s())'
  vim.notify(message:format(vim.inspect(bufnr), api), vim.log.levels.ERROR)
end

local function checked_line(line, api)
  if type(line) == 'number' then
    return line
  end
  local message = 'vibes: line must be a number, not %s (:help vibes.%s())'
  vim.notify(message:format(vim.inspect(line), api), vim.log.levels.ERROR)
end

--- Sets options, as `vim.g.vibes` does. Invalid ones are ignored with a warning.
---@param options? table
function M.setup(options)
  require('vibes.config').set(options)
  if vim.lsp.enable and vim.lsp.config.vibes_lsp then
    vim.lsp.config('vibes_lsp', require('vibes.server').config())
  end
  require('vibes.marks').draw_all()
  require('vibes.lens').apply_option()
end

--- Returns the AI share and the number of urgent reviews of a buffer, for a status line.
---@param bufnr? integer anything else means the current one: status line plugins pass other values
---@return string
function M.statusline(bufnr)
  return require('vibes.statusline').text(type(bufnr) == 'number' and bufnr or 0)
end

--- Returns the placement that owns a line (see docs/server.md); nil for a line without an owner.
---@param bufnr integer 0 for the current one
---@param line integer 1-based
---@return table?
function M.provenance_at(bufnr, line)
  bufnr, line = checked_buffer(bufnr, 'provenance_at'), checked_line(line, 'provenance_at')
  return bufnr and line and require('vibes.marks').placement_at(bufnr, line - 1) or nil
end

--- Returns all placements on a line: the one that owns it first, then its history.
---@param bufnr integer 0 for the current one
---@param line integer 1-based
---@return table[]
function M.annotations_at(bufnr, line)
  bufnr, line = checked_buffer(bufnr, 'annotations_at'), checked_line(line, 'annotations_at')
  return bufnr and line and require('vibes.marks').placements_at(bufnr, line - 1) or {}
end

--- Records an accepted inline completion. Call it from the accept handler, before or after the text is inserted.
---@param bufnr integer 0 for the current one
---@param completion table argument of `vibes.recordInlineCompletion` without `uri`; `version` defaults to the current one
---@param callback? fun(err?: string, result?: table)
function M.record_inline_completion(bufnr, completion, callback)
  require('vibes.api_calls').send('record_inline_completion', bufnr, completion, callback)
end

--- Records that an AI wrote lines of a buffer.
---@param bufnr integer 0 for the current one
---@param annotation table argument of `vibes.recordAnnotation` without `uri`
---@param callback? fun(err?: string, result?: table)
function M.record_annotation(bufnr, annotation, callback)
  require('vibes.api_calls').send('record_annotation', bufnr, annotation, callback)
end

--- Calls back with the claims and proposals of the knowledge base about a line: `claims` and `pending`.
---@param bufnr integer 0 for the current one
---@param line integer 1-based
---@param callback fun(err?: string, result?: table)
function M.claims_at(bufnr, line, callback)
  require('vibes.api_calls').send('claims_at', bufnr, line, callback)
end

--- Proposes a claim with lines of a buffer as its evidence. A person decides about it.
---@param bufnr integer 0 for the current one
---@param claim table argument of `vibes.kbPropose` without `uri`
---@param callback? fun(err?: string, result?: table)
function M.propose_claim(bufnr, claim, callback)
  require('vibes.api_calls').send('propose_claim', bufnr, claim, callback)
end

--- Runs a method of the knowledge base that decides nothing, as the person at the editor.
---@param bufnr integer 0 for the current one
---@param request table `method`, such as `kb.search`, and its `params`
---@param callback? fun(err?: string, result?: any)
function M.knowledge(bufnr, request, callback)
  require('vibes.api_calls').send('knowledge', bufnr, request, callback)
end

--- Starts a session for later records.
---@param bufnr integer 0 for the current one
---@param session table argument of `vibes.startSession` without `uri`
---@param callback fun(err?: string, result?: table)
function M.start_session(bufnr, session, callback)
  require('vibes.api_calls').send('start_session', bufnr, session, callback)
end

--- Ends a session.
---@param bufnr integer 0 for the current one
---@param id string the `sessionId` from `start_session`
---@param callback? fun(err?: string, result?: table)
function M.end_session(bufnr, id, callback)
  require('vibes.api_calls').send('end_session', bufnr, { sessionId = id }, callback)
end

return M
