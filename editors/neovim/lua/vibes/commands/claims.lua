-- `:[range]Vibes claims [all]`: claims and proposals about the lines, or about all lines of the file, with keys that act on them.

local lines = require('vibes.commands.annotation').lines

local M = { words = { 'all' } }

function M.run(words, target)
  if words[1] and words[1] ~= 'all' then
    vim.notify('vibes: expected :Vibes claims or :Vibes claims all', vim.log.levels.ERROR)
    return
  end
  require('vibes.claims_window').open(target.bufnr, {
    range = words[1] ~= 'all' and lines(target) or nil,
    selection = target.is_selection and {
      range = lines(target),
      version = vim.lsp.util.buf_versions[target.bufnr],
    } or nil,
  })
end

return M
