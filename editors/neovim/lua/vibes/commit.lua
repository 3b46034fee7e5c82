-- Shows a commit in a scratch buffer.

local documents = require('vibes.documents')

local M = {}

local max_lines = 20000
-- Nothing in the repository may choose a program to run: no hooks, external diffs, text conversion or signature check.
local git = { 'git', '--no-pager', '-c', 'core.fsmonitor=false', '-c', 'log.showSignature=false', 'show' }
local options = { '--no-color', '--no-ext-diff', '--no-textconv', '--stat', '--patch', '--end-of-options' }

--- Opens a commit in a window beside the current one.
---@param root string folder of the project
---@param commit string hexadecimal hash
function M.open(root, commit)
  local command = vim.list_extend(vim.list_extend(vim.list_slice(git), options), { commit })
  vim.system(command, { cwd = root, text = true }, function(done)
    vim.schedule(function()
      if done.code ~= 0 then
        local why = require('vibes.text').plain(done.stderr, 200)
        vim.notify(('vibes: git does not show %s: %s'):format(commit:sub(1, 8), why), vim.log.levels.ERROR)
        return
      end
      local lines = vim.list_slice(vim.split(vim.trim(done.stdout), '\n', { plain = true }), 1, max_lines)
      local bufnr = documents.open_beside('VIBES commit ' .. commit:sub(1, 8), lines)
      vim.bo[bufnr].syntax = 'git'
    end)
  end)
end

return M
