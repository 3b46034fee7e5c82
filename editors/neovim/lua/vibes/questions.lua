-- Questions to the user, one after the other: who asks reads on as if they were answered at once. One that is not answered ends it all.

local M = {}

local function answer(ask)
  local asking = assert(coroutine.running())
  ask(function(given)
    if given ~= nil then
      vim.schedule(function() -- the default dialogs answer before they return
        vim.cmd.redraw() -- and leave what they asked on the screen, in the way of the next
        assert(coroutine.resume(asking, given))
      end)
    end
  end)
  return coroutine.yield()
end

--- Runs a function that may ask.
---@param fn fun()
function M.run(fn)
  assert(coroutine.resume(coroutine.create(fn)))
end

--- Returns a text.
---@param question string
---@param default? string
---@return string
function M.ask(question, default)
  return answer(function(callback)
    vim.ui.input({ prompt = question .. ' ', default = default }, callback)
  end)
end

--- Returns one of some texts.
---@param question string
---@param choices string[]
---@return string
function M.choose(question, choices)
  return answer(function(callback)
    vim.ui.select(choices, { prompt = question }, callback)
  end)
end

return M
