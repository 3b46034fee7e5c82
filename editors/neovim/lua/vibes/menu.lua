-- Bare `:Vibes`: lists the commands; Enter runs one.

local documents = require('vibes.documents')

local M = {}

--- Opens the list of commands.
---@param commands { [1]: string, [2]: string, [3]: boolean? }[] name, summary, and whether arguments are required
function M.open(commands)
  local lines = vim.tbl_map(function(command)
    return (' :Vibes %-9s %s'):format(command[1], command[2])
  end, commands)
  local status = require('vibes.statusline').text(0)
  local title = status ~= '' and 'commands · ' .. status or 'commands'
  local bufnr, window = documents.float(title, lines, '<CR> run · q close · :help vibes')
  vim.wo[window].cursorline = true
  vim.keymap.set('n', '<CR>', function()
    local command = commands[vim.api.nvim_win_get_cursor(window)[1]]
    vim.api.nvim_win_close(window, true)
    if command[3] then
      vim.api.nvim_feedkeys((':Vibes %s '):format(command[1]), 'n', false)
    else
      vim.cmd.Vibes(command[1])
    end
  end, { buffer = bufnr, nowait = true, desc = 'Run' })
end

return M
