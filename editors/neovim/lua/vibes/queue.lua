-- What waits for a person as a quickfix list: annotations, highest risk first, then proposals of the knowledge base.

local documents = require('vibes.documents')
local knowledge = require('vibes.knowledge')
local plain = require('vibes.text').plain
local provenance = require('vibes.provenance')
local server = require('vibes.server')

local M = {}

local quickfix_types = { critical = 'E', high = 'W', medium = 'I', low = 'N' }
local list -- id of the last list that this module created, and the buffer that selects the project

local function annotation_entry(placement)
  local band = provenance.is_present(placement.band) and placement.band or 'no score'
  local score = provenance.is_present(placement.score) and ('%.2f '):format(placement.score) or ''
  local parts = { plain(placement.displayName, 40), score .. band, plain(placement.model.name, 40) }
  if provenance.is_present(placement.age) then
    table.insert(parts, plain(placement.age, 20))
  end
  if provenance.is_present(placement.prompt) then
    table.insert(parts, ('“%s”'):format(plain(placement.prompt, 70)))
  end
  return {
    filename = vim.uri_to_fname(placement.uri),
    lnum = placement.lineStart,
    end_lnum = placement.lineEnd,
    col = 1,
    type = quickfix_types[band],
    text = table.concat(parts, ' · '),
    user_data = { uri = placement.uri, annotationId = placement.annotationId },
  }
end

local function proposal_entry(proposal, project)
  local has_lines = provenance.is_present(proposal.uri) and provenance.is_present(proposal.lineStart)
  local kind = ('proposed %s'):format(plain(proposal.kind, 20))
  local by = ('by %s'):format(plain(proposal.proposedBy, 40))
  return {
    filename = provenance.is_present(proposal.uri) and vim.uri_to_fname(proposal.uri) or nil,
    lnum = has_lines and proposal.lineStart or nil,
    end_lnum = has_lines and proposal.lineEnd or nil,
    valid = has_lines and 1 or 0,
    type = 'I',
    text = ('%s · “%s” · %s'):format(kind, plain(proposal.text, 100), by),
    user_data = { uri = project, proposalId = proposal.proposalId, text = plain(proposal.text) },
  }
end

local function title_of(queue, proposals)
  local parts = {}
  if queue.total > 0 or #proposals == 0 then
    local riskiest = #queue.placements < queue.total and ('the riskiest %d of '):format(#queue.placements) or ''
    table.insert(parts, ('%s%d to review'):format(riskiest, queue.total))
  end
  if #proposals > 0 then
    table.insert(parts, ('%d proposed'):format(#proposals))
  end
  return ('VIBES: %s · ? shows the keys'):format(table.concat(parts, ', '))
end

-- Calls back with title and items, or with an error.
local function fetch(bufnr, callback)
  local queue, pending = { placements = {}, total = 0 }, { pending = {} }
  local waiting, failed = 0, nil
  local function ask(command, keep)
    waiting = waiting + 1
    server.run(bufnr, command, { uri = server.uri(bufnr) }, function(err, answer)
      waiting, failed = waiting - 1, failed or err
      if not err then
        keep(answer)
      end
      if waiting == 0 and failed then
        callback(failed)
      elseif waiting == 0 then
        local items = vim.tbl_map(annotation_entry, queue.placements)
        for _, proposal in ipairs(pending.pending) do
          table.insert(items, proposal_entry(proposal, pending.project))
        end
        callback(nil, { title = title_of(queue, pending.pending), items = items })
      end
    end)
  end
  local has_knowledge = server.has_knowledge(bufnr)
  if has_knowledge then
    waiting = 1 -- an answer may come before the second request is sent
  end
  if server.has_trail(bufnr) or not has_knowledge then
    ask('vibes.queue', function(answer)
      queue = answer
    end)
  end
  if has_knowledge then
    waiting = waiting - 1
    ask('vibes.kbPending', function(answer)
      pending = answer
    end)
  end
end

-- Returns the quickfix window, if it shows our list.
local function window()
  local current = vim.fn.getqflist({ id = 0, winid = 0 })
  return list ~= nil and current.id == list.id and current.winid ~= 0 and current.winid or nil
end

local function entry_at_cursor()
  local items = vim.fn.getqflist({ items = 0 }).items
  local item = items[vim.api.nvim_win_get_cursor(0)[1]]
  return item and type(item.user_data) == 'table' and item.user_data or nil
end

-- Returns the function of a key: in another list the key does what it did before.
local function acts(key, on_annotation, on_proposal)
  return function()
    if not window() then
      vim.api.nvim_feedkeys(vim.keycode(key), 'n', false)
      return
    end
    local entry = entry_at_cursor()
    if entry and entry.proposalId then
      on_proposal({ bufnr = list.bufnr, uri = entry.uri }, entry)
    elseif entry then
      on_annotation(list.bufnr, { uri = entry.uri, annotationIds = { entry.annotationId } })
    end
  end
end

local function approve_annotation(bufnr, argument)
  require('vibes.commands.review').review(bufnr, vim.tbl_extend('error', argument, { verdict = 'approved' }))
end

local function reject_annotation(bufnr, argument)
  local rejected = vim.tbl_extend('error', argument, { verdict = 'rejected' })
  require('vibes.commands.review').reject_with_note(bufnr, rejected)
end

local function show_keys()
  local lines = {}
  for key, what in vim.spairs({ a = 'Approve', r = 'Reject, with a note or reason', ['<CR>'] = 'Go to the lines' }) do
    table.insert(lines, (' %-6s %s'):format(key, what))
  end
  documents.float('keys', lines)
end

local function map_keys(bufnr)
  local keys = {
    a = { 'Approve', acts('a', approve_annotation, knowledge.approve) },
    r = { 'Reject, with a note or reason', acts('r', reject_annotation, knowledge.reject) },
    ['?'] = { 'Show these keys', acts('?', show_keys, show_keys) },
  }
  for key, mapped in pairs(keys) do
    vim.keymap.set('n', key, mapped[2], { buffer = bufnr, nowait = true, desc = mapped[1] })
  end
end

--- Opens the list.
---@param bufnr integer selects the project; without an attached server, the first one
function M.open(bufnr)
  fetch(bufnr, function(err, found)
    if err then
      vim.notify('vibes: ' .. plain(err, 400), vim.log.levels.ERROR)
    elseif #found.items == 0 then
      vim.notify('vibes: nothing to review')
    else
      vim.fn.setqflist({}, ' ', found)
      list = { id = vim.fn.getqflist({ id = 0 }).id, bufnr = bufnr }
      vim.cmd('botright copen')
      map_keys(vim.api.nvim_get_current_buf())
    end
  end)
end

--- Refreshes the list if it is open.
function M.refresh()
  if not window() then
    return
  end
  fetch(list.bufnr, function(err, found)
    local shown = window()
    if shown and not err then
      local row = vim.api.nvim_win_get_cursor(shown)[1]
      found.id = list.id
      vim.fn.setqflist({}, 'r', found)
      row = math.max(1, math.min(row, #found.items))
      vim.api.nvim_win_set_cursor(shown, { row, 0 })
    end
  end)
end

return M
