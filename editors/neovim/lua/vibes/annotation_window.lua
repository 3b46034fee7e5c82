-- A floating window with prompt and history of annotations. Its keys act on the annotation at the cursor.

local documents = require('vibes.documents')
local plain = require('vibes.text').plain
local provenance = require('vibes.provenance')
local review = require('vibes.commands.review')
local sections = require('vibes.sections')
local server = require('vibes.server')

local M = {}

local footer = 'a approve · r reject · c commit · o record · <CR> code · ? keys'
local max_annotations = 20

-- Calls back with the lines of an annotation: prompt, records, reviews, and earlier annotations of its lines.
local function fetch(bufnr, id, callback)
  local argument = { uri = vim.uri_from_bufnr(bufnr), annotationId = id, show = false }
  server.run(bufnr, 'vibes.showHistory', argument, function(err, history)
    if err then
      callback({ ('Annotation %s: %s'):format(plain(id, 8), plain(err, 400)) })
    else
      callback(vim.split(vim.trim(history.text), '\n', { plain = true }))
    end
  end)
end

-- Calls back with one section for each annotation.
local function fetch_all(bufnr, ids, callback)
  local texts, waiting = {}, #ids
  for _, id in ipairs(ids) do
    fetch(bufnr, id, function(lines)
      texts[id], waiting = lines, waiting - 1
      if waiting == 0 then
        callback(vim.tbl_map(function(each)
          return { lines = texts[each], value = each }
        end, ids))
      end
    end)
  end
end

local function placement_of(bufnr, id)
  for _, placement in ipairs((provenance.get(bufnr) or { placements = {} }).placements) do
    if vim.tbl_contains(placement.ids, id) then
      return placement
    end
  end
  vim.notify('vibes: this annotation is no longer in the file')
end

-- Returns the function of a key that reviews the annotation at the cursor.
local function reviews(bufnr, ids, verdict, record)
  return function(id, view)
    local argument = { uri = vim.uri_from_bufnr(bufnr), annotationIds = { id }, verdict = verdict }
    record(bufnr, argument, function()
      fetch_all(bufnr, ids, function(found)
        sections.refill(view, found)
      end)
    end)
  end
end

local function show_commit(bufnr, id, view)
  local placement = placement_of(bufnr, id)
  if not placement then
    return
  end
  local commit = placement.commitHash
  if type(commit) ~= 'string' or not commit:match('^%x+$') or #commit < 7 then
    vim.notify('vibes: these lines are not committed yet, or their commit is not known')
    return
  end
  documents.close_float(view.window)
  require('vibes.commit').open(server.root(bufnr), commit)
end

local function open_record(bufnr, id, view)
  local argument = { uri = vim.uri_from_bufnr(bufnr), annotationId = id }
  documents.close_float(view.window)
  server.run_or_notify(bufnr, 'vibes.openRecord', argument, function() end)
end

local function go_to_code(bufnr, id, view)
  local placement = placement_of(bufnr, id)
  if placement then
    sections.go_to(view, bufnr, placement.lineStart, 'annotation')
  end
end

local function keys_of(bufnr, ids)
  local function of_file(run)
    return function(id, view)
      run(bufnr, id, view)
    end
  end
  return {
    { 'a', 'Approve', reviews(bufnr, ids, 'approved', review.review) },
    { 'r', 'Reject, with a note', reviews(bufnr, ids, 'rejected', review.reject_with_note) },
    { 'c', 'Show the commit', of_file(show_commit) },
    { 'o', 'Open the record in the audit log', of_file(open_record) },
    { '<CR>', 'Go to the lines', of_file(go_to_code) },
  }
end

--- Opens prompt and history of annotations of a buffer.
---@param bufnr integer
---@param ids string[] ids of annotations; checked, since they come from the server
function M.open(bufnr, ids)
  local checked = vim.tbl_filter(function(id)
    return type(id) == 'string'
  end, type(ids) == 'table' and vim.list_slice(ids, 1, max_annotations) or {})
  if #checked == 0 then
    vim.notify('vibes: no annotation to show')
    return
  end
  fetch_all(bufnr, checked, function(found)
    local view = sections.open('annotation', footer, found, keys_of(bufnr, checked))
    documents.render(view.window)
  end)
end

return M
