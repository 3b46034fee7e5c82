-- A server inside Neovim that knows one completion.
local completion = {
  insertText = 'def twice(x):\n    return 2 * x',
  range = { start = { line = 27, character = 0 }, ['end'] = { line = 27, character = 4 } },
}

local function server(dispatchers)
  local is_closing, calls = false, 0
  local answers = {
    initialize = {
      capabilities = { inlineCompletionProvider = true },
      serverInfo = { name = 'some-completer', version = '3.2' },
    },
    ['textDocument/inlineCompletion'] = { items = { completion } },
  }
  return {
    request = function(method, _, callback)
      calls = calls + 1
      callback(nil, answers[method] or vim.NIL)
      return true, calls
    end,
    notify = function(method)
      if method == 'exit' then
        dispatchers.on_exit(0, 15)
      end
      return true
    end,
    is_closing = function()
      return is_closing
    end,
    terminate = function()
      is_closing = true
    end,
  }
end

vim.lsp.config('completer', { cmd = server })
vim.lsp.enable('completer')
