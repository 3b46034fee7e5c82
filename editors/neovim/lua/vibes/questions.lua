-- Questions to the user, as coroutines: code that asks reads sequentially. If the user dismisses a question, the rest does not run.

local M = {}

local function answer(ask)
  local thread = assert(coroutine.running())
  ask(function(given)
    if given ~= nil then
      vim.schedule(function() -- the default dialogs call back before they return
        vim.cmd.redraw() -- and leave their text on the screen
        assert(coroutine.resume(thread, given))
      end)
    end
  end)
  return coroutine.yield()
end

--- Runs a function that may call `ask` and `choose`.
---@param fn fun()
function M.run(fn)
  assert(coroutine.resume(coroutine.create(fn)))
end

--- Asks for a text.
---@param question string
---@param default? string
---@return string
function M.ask(question, default)
  return answer(function(callback)
    vim.ui.input({ prompt = question .. ' ', default = default }, callback)
  end)
end

--- Asks for one of several texts, or of other values that a function makes texts of.
---@generic T
---@param question string
---@param choices T[]
---@param format? fun(choice: T): string
---@return T
function M.choose(question, choices, format)
  return answer(function(callback)
    vim.ui.select(choices, { prompt = question, format_item = format }, callback)
  end)
end

return M
