-- `:[range]Vibes record create|modify|delete|function|decision|command|read|delegation|relation ...`: records what an AI did.

local lines = require('vibes.commands.annotation').lines
local placement_at = require('vibes.commands.annotation').placement_at
local authors = require('vibes.authors')
local plain = require('vibes.text').plain
local questions = require('vibes.questions')
local server = require('vibes.server')

local M = {
  words = { 'create', 'modify', 'delete', 'function', 'decision', 'command', 'read', 'delegation', 'relation' },
}

local max_options = 9
local relations = { 'depends_on', 'informed_by', 'caused_by', 'supersedes' }
local node_types = { record = 'annotation', entry = 'context', session = 'session' } -- node type by the `kind` of a `vibes.show` result

local function prompt(words)
  local text = table.concat(words, ' ')
  return text ~= '' and { text = text, type = 'user_instruction' } or nil
end

local function notify_result(result)
  if result.untracked then
    vim.notify('vibes: not a tracked file, nothing was recorded', vim.log.levels.WARN)
    return
  end
  local messages = { 'vibes: recorded' }
  for _, what in ipairs({ 'withheld', 'leftOut' }) do
    local names = table.concat(result[what] or {}, ', ')
    if names ~= '' then
      table.insert(messages, ('not recorded: %s'):format(plain(names, 100)))
    end
  end
  if (result.masked or 0) > 0 then
    table.insert(messages, ('secrets masked: %d'):format(result.masked))
  end
  vim.notify(table.concat(messages, '; '))
end

-- The version is taken before the questions: the lines refer to that text.
local function annotate(target, members_of)
  if not server.uri(target.bufnr) then
    vim.notify('vibes: no audit trail owns this file; see :checkhealth vibes', vim.log.levels.ERROR)
    return
  end
  local about = { uri = server.uri(target.bufnr), version = vim.lsp.util.buf_versions[target.bufnr] }
  questions.run(function()
    local annotation = vim.tbl_extend('error', about, authors.origin(target.bufnr), members_of())
    server.run_or_notify(target.bufnr, 'vibes.recordAnnotation', annotation, notify_result)
  end)
end

local function record_lines(action)
  return function(words, target)
    annotate(target, function()
      return { range = lines(target), action = action, prompt = prompt(words) }
    end)
  end
end

-- The server reads the deleted lines from the saved file, so they must still be in it.
local function record_deletion(words, target)
  if vim.bo[target.bufnr].modified then
    vim.notify('vibes: save the file first, with the lines to delete', vim.log.levels.ERROR)
    return
  end
  record_lines('delete')(words, target)
end

local function record_function(words, target)
  local name = table.remove(words, 1)
  if not name then
    vim.notify('vibes: name the function: :Vibes record function NAME', vim.log.levels.ERROR)
    return
  end
  annotate(target, function()
    local action = questions.choose(('What was done with %s?'):format(plain(name, 60)), { 'create', 'modify' })
    local range = target.is_selection and lines(target) or nil
    return { ['function'] = { name = name }, range = range, action = action, prompt = prompt(words) }
  end)
end

local function record_decision(_, target)
  annotate(target, function()
    local action = questions.choose('What was done with the lines?', { 'create', 'modify' })
    local point = questions.ask('What was decided?')
    local texts, options = {}, {}
    repeat
      local text = questions.ask(#texts < 2 and ('Option %d:'):format(#texts + 1) or 'Another option, or nothing:')
      if text ~= '' then
        table.insert(texts, text)
        table.insert(options, { id = ('option-%d'):format(#texts), description = text })
      end
    until #texts == max_options or (text == '' and #texts >= 2)
    local chosen = questions.choose('Which one was chosen?', texts)
    local selected
    for number, text in ipairs(texts) do
      selected = text == chosen and options[number].id or selected
    end
    local rationale = questions.ask('Why?')
    local decision = { decisionPoint = point, options = options, selected = selected, rationale = rationale }
    return { range = lines(target), action = action, decision = decision }
  end)
end

-- Records an event of the session that concerns no lines.
local function record_session(target, command, members)
  local session = authors.session(target.bufnr)
  if not session then
    vim.notify('vibes: start a session first: :Vibes session start', vim.log.levels.ERROR)
    return
  end
  local argument = vim.tbl_extend('error', { uri = server.uri(target.bufnr), sessionId = session }, members)
  server.run_or_notify(target.bufnr, command, argument, notify_result)
end

local function record_command(words, target)
  local text = table.concat(words, ' ')
  if text == '' then
    vim.notify('vibes: name the command, as in :Vibes record command make test', vim.log.levels.ERROR)
    return
  end
  record_session(target, 'vibes.recordCommand', { command = { text = text, type = 'shell' } })
end

local function record_read(words, target)
  local files = #words > 0 and words or { vim.api.nvim_buf_get_name(target.bufnr) }
  local absolute = vim.tbl_map(function(file)
    return vim.fn.fnamemodify(file, ':p')
  end, files)
  record_session(target, 'vibes.recordRead', { files = absolute })
end

local function record_delegation(words, target)
  local session = authors.session(target.bufnr)
  local task = table.concat(words, ' ')
  if not session or task == '' then
    local missing = session and 'name the task, as in :Vibes record delegation Write the tests.'
      or 'start a session first: :Vibes session start'
    vim.notify('vibes: ' .. missing, vim.log.levels.ERROR)
    return
  end
  questions.run(function()
    local delegation = authors.tool_and_model()
    delegation.uri, delegation.parentSessionId, delegation.taskDescription = server.uri(target.bufnr), session, task
    server.run_or_notify(target.bufnr, 'vibes.recordDelegation', delegation, function(result)
      vim.notify("vibes: recorded; the agent's session is " .. result.childSessionId)
    end)
  end)
end

local function record_relation(words, target)
  local kind, id = words[1], words[2]
  if not id or not vim.tbl_contains(relations, kind) then
    local message = 'vibes: expected :Vibes record relation %s ID'
    vim.notify(message:format(table.concat(relations, '|')), vim.log.levels.ERROR)
    return
  end
  local source = placement_at(target)
  if not source then
    return
  end
  local uri = server.uri(target.bufnr)
  server.run_or_notify(target.bufnr, 'vibes.show', { uri = uri, id = id }, function(found)
    local edge = { uri = uri, edgeType = kind, sourceRef = source.annotationId, sourceType = 'annotation' }
    edge.targetRef, edge.targetType = found.id, node_types[found.kind] or 'annotation'
    server.run_or_notify(target.bufnr, 'vibes.recordEdge', edge, notify_result)
  end)
end

local kinds = {
  create = record_lines('create'),
  modify = record_lines('modify'),
  delete = record_deletion,
  ['function'] = record_function,
  decision = record_decision,
  command = record_command,
  read = record_read,
  delegation = record_delegation,
  relation = record_relation,
}

function M.run(words, target)
  local kind = table.remove(words, 1)
  if not kinds[kind] then
    local message = 'vibes: expected :Vibes record ' .. table.concat(M.words, '|')
    vim.notify(message, vim.log.levels.ERROR)
    return
  end
  kinds[kind](words, target)
end

--- Returns completion candidates after the kind.
---@param words string[] the complete words before the cursor
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
