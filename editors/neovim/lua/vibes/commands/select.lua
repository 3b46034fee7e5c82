-- `:Vibes select`: selects the lines of the annotation at the cursor; in a mapping, a text object.

local M = {}

function M.run(_, target)
  require('vibes.navigation').select(target.bufnr)
end

return M
