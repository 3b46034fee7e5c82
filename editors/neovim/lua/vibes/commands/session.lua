-- Work that belongs together: `:Vibes session start [DESCRIPTION]`, `:Vibes session end`; without a word, whether one runs.

local authors = require('vibes.authors')
local questions = require('vibes.questions')
local server = require('vibes.server')

local M = { words = { 'start', 'end' } }

local function start(bufnr, description)
  questions.run(function()
    local session = authors.tool_and_model()
    session.uri, session.description = server.uri(bufnr), description ~= '' and description or nil
    server.attempt(bufnr, 'vibes.startSession', session, function(result)
      authors.remember(bufnr, result.sessionId)
      vim.notify('vibes: session started')
    end)
  end)
end

local function finish(bufnr, session)
  server.attempt(bufnr, 'vibes.endSession', { uri = server.uri(bufnr), sessionId = session }, function()
    authors.remember(bufnr, nil)
    vim.notify('vibes: session ended')
  end)
end

function M.run(words, place)
  local session = authors.session(place.bufnr)
  local word = table.remove(words, 1)
  if word == nil then
    vim.notify(session and ('vibes: current session: %s'):format(session:sub(1, 12)) or 'vibes: no session')
  elseif word == 'start' and session then
    vim.notify('vibes: end the current session first', vim.log.levels.ERROR)
  elseif word == 'start' then
    start(place.bufnr, table.concat(words, ' '))
  elseif word == 'end' and session then
    finish(place.bufnr, session)
  elseif word == 'end' then
    vim.notify('vibes: no session', vim.log.levels.ERROR)
  else
    vim.notify('vibes: expected :Vibes session start or :Vibes session end', vim.log.levels.ERROR)
  end
end

return M
