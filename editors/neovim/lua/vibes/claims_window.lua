-- A floating window with claims and proposals about lines. Its keys act on the one at the cursor.

local documents = require('vibes.documents')
local knowledge = require('vibes.knowledge')
local plain = require('vibes.text').plain
local provenance = require('vibes.provenance')
local sections = require('vibes.sections')
local server = require('vibes.server')

local M = {}

local max_quoted = 8

-- Returns lines of code as they are, but for what a terminal would act on.
local function quote(entry)
  local lines = {}
  if type(entry.quote) == 'string' then
    for line in vim.gsplit(entry.quote, '\n', { plain = true }) do
      if #lines == max_quoted then
        table.insert(lines, '  …')
        break
      end
      local indent = line:match('^ *'):sub(1, 40)
      table.insert(lines, ('  │ %s%s'):format(indent, plain(line, 200)))
    end
  end
  return lines
end

local function lines_text(first, last)
  return first == last and ('line %d'):format(first) or ('lines %d-%d'):format(first, last)
end

local function evidence(entry)
  local state = plain(entry.stateText, 80):gsub('^lines ', '')
  if provenance.is_present(entry.lineStart) then
    return ('Evidence: %s, %s'):format(lines_text(entry.lineStart, entry.lineEnd), state)
  end
  return ('Evidence: %s, %s'):format(lines_text(entry.recordedLineStart, entry.recordedLineEnd), state)
end

-- Returns a section of what an entry is, what it says, who stands for it, and its evidence.
local function section(entry, kind, ...)
  local lines = { kind, plain(entry.text, 2000), ... }
  local groups = { 'VibesText', 'Title' }
  table.insert(lines, evidence(entry))
  if knowledge.is_stale(entry) then
    groups[#lines] = 'DiagnosticWarn'
  end
  for _, line in ipairs(quote(entry)) do
    table.insert(lines, line)
    groups[#lines] = 'VibesText'
  end
  return { lines = lines, value = entry, groups = groups }
end

local function facts(...)
  return table.concat(
    vim.tbl_filter(function(fact)
      return fact ~= ''
    end, { ... }),
    ' · '
  )
end

local function confidence(entry)
  return type(entry.confidence) == 'number' and ('confidence %.0f%%'):format(100 * entry.confidence) or ''
end

local function claim_section(claim)
  local approver = plain(claim.approvedBy, 40)
  local kind = facts('Claim', plain(claim.type, 20), plain(claim.status, 20), confidence(claim))
  local proof = claim.isApproverProven and '' or ' (not proven)'
  local by = approver ~= '' and 'approved by ' .. approver .. proof or 'approver unknown'
  return section(claim, kind, facts(by, plain(claim.ageText, 40)))
end

local function proposal_section(proposal)
  local kind = facts('Proposed ' .. plain(proposal.kind, 20), plain(proposal.type, 20), confidence(proposal))
  local by = facts('proposed by ' .. plain(proposal.proposedBy, 40), plain(proposal.ageText, 40))
  local rationale = plain(proposal.rationale, 1000)
  if rationale ~= '' then
    return section(proposal, kind, by, 'because: ' .. rationale)
  end
  return section(proposal, kind, by)
end

-- Calls back with the sections of what is wanted, proposals first.
local function fetch(bufnr, wanted, callback)
  local argument = { uri = vim.uri_from_bufnr(bufnr), range = wanted.range }
  server.run_or_notify(bufnr, 'vibes.kbAt', argument, function(answer)
    if not provenance.is_present(answer.project) then
      vim.notify('vibes: there is no knowledge base (.vouch) above this file')
      return
    end
    local function keep(entries, member, ids)
      local found = vim.tbl_filter(function(entry)
        return ids == nil or vim.tbl_contains(ids, entry[member])
      end, entries)
      return knowledge.distinct(found, member)
    end
    for _, claim in ipairs(answer.claims) do
      claim.version = answer.version -- its range is in this one
    end
    local found = vim.tbl_map(proposal_section, keep(answer.pending, 'proposalId', wanted.proposalIds))
    vim.list_extend(found, vim.tbl_map(claim_section, keep(answer.claims, 'claimId', wanted.claimIds)))
    callback(found)
  end)
end

local function keys_of(bufnr, wanted)
  local place = { bufnr = bufnr, uri = vim.uri_from_bufnr(bufnr) }
  local function refresh(view)
    fetch(bufnr, wanted, function(found)
      if #found == 0 then
        documents.close_float(view.window)
      else
        sections.refill(view, found)
      end
    end)
  end
  -- Returns the function of a key for claims, or for proposals.
  local function only(member, what, act)
    return function(entry, view)
      if entry[member] == nil then
        vim.notify(('vibes: this is for %s; ? shows the keys'):format(what))
        return
      end
      act(place, entry, function()
        refresh(view)
      end)
    end
  end
  local function reanchor(_, claim, callback)
    knowledge.reanchor(place, claim, wanted.selection, callback)
  end
  local function go_to(entry, view)
    sections.go_to(view, bufnr, entry.lineStart, 'evidence')
  end
  return {
    { 'a', 'Approve the proposal', only('proposalId', 'proposals', knowledge.approve) },
    { 'r', 'Reject the proposal, with a reason', only('proposalId', 'proposals', knowledge.reject) },
    { 'c', 'Confirm that the claim still holds', only('claimId', 'claims', knowledge.confirm) },
    { 's', 'Supersede the claim by another', only('claimId', 'claims', knowledge.supersede) },
    { 'd', 'Record a claim that contradicts it', only('claimId', 'claims', knowledge.contradict) },
    { 'x', 'Archive the claim', only('claimId', 'claims', knowledge.archive) },
    { 'n', 'New evidence: the lines as they are now, or the selected ones', only('claimId', 'claims', reanchor) },
    { '<CR>', 'Go to the lines', go_to },
  }
end

local function footer_of(found)
  local is_proposal = found[1].value.proposalId ~= nil
  local first = is_proposal and 'a approve · r reject · <CR> code'
    or 'c confirm · s supersede · d contradict · x archive · n evidence'
  return first .. ' · ? keys' -- as wide as a terminal of 80 columns has room for
end

---@class vibes.WantedClaims
---@field range? table LSP range that they touch; by default all of the file.
---@field selection? table `range` and `version` of the lines that become new evidence.
---@field claimIds? string[]
---@field proposalIds? string[]

--- Opens claims and proposals of a buffer.
---@param bufnr integer
---@param wanted vibes.WantedClaims
function M.open(bufnr, wanted)
  fetch(bufnr, wanted, function(found)
    if #found == 0 then
      local what = wanted.range and 'no claim is about this line; :Vibes claims all lists those of the file'
        or 'no claim is about this file'
      vim.notify('vibes: ' .. what)
    else
      sections.open('claims', footer_of(found), found, keys_of(bufnr, wanted))
    end
  end)
end

return M
