-- Who wrote what is recorded: the session that was started here, else a tool and a model.

local ask = require('vibes.questions').ask
local config = require('vibes.config')
local server = require('vibes.server')

local M = {}

local sessions = {} -- by the folder of the project
local named = {} -- what was answered last

local function project(bufnr)
  local client = server.any(bufnr)
  return client and client.root_dir or ''
end

--- Returns the session that was started in the project of a buffer and has not ended.
---@param bufnr integer
---@return string?
function M.session(bufnr)
  return sessions[project(bufnr)]
end

--- Keeps the session of a buffer's project; nil when it has ended.
---@param bufnr integer
---@param id? string
function M.remember(bufnr, id)
  sessions[project(bufnr)] = id
end

local function named_by_user(kind)
  if config.options[kind] then
    return config.options[kind]
  end
  local question = ('Name and version of the %s:'):format(kind)
  while true do
    local name, version = ask(question, named[kind]):match('^%s*(%S.-)%s+(%S+)%s*$')
    if name then
      named[kind] = ('%s %s'):format(name, version)
      return { name = name, version = version }
    end
    question = ('Both are needed, as in "some-%s 1.0":'):format(kind)
  end
end

--- Returns a tool and a model, as members of a recording command: those of the options, else those that the user says. May ask.
---@return table
function M.tool_and_model()
  return { tool = named_by_user('tool'), model = named_by_user('model') }
end

--- Returns who wrote, as members of a recording command. May ask.
---@param bufnr integer
---@return table
function M.origin(bufnr)
  local session = M.session(bufnr)
  return session and { sessionId = session } or M.tool_and_model()
end

--- Ends what was started here: Neovim ends. Each server is given a second.
function M.leave()
  for folder, id in pairs(sessions) do
    for _, client in ipairs(vim.lsp.get_clients({ name = server.name })) do
      if client.root_dir == folder then
        server.run_now(client, 'vibes.endSession', { uri = vim.uri_from_fname(folder), sessionId = id })
      end
    end
  end
end

return M
