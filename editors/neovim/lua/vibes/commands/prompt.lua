-- `:Vibes prompt`: the prompt of the line under the cursor.

local M = {}

function M.run(_, target)
  require('vibes.commands.annotation').run('vibes.showPrompt', target)
end

return M
