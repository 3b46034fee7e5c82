-- A floating window with prompt and history of annotations. Its keys act on the annotation at the cursor.

local documents = require('vibes.documents')
local plain = require('vibes.text').plain
local provenance = require('vibes.provenance')
local review = require('vibes.commands.review')
local server = require('vibes.server')

local M = {}

local title = 'annotation'
local footer = 'a approve · r reject · c commit · o record · <CR> code · ? keys'
local max_annotations = 20

---@class vibes.AnnotationWindow
---@field bufnr integer Buffer of the file.
---@field ids string[]
---@field window? integer
---@field rows table<integer, string> Annotation id by the row at which its text starts.

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

-- Calls back with the lines of all annotations, and the row at which each starts.
local function fetch_all(bufnr, ids, callback)
  local texts, waiting = {}, #ids
  for _, id in ipairs(ids) do
    fetch(bufnr, id, function(lines)
      texts[id], waiting = lines, waiting - 1
      if waiting > 0 then
        return
      end
      local all, rows = {}, {}
      for number, each in ipairs(ids) do
        if number > 1 then
          vim.list_extend(all, { '', '---', '' })
        end
        rows[#all + 1] = each
        vim.list_extend(all, texts[each])
      end
      callback(all, rows)
    end)
  end
end

-- Returns the id of the annotation at the cursor.
local function id_at_cursor(state)
  local row = vim.api.nvim_win_get_cursor(state.window)[1]
  while row > 1 and not state.rows[row] do
    row = row - 1
  end
  return state.rows[row] or state.ids[1]
end

local function placement_of(state)
  local id = id_at_cursor(state)
  for _, placement in ipairs((provenance.get(state.bufnr) or { placements = {} }).placements) do
    if vim.tbl_contains(placement.ids, id) then
      return placement
    end
  end
  vim.notify('vibes: this annotation is no longer in the file')
end

local function close(state)
  if state.window and vim.api.nvim_win_is_valid(state.window) then
    vim.api.nvim_win_close(state.window, true)
  end
end

local function refresh(state)
  fetch_all(state.bufnr, state.ids, function(lines, rows)
    if vim.api.nvim_win_is_valid(state.window) then
      state.rows = rows
      documents.refill_float(state.window, title, lines, footer)
    end
  end)
end

-- Returns the function of a key that reviews the annotation at the cursor.
local function reviews(verdict, record)
  return function(state)
    local argument = {
      uri = vim.uri_from_bufnr(state.bufnr),
      annotationIds = { id_at_cursor(state) },
      verdict = verdict,
    }
    record(state.bufnr, argument, function()
      refresh(state)
    end)
  end
end

local function show_commit(state)
  local placement = placement_of(state)
  if not placement then
    return
  end
  local commit = placement.commitHash
  if type(commit) ~= 'string' or not commit:match('^%x+$') or #commit < 7 then
    vim.notify('vibes: these lines are not committed yet, or their commit is not known')
    return
  end
  close(state)
  require('vibes.commit').open(server.root(state.bufnr), commit)
end

local function open_record(state)
  local argument = { uri = vim.uri_from_bufnr(state.bufnr), annotationId = id_at_cursor(state) }
  close(state)
  server.run_or_notify(state.bufnr, 'vibes.openRecord', argument, function() end)
end

local function go_to_code(state)
  local placement = placement_of(state)
  if not placement then
    return
  end
  if not provenance.is_present(placement.lineStart) then
    vim.notify('vibes: the lines of this annotation were not found')
    return
  end
  close(state)
  local windows = vim.fn.win_findbuf(state.bufnr)
  if windows[1] then
    vim.api.nvim_set_current_win(windows[1])
  else
    vim.cmd.sbuffer(state.bufnr)
  end
  local line = math.min(placement.lineStart, vim.api.nvim_buf_line_count(state.bufnr))
  vim.cmd("normal! m'")
  vim.api.nvim_win_set_cursor(0, { line, 0 })
end

local function keys_of(state)
  local function key(name, description, run)
    return {
      name,
      description,
      function()
        run(state)
      end,
    }
  end
  return {
    key('a', 'Approve', reviews('approved', review.review)),
    key('r', 'Reject, with a note', reviews('rejected', review.reject_with_note)),
    key('c', 'Show the commit', show_commit),
    key('o', 'Open the record in the audit log', open_record),
    key('<CR>', 'Go to the lines', go_to_code),
    key('q', 'Close', close),
    key('<Esc>', 'Close', close),
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
  local state = { bufnr = bufnr, ids = checked, rows = {} }
  fetch_all(bufnr, checked, function(lines, rows)
    state.rows = rows
    local shown, window = documents.float(title, lines, footer)
    state.window = window
    documents.render(window)
    documents.map_keys(shown, keys_of(state))
  end)
end

return M
