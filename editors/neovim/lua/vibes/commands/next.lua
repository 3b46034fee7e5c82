-- `:Vibes next [review]`: moves to the next lines of an AI.

local M = { words = { 'review' } }

function M.run(words, target)
  require('vibes.navigation').move(target.bufnr, 1, words[1] == 'review')
end

return M
