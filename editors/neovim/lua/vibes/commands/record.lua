-- Records what an AI did: `:[range]Vibes record create|modify|delete|function|decision|command|read|delegation|relation ...`.

local annotation_at = require('vibes.commands.annotation').at
local authors = require('vibes.authors')
local plain = require('vibes.text').plain
local questions = require('vibes.questions')
local server = require('vibes.server')

local M = {
  words = { 'create', 'modify', 'delete', 'function', 'decision', 'command', 'read', 'delegation', 'relation' },
}

local most_options = 9
local relations = { 'depends_on', 'informed_by', 'caused_by', 'supersedes' }
local ends = { record = 'annotation', entry = 'context', session = 'session' } -- kinds of what is found by an id

local function prompt(words)
  local text = table.concat(words, ' ')
  return text ~= '' and { text = text, type = 'user_instruction' } or nil
end

local function lines(place)
  return { start = { line = place.first - 1, character = 0 }, ['end'] = { line = place.last, character = 0 } }
end

local function tell(result)
  if result.untracked then
    vim.notify('vibes: not a tracked file, nothing was recorded', vim.log.levels.WARN)
    return
  end
  local said = { 'vibes: recorded' }
  for _, what in ipairs({ 'withheld', 'leftOut' }) do
    local names = table.concat(result[what] or {}, ', ')
    if names ~= '' then
      table.insert(said, ('not recorded: %s'):format(plain(names, 100)))
    end
  end
  if (result.masked or 0) > 0 then
    table.insert(said, ('secrets masked: %d'):format(result.masked))
  end
  vim.notify(table.concat(said, '; '))
end

-- What is said of lines is about the text as it is now, not as it is when all questions are answered.
local function annotate(place, members_of)
  if not server.uri(place.bufnr) then
    vim.notify('vibes: no audit trail owns this file; see :checkhealth vibes', vim.log.levels.ERROR)
    return
  end
  local about = { uri = server.uri(place.bufnr), version = vim.lsp.util.buf_versions[place.bufnr] }
  questions.run(function()
    local annotation = vim.tbl_extend('error', about, authors.origin(place.bufnr), members_of())
    server.attempt(place.bufnr, 'vibes.recordAnnotation', annotation, tell)
  end)
end

local function of_lines(action)
  return function(words, place)
    annotate(place, function()
      return { range = lines(place), action = action, prompt = prompt(words) }
    end)
  end
end

-- The server takes them from what is saved: with the lines in it still.
local function of_deletion(words, place)
  if vim.bo[place.bufnr].modified then
    vim.notify('vibes: save the file first, with the lines to delete', vim.log.levels.ERROR)
    return
  end
  of_lines('delete')(words, place)
end

local function of_function(words, place)
  local name = table.remove(words, 1)
  if not name then
    vim.notify('vibes: name the function: :Vibes record function NAME', vim.log.levels.ERROR)
    return
  end
  annotate(place, function()
    local action = questions.choose(('What was done with %s?'):format(plain(name, 60)), { 'create', 'modify' })
    local range = place.is_selection and lines(place) or nil
    return { ['function'] = { name = name }, range = range, action = action, prompt = prompt(words) }
  end)
end

local function of_decision(_, place)
  annotate(place, function()
    local action = questions.choose('What was done with the lines?', { 'create', 'modify' })
    local point = questions.ask('What was decided?')
    local texts, options = {}, {}
    repeat
      local text = questions.ask(#texts < 2 and ('Option %d:'):format(#texts + 1) or 'Another option, or nothing:')
      if text ~= '' then
        table.insert(texts, text)
        table.insert(options, { id = ('option-%d'):format(#texts), description = text })
      end
    until #texts == most_options or (text == '' and #texts >= 2)
    local chosen = questions.choose('Which one was chosen?', texts)
    local selected
    for number, text in ipairs(texts) do
      selected = text == chosen and options[number].id or selected
    end
    local rationale = questions.ask('Why?')
    local decision = { decisionPoint = point, options = options, selected = selected, rationale = rationale }
    return { range = lines(place), action = action, decision = decision }
  end)
end

-- What a session did, and not what became of lines.
local function of_session(place, command, members)
  local session = authors.session(place.bufnr)
  if not session then
    vim.notify('vibes: start a session first: :Vibes session start', vim.log.levels.ERROR)
    return
  end
  local whole = vim.tbl_extend('error', { uri = server.uri(place.bufnr), sessionId = session }, members)
  server.attempt(place.bufnr, command, whole, tell)
end

local function of_command(words, place)
  local text = table.concat(words, ' ')
  if text == '' then
    vim.notify('vibes: name the command, as in :Vibes record command make test', vim.log.levels.ERROR)
    return
  end
  of_session(place, 'vibes.recordCommand', { command = { text = text, type = 'shell' } })
end

local function of_read(words, place)
  local files = #words > 0 and words or { vim.api.nvim_buf_get_name(place.bufnr) }
  local absolute = vim.tbl_map(function(file)
    return vim.fn.fnamemodify(file, ':p')
  end, files)
  of_session(place, 'vibes.recordRead', { files = absolute })
end

local function of_delegation(words, place)
  local session = authors.session(place.bufnr)
  local task = table.concat(words, ' ')
  if not session or task == '' then
    local missing = session and 'name the task, as in :Vibes record delegation Write the tests.'
      or 'start a session first: :Vibes session start'
    vim.notify('vibes: ' .. missing, vim.log.levels.ERROR)
    return
  end
  questions.run(function()
    local delegation = authors.tool_and_model()
    delegation.uri, delegation.parentSessionId, delegation.taskDescription = server.uri(place.bufnr), session, task
    server.attempt(place.bufnr, 'vibes.recordDelegation', delegation, function(result)
      vim.notify("vibes: recorded; the agent's session is " .. result.childSessionId)
    end)
  end)
end

local function of_relation(words, place)
  local kind, id = words[1], words[2]
  if not id or not vim.tbl_contains(relations, kind) then
    local message = 'vibes: expected :Vibes record relation %s ID'
    vim.notify(message:format(table.concat(relations, '|')), vim.log.levels.ERROR)
    return
  end
  local source = annotation_at(place)
  if not source then
    return
  end
  local uri = server.uri(place.bufnr)
  server.attempt(place.bufnr, 'vibes.show', { uri = uri, id = id }, function(found)
    local edge = { uri = uri, edgeType = kind, sourceRef = source.annotationId, sourceType = 'annotation' }
    edge.targetRef, edge.targetType = found.id, ends[found.kind] or 'annotation'
    server.attempt(place.bufnr, 'vibes.recordEdge', edge, tell)
  end)
end

local kinds = {
  create = of_lines('create'),
  modify = of_lines('modify'),
  delete = of_deletion,
  ['function'] = of_function,
  decision = of_decision,
  command = of_command,
  read = of_read,
  delegation = of_delegation,
  relation = of_relation,
}

function M.run(words, place)
  local kind = table.remove(words, 1)
  if not kinds[kind] then
    local message = 'vibes: expected :Vibes record ' .. table.concat(M.words, '|')
    vim.notify(message, vim.log.levels.ERROR)
    return
  end
  kinds[kind](words, place)
end

--- Returns what may stand behind the kind.
---@param words string[] those before the one that is typed
---@param lead string
---@return string[]
function M.complete(words, lead)
  if words[1] == 'read' then
    return vim.fn.getcompletion(lead, 'file')
  elseif words[1] == 'relation' then
    return #words == 1 and relations or {}
  end
  return words[1] == 'function' and #words == 1 and { vim.fn.expand('<cword>') } or {}
end

return M
