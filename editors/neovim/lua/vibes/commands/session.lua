-- `:Vibes session [start [DESCRIPTION]|end]`: starts or ends a session, or shows the current one.

local authors = require('vibes.authors')
local questions = require('vibes.questions')
local server = require('vibes.server')

local M = { words = { 'start', 'end' } }

local function start(bufnr, description)
  questions.run(function()
    local session = authors.tool_and_model()
    session.uri, session.description = server.uri(bufnr), description ~= '' and description or nil
    server.run_or_notify(bufnr, 'vibes.startSession', session, function(result)
      authors.set_session(bufnr, result.sessionId)
      vim.notify('vibes: session started')
    end)
  end)
end

local function finish(bufnr, session)
  server.run_or_notify(bufnr, 'vibes.endSession', { uri = server.uri(bufnr), sessionId = session }, function()
    authors.set_session(bufnr, nil)
    vim.notify('vibes: session ended')
  end)
end

function M.run(words, target)
  local session = authors.session(target.bufnr)
  local word = table.remove(words, 1)
  if word == nil then
    vim.notify(session and ('vibes: current session: %s'):format(session:sub(1, 12)) or 'vibes: no session')
  elseif word == 'start' and session then
    vim.notify('vibes: end the current session first', vim.log.levels.ERROR)
  elseif word == 'start' then
    start(target.bufnr, table.concat(words, ' '))
  elseif word == 'end' and session then
    finish(target.bufnr, session)
  elseif word == 'end' then
    vim.notify('vibes: no session', vim.log.levels.ERROR)
  else
    vim.notify('vibes: expected :Vibes session start or :Vibes session end', vim.log.levels.ERROR)
  end
end

return M
