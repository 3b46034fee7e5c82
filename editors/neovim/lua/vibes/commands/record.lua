-- Records that an AI wrote the lines: `:[range]Vibes record create|modify [PROMPT]`.

local config = require('vibes.config')

local M = { words = { 'create', 'modify' } }

local remembered = {}

-- Asks for a name and a version unless they are known.
local function author(kind, callback)
  local known = config.options[kind] or remembered[kind]
  if known then
    callback(known)
    return
  end
  vim.ui.input({ prompt = ('Name and version of the %s: '):format(kind) }, function(answer)
    local name, version = (answer or ''):match('^%s*(.-)%s+(%S+)%s*$')
    if name then
      remembered[kind] = { name = name, version = version }
      callback(remembered[kind])
    elseif answer then
      vim.notify('vibes: a name and a version are needed, as in "some-model 2026-01"', vim.log.levels.ERROR)
    end
  end)
end

function M.run(words, place)
  local action = table.remove(words, 1)
  if not vim.tbl_contains(M.words, action) then
    vim.notify('vibes: say what was done: :Vibes record create or :Vibes record modify', vim.log.levels.ERROR)
    return
  end
  local prompt = table.concat(words, ' ')
  author('tool', function(tool)
    author('model', function(model)
      local annotation = {
        uri = vim.uri_from_bufnr(place.bufnr),
        range = { start = { line = place.first - 1, character = 0 }, ['end'] = { line = place.last, character = 0 } },
        action = action,
        tool = tool,
        model = model,
        prompt = prompt ~= '' and { text = prompt, type = 'user_instruction' } or nil,
      }
      require('vibes.server').attempt(place.bufnr, 'vibes.recordAnnotation', annotation, function(result)
        local is_recorded = result.annotationId ~= nil and result.annotationId ~= vim.NIL
        vim.notify(is_recorded and 'vibes: recorded' or 'vibes: not a tracked file, nothing was recorded')
      end)
    end)
  end)
end

return M
