-- `:Vibes history`: records, reviews and earlier annotations of the lines at the cursor.

local M = {}

function M.run(_, target)
  require('vibes.commands.annotation').run('vibes.showHistory', target)
end

return M
