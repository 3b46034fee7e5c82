-- The knowledge base of a file: how many claims rest on its lines, and what a person decides about claims and proposals.

local plain = require('vibes.text').plain
local provenance = require('vibes.provenance')
local questions = require('vibes.questions')
local server = require('vibes.server')

local M = {}

---@class vibes.Place
---@field bufnr integer Selects the server.
---@field uri string A file or folder of the project.

---@class vibes.KnowledgeCounts
---@field claims integer
---@field stale integer Claims whose lines are not as they were quoted.
---@field pending integer Proposals.

---@type table<integer, vibes.KnowledgeCounts> by buffer; none without a knowledge base
local counts = {}
---@type table<integer, integer> by buffer: the last request for its counts
local requests = {}
local listeners = {}
local closed = { superseded = true, archived = true, redacted = true }
local types = { 'observation', 'fact', 'decision', 'preference', 'workflow', 'question', 'warning' }

--- Whether the lines of a claim or proposal are not as they were quoted. What cannot be verified is not known to be stale.
---@param entry table
---@return boolean
function M.is_stale(entry)
  return entry.state == 'edited' or entry.state == 'lost'
end

--- Returns the entries with each id once, stale ones first: one claim may cite several pieces of evidence.
---@param entries table[]
---@param member 'claimId'|'proposalId'
---@return table[]
function M.distinct(entries, member)
  local found, index = {}, {}
  for _, entry in ipairs(entries) do
    local at = index[entry[member]]
    if not at then
      table.insert(found, entry)
      index[entry[member]] = #found
    elseif M.is_stale(entry) and not M.is_stale(found[at]) then
      found[at] = entry
    end
  end
  return found
end

local function count(answer)
  local claims, stale = M.distinct(answer.claims, 'claimId'), 0
  for _, claim in ipairs(claims) do
    stale = stale + (M.is_stale(claim) and 1 or 0)
  end
  return { claims = #claims, stale = stale, pending = #M.distinct(answer.pending, 'proposalId') }
end

local function request_counts(bufnr)
  local request = (requests[bufnr] or 0) + 1
  requests[bufnr] = request
  server.run(bufnr, 'vibes.kbAt', { uri = vim.uri_from_bufnr(bufnr) }, function(err, answer)
    if requests[bufnr] ~= request or not vim.api.nvim_buf_is_loaded(bufnr) then
      return -- a newer request answers
    end
    local found = not err and provenance.is_present(answer.project) and count(answer) or nil
    if not vim.deep_equal(found, counts[bufnr]) then
      counts[bufnr] = found
      for _, listener in ipairs(listeners) do
        listener(bufnr)
      end
    end
  end)
end

--- Calls a function with the buffer whenever its counts change.
---@param listener fun(bufnr: integer)
function M.listen(listener)
  table.insert(listeners, listener)
end

--- Returns the counts of a buffer; nil without a knowledge base.
---@param bufnr integer
---@return vibes.KnowledgeCounts?
function M.counts(bufnr)
  return counts[bufnr]
end

-- Returns a path with slashes. URIs are not compared: characters such as parentheses may be encoded in them, or not.
local function normalize(path)
  return vim.fs.normalize(path, { expand_env = false })
end

--- Requests the counts again, after a change in the knowledge base of a project.
---@param project string its URI
function M.refresh(project)
  local folder = normalize(vim.uri_to_fname(project)):gsub('/*$', '/')
  for _, client in ipairs(vim.lsp.get_clients({ name = server.name })) do
    for bufnr in pairs(client.attached_buffers) do
      if vim.startswith(normalize(vim.api.nvim_buf_get_name(bufnr)), folder) then
        request_counts(bufnr)
      end
    end
  end
  require('vibes.queue').refresh()
end

-- Runs a method of the knowledge base as the person at the editor; says what was done, and calls back.
local function run(place, method, params, done, callback)
  local argument = { uri = place.uri, method = method, params = params }
  server.run_or_notify(place.bufnr, 'vibes.kb', argument, function(result)
    vim.notify('vibes: ' .. done)
    require('vibes.queue').refresh()
    if callback then
      callback(result)
    end
  end)
end

local function quoted(entry)
  return ('“%s”'):format(plain(entry.text, 60))
end

--- Approves a proposal.
---@param place vibes.Place
---@param proposal table
---@param callback? fun()
function M.approve(place, proposal, callback)
  run(place, 'kb.approve', { proposal_id = proposal.proposalId }, 'approved: ' .. quoted(proposal), callback)
end

--- Asks for the reason and rejects a proposal.
---@param place vibes.Place
---@param proposal table
---@param callback? fun()
function M.reject(place, proposal, callback)
  questions.run(function()
    local reason = vim.trim(questions.ask('Why is it rejected?'))
    if reason == '' then
      vim.notify('vibes: not rejected: a reason is needed', vim.log.levels.ERROR)
      return
    end
    local params = { proposal_id = proposal.proposalId, reason = reason }
    run(place, 'kb.reject', params, 'rejected: ' .. quoted(proposal), callback)
  end)
end

--- Confirms that a claim still holds.
---@param place vibes.Place
---@param claim table
---@param callback? fun()
function M.confirm(place, claim, callback)
  run(place, 'kb.confirm', { id = claim.claimId }, 'confirmed: ' .. quoted(claim), callback)
end

--- Asks for the reason, which may be empty, and archives a claim.
---@param place vibes.Place
---@param claim table
---@param callback? fun()
function M.archive(place, claim, callback)
  questions.run(function()
    local reason = vim.trim(questions.ask('Why is it archived? (may be empty)'))
    local params = { id = claim.claimId, reason = reason ~= '' and reason or nil }
    run(place, 'kb.archive', params, 'archived: ' .. quoted(claim), callback)
  end)
end

-- Asks for another open claim, and calls back with it in a coroutine that may ask on.
local function choose_other(place, claim, title, none, callback)
  local list = { uri = place.uri, method = 'kb.list_claims', params = vim.empty_dict() }
  server.run_or_notify(place.bufnr, 'vibes.kb', list, function(claims)
    local others = vim.tbl_filter(function(each)
      return each.id ~= claim.claimId and not closed[each.status]
    end, claims)
    if #others == 0 then
      vim.notify('vibes: no other claim is approved: ' .. none, vim.log.levels.ERROR)
      return
    end
    questions.run(function()
      callback(questions.choose(title, others, function(each)
        return ('%s (%s)'):format(plain(each.text, 100), plain(each.type, 20))
      end))
    end)
  end)
end

--- Asks which approved claim replaces another one, and records that.
---@param place vibes.Place
---@param claim table with `claimId`; `text` if known
---@param callback? fun()
function M.supersede(place, claim, callback)
  local none = 'propose the one that replaces it first'
  choose_other(place, claim, 'Which claim replaces it?', none, function(chosen)
    local params = { old_id = claim.claimId, new_id = chosen.id }
    run(place, 'kb.supersede', params, 'superseded by ' .. quoted(chosen), callback)
  end)
end

--- Asks which approved claim contradicts another one, and records that on both.
---@param place vibes.Place
---@param claim table with `claimId`; `text` if known
---@param callback? fun()
function M.contradict(place, claim, callback)
  local none = 'propose the one that contradicts it first'
  choose_other(place, claim, 'Which claim contradicts it?', none, function(chosen)
    local params = { a_id = claim.claimId, b_id = chosen.id }
    run(place, 'kb.contradict', params, 'contested by ' .. quoted(chosen), callback)
  end)
end

--- Cites lines in place of the evidence of a claim, by default where the evidence is now.
---@param place vibes.Place
---@param claim table
---@param selection? table `range` and `version`
---@param callback? fun()
function M.reanchor(place, claim, selection, callback)
  local lines = selection or claim
  local range = lines.range
  if not provenance.is_present(range) then
    vim.notify('vibes: its lines are gone: select those that show it now, and run :Vibes claims all')
    return
  end
  local argument = { uri = place.uri, claimId = claim.claimId, evidenceId = claim.evidenceId, range = range }
  argument.version = provenance.is_present(lines.version) and lines.version or nil
  server.run_or_notify(place.bufnr, 'vibes.kbReanchor', argument, function()
    vim.notify(('vibes: evidence is lines %d-%d now'):format(range.start.line + 1, range['end'].line))
    if callback then
      callback()
    end
  end)
end

--- Proposes a claim about lines. Asks for text and type, unless the text is given.
---@param bufnr integer
---@param argument table `uri`, `range` and `version`
---@param text? string
function M.propose(bufnr, argument, text)
  questions.run(function()
    local claim = { uri = argument.uri, range = argument.range, version = argument.version, text = text }
    if not text then
      claim.text = vim.trim(questions.ask('What do these lines show?'))
      if claim.text == '' then
        return
      end
      claim.type = questions.choose('Type of the claim', types)
    end
    server.run_or_notify(bufnr, 'vibes.kbPropose', claim, function()
      vim.notify('vibes: claim proposed; :Vibes review lists what waits')
      require('vibes.queue').refresh()
    end)
  end)
end

provenance.listen(function(bufnr)
  if server.client(bufnr) and server.has_knowledge(bufnr) then
    request_counts(bufnr)
  else
    counts[bufnr] = nil
    requests[bufnr] = (requests[bufnr] or 0) + 1
  end
end)

return M
