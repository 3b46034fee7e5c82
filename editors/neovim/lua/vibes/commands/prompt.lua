-- What was asked of the AI that wrote the line under the cursor.

local M = {}

function M.run(_, place)
  require('vibes.commands.annotation').run('vibes.showPrompt', place)
end

return M
