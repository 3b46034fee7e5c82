-- `:Vibes toggle [lens|signs|text]`: shows or hides one kind of mark, or all signs and texts.

local config = require('vibes.config')
local marks = require('vibes.marks')

local M = { words = { 'lens', 'signs', 'text' } }

local next_mode = { off = 'line', line = 'all', all = 'off' }

local switches = {
  lens = function(options)
    options.code_lens = not options.code_lens
    require('vibes.lens').apply_option()
  end,
  signs = function(options)
    options.signs = not options.signs
  end,
  text = function(options)
    options.line_text = next_mode[options.line_text]
    vim.notify('vibes: text at line ends: ' .. options.line_text)
  end,
}

function M.run(words)
  local name = words[1]
  if name == nil then
    marks.is_hidden = not marks.is_hidden
  elseif switches[name] then
    switches[name](config.options)
  else
    vim.notify('vibes: expected lens, signs or text', vim.log.levels.ERROR)
    return
  end
  marks.draw_all()
end

return M
