-- `:Vibes show`: prompt and history of the annotations at the cursor, with keys that act on them.

local annotation = require('vibes.commands.annotation')

local M = {}

function M.run(_, target)
  local placement = annotation.placement_at(target)
  if placement then
    require('vibes.annotation_window').open(target.bufnr, { placement.annotationId })
  end
end

return M
