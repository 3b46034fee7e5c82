-- The author of a record: the current session, else a tool and a model.

local ask = require('vibes.questions').ask
local config = require('vibes.config')
local server = require('vibes.server')

local M = {}

local sessions = {} -- session id by project folder
local answers = {} -- last answer by kind; the default of the next question

local function project(bufnr)
  local client = server.any_client(bufnr)
  return client and client.root_dir or ''
end

--- Returns the current session of a buffer's project.
---@param bufnr integer
---@return string?
function M.session(bufnr)
  return sessions[project(bufnr)]
end

--- Sets the current session of a buffer's project; nil if it has ended.
---@param bufnr integer
---@param id? string
function M.set_session(bufnr, id)
  sessions[project(bufnr)] = id
end

local function name_and_version(kind)
  if config.options[kind] then
    return config.options[kind]
  end
  local question = ('Name and version of the %s:'):format(kind)
  while true do
    local name, version = ask(question, answers[kind]):match('^%s*(%S.-)%s+(%S+)%s*$')
    if name then
      answers[kind] = ('%s %s'):format(name, version)
      return { name = name, version = version }
    end
    question = ('Both are needed, as in "some-%s 1.0":'):format(kind)
  end
end

--- Returns tool and model as members of a recording command. Asks for those that the options do not set.
---@return table
function M.tool_and_model()
  return { tool = name_and_version('tool'), model = name_and_version('model') }
end

--- Returns the author as members of a recording command. May ask.
---@param bufnr integer
---@return table
function M.origin(bufnr)
  local session = M.session(bufnr)
  return session and { sessionId = session } or M.tool_and_model()
end

--- Ends all sessions when Neovim exits. Waits at most one second for each server.
function M.end_sessions()
  for folder, id in pairs(sessions) do
    for _, client in ipairs(vim.lsp.get_clients({ name = server.name })) do
      if client.root_dir == folder then
        server.run_sync(client, 'vibes.endSession', { uri = vim.uri_from_fname(folder), sessionId = id })
      end
    end
  end
end

return M
