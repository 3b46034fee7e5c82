-- All that is known of the edit at the cursor: its records, its reviews, others on its lines.

local M = {}

function M.run(_, place)
  require('vibes.commands.annotation').run('vibes.showHistory', place)
end

return M
