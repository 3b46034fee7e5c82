-- The latest `vibes/provenance` response for each attached buffer.
-- It is requested again after an edit, and when the server reports a change.

local server = require('vibes.server')

local M = {}

-- Milliseconds between the last edit and the next request; marks move with the text meanwhile.
local request_delay = 200

---@type table<integer, { response?: table, tick?: integer, timer: uv.uv_timer_t }>
local buffers = {}
local listeners = {}

local function notify_listeners(bufnr)
  for _, listener in ipairs(listeners) do
    listener(bufnr)
  end
end

local request

local function request_soon(bufnr)
  buffers[bufnr].timer:start(
    request_delay,
    0,
    vim.schedule_wrap(function()
      request(bufnr)
    end)
  )
end

function request(bufnr)
  if not buffers[bufnr] or not vim.api.nvim_buf_is_loaded(bufnr) then
    return
  end
  if not server.has_trail(bufnr) then -- only a knowledge base
    buffers[bufnr].response = nil
    notify_listeners(bufnr)
    return
  end
  local tick = vim.api.nvim_buf_get_changedtick(bufnr)
  local params = { textDocument = { uri = vim.uri_from_bufnr(bufnr) }, lines = true }
  server.request(bufnr, 'vibes/provenance', params, function(err, response)
    local state = buffers[bufnr]
    if not state or not vim.api.nvim_buf_is_loaded(bufnr) then
      return
    end
    if not err and vim.api.nvim_buf_get_changedtick(bufnr) ~= tick then
      request_soon(bufnr)
      return
    end
    state.response, state.tick = not err and response or nil, tick
    notify_listeners(bufnr)
  end)
end

--- Calls a function with the buffer whenever its placements change.
---@param listener fun(bufnr: integer)
function M.listen(listener)
  table.insert(listeners, listener)
end

--- Requests placements of an attached buffer, now and after each edit.
---@param bufnr integer
function M.attach(bufnr)
  if buffers[bufnr] then
    request(bufnr)
    return
  end
  buffers[bufnr] = { timer = assert(vim.uv.new_timer()) }
  vim.api.nvim_buf_attach(bufnr, false, {
    on_lines = function()
      if not buffers[bufnr] then
        return true
      end
      request_soon(bufnr)
    end,
    on_reload = function()
      if buffers[bufnr] then
        request_soon(bufnr)
      end
    end,
    on_detach = function()
      M.detach(bufnr)
    end,
  })
  request(bufnr)
end

--- Drops the placements of a buffer that the server has detached from.
---@param bufnr integer
function M.detach(bufnr)
  local state = buffers[bufnr]
  if state then
    buffers[bufnr] = nil
    state.timer:stop()
    state.timer:close()
    vim.schedule(function()
      notify_listeners(bufnr)
    end)
  end
end

--- Requests the placements of a document again.
---@param uri string
function M.refresh(uri)
  for bufnr in pairs(buffers) do
    if vim.api.nvim_buf_is_loaded(bufnr) and vim.uri_from_bufnr(bufnr) == uri then
      request(bufnr)
    end
  end
end

--- Returns the latest response for a buffer, perhaps for an earlier text; nil until the server has answered.
---@param bufnr integer
---@return table?
function M.get(bufnr)
  return buffers[bufnr] and buffers[bufnr].response
end

--- Whether the response is for the current text.
---@param bufnr integer
---@return boolean
function M.is_fresh(bufnr)
  local state = buffers[bufnr]
  return state ~= nil and state.response ~= nil and state.tick == vim.api.nvim_buf_get_changedtick(bufnr)
end

--- Returns the placements of a buffer, by id.
---@param bufnr integer
---@return table<string, table>
function M.by_id(bufnr)
  local placements = {}
  for _, placement in ipairs((M.get(bufnr) or { placements = {} }).placements) do
    placements[placement.annotationId] = placement
  end
  return placements
end

--- Returns the annotations of a buffer whose lines could not be found.
---@param bufnr integer
---@return table[]
function M.lost(bufnr)
  return vim.tbl_filter(function(placement)
    return placement.state == 'lost' and not M.is_present(placement.replacedBy)
  end, (M.get(bufnr) or { placements = {} }).placements)
end

--- Whether a placement has unreviewed high or critical risk.
---@param placement table
---@return boolean
function M.is_urgent(placement)
  return placement.waits and (placement.band == 'high' or placement.band == 'critical')
end

--- Whether a JSON value is neither absent nor null (`vim.NIL`).
---@param value any
---@return boolean
function M.is_present(value)
  return value ~= nil and value ~= vim.NIL
end

return M
