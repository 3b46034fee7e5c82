-- What the server last said about each attached buffer; asked again only when it says so, or after an edit.

local server = require('vibes.server')

local M = {}

-- Milliseconds without an edit after which the server is asked again; marks move with the text meanwhile.
local pause = 200

---@type table<integer, { known?: table, tick?: integer, timer: uv.uv_timer_t }>
local buffers = {}
local listeners = {}

local function tell(bufnr)
  for _, listener in ipairs(listeners) do
    listener(bufnr)
  end
end

local ask

local function ask_soon(bufnr)
  buffers[bufnr].timer:start(
    pause,
    0,
    vim.schedule_wrap(function()
      ask(bufnr)
    end)
  )
end

function ask(bufnr)
  if not buffers[bufnr] or not vim.api.nvim_buf_is_loaded(bufnr) then
    return
  end
  local tick = vim.api.nvim_buf_get_changedtick(bufnr)
  local params = { textDocument = { uri = vim.uri_from_bufnr(bufnr) }, lines = true }
  server.request(bufnr, 'vibes/provenance', params, function(err, answer)
    local state = buffers[bufnr]
    if not state or not vim.api.nvim_buf_is_loaded(bufnr) then
      return
    end
    if not err and vim.api.nvim_buf_get_changedtick(bufnr) ~= tick then
      ask_soon(bufnr)
      return
    end
    state.known, state.tick = not err and answer or nil, tick
    tell(bufnr)
  end)
end

--- Has a function called with the buffer whenever there is something new about one.
---@param listener fun(bufnr: integer)
function M.listen(listener)
  table.insert(listeners, listener)
end

--- Follows a buffer that the server is attached to.
---@param bufnr integer
function M.attach(bufnr)
  if buffers[bufnr] then
    ask(bufnr)
    return
  end
  buffers[bufnr] = { timer = assert(vim.uv.new_timer()) }
  vim.api.nvim_buf_attach(bufnr, false, {
    on_lines = function()
      if not buffers[bufnr] then
        return true
      end
      ask_soon(bufnr)
    end,
    on_reload = function()
      if buffers[bufnr] then
        ask_soon(bufnr)
      end
    end,
    on_detach = function()
      M.forget(bufnr)
    end,
  })
  ask(bufnr)
end

--- Drops the placements of a buffer that the server has left.
---@param bufnr integer
function M.forget(bufnr)
  local state = buffers[bufnr]
  if state then
    buffers[bufnr] = nil
    state.timer:stop()
    state.timer:close()
    vim.schedule(function()
      tell(bufnr)
    end)
  end
end

--- Takes note that answers about a document may be others now.
---@param uri string
function M.changed(uri)
  for bufnr in pairs(buffers) do
    if vim.api.nvim_buf_is_loaded(bufnr) and vim.uri_from_bufnr(bufnr) == uri then
      ask(bufnr)
    end
  end
end

--- Returns what is known of a buffer, maybe of its text before the last edits; nil while the server has yet to answer.
---@param bufnr integer
---@return table?
function M.of(bufnr)
  return buffers[bufnr] and buffers[bufnr].known
end

--- Whether what is known is about the text as it is now.
---@param bufnr integer
---@return boolean
function M.is_fresh(bufnr)
  local state = buffers[bufnr]
  return state ~= nil and state.known ~= nil and state.tick == vim.api.nvim_buf_get_changedtick(bufnr)
end

--- Returns the placements of a buffer, by id.
---@param bufnr integer
---@return table<string, table>
function M.by_id(bufnr)
  local found = {}
  for _, placement in ipairs((M.of(bufnr) or { placements = {} }).placements) do
    found[placement.annotationId] = placement
  end
  return found
end

--- Whether a placement has unreviewed high or critical risk.
---@param placement table
---@return boolean
function M.is_pressing(placement)
  return placement.waits and (placement.band == 'high' or placement.band == 'critical')
end

--- Whether a member of an answer is there: JSON's null is not Lua's.
---@param value any
---@return boolean
function M.is(value)
  return value ~= nil and value ~= vim.NIL
end

return M
