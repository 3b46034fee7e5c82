-- Shows documents of the server (prompt, history) in scratch buffers. They are untrusted: modelines are off.

local M = {}

local function scratch(lines)
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = 'wipe'
  vim.bo[bufnr].modeline = false
  vim.bo[bufnr].swapfile = false
  M.set_lines(bufnr, lines)
  return bufnr
end

--- Replaces the lines of a buffer that the user cannot modify.
---@param bufnr integer
---@param lines string[]
function M.set_lines(bufnr, lines)
  vim.bo[bufnr].modifiable = true
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modifiable = false
end

--- Highlights Markdown, if its parser is available. The server puts untrusted text into code spans and blocks.
---@param window integer
function M.render(window)
  if pcall(vim.treesitter.start, vim.api.nvim_win_get_buf(window), 'markdown') then
    vim.wo[window][0].conceallevel = 2
    vim.wo[window][0].concealcursor = 'n'
  end
end

local function row_count(lines, width)
  local count = 0
  for _, line in ipairs(lines) do
    count = count + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / width))
  end
  return count
end

-- Returns the size and position of a floating window for lines.
local function float_config(title, lines, footer)
  local widest = math.max(#title, vim.fn.strdisplaywidth(footer or '')) + 2
  for _, line in ipairs(lines) do
    widest = math.max(widest, vim.fn.strdisplaywidth(line))
  end
  local width = math.max(1, math.min(widest, 100, vim.o.columns - 4))
  local height = math.max(1, math.min(row_count(lines, width), vim.o.lines - 6))
  return {
    relative = 'editor',
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1),
    col = math.max(0, math.floor((vim.o.columns - width) / 2)),
    width = width,
    height = height,
    style = 'minimal',
    border = 'rounded',
    title = (' %s '):format(title),
    footer = footer and (' %s '):format(footer) or nil,
  }
end

---@class vibes.Key
---@field [1] string Key.
---@field [2] string What it does.
---@field [3] fun()|string Function or keys to run.

--- Maps keys of a buffer, and `?` to a list of them.
---@param bufnr integer
---@param keys vibes.Key[]
function M.map_keys(bufnr, keys)
  local lines = {}
  for _, key in ipairs(keys) do
    vim.keymap.set('n', key[1], key[3], { buffer = bufnr, nowait = true, desc = key[2] })
    table.insert(lines, (' %-6s %s'):format(key[1], key[2]))
  end
  vim.keymap.set('n', '?', function()
    M.float('keys', lines)
  end, { buffer = bufnr, nowait = true, desc = 'Show these keys' })
end

--- Closes a floating window and returns to the window that it was opened in, which Neovim would not if that is a list.
---@param window integer
function M.close_float(window)
  if vim.api.nvim_win_is_valid(window) then
    local before = vim.w[window].vibes_opened_in
    vim.api.nvim_win_close(window, true)
    if before and vim.api.nvim_win_is_valid(before) then
      vim.api.nvim_set_current_win(before)
    end
  end
end

--- Opens lines in a floating window; `q` and Escape close it.
---@param title string
---@param lines string[]
---@param footer? string
---@return integer bufnr
---@return integer window
function M.float(title, lines, footer)
  local before, bufnr = vim.api.nvim_get_current_win(), scratch(lines)
  local window = vim.api.nvim_open_win(bufnr, true, float_config('VIBES ' .. title, lines, footer))
  vim.w[window].vibes_opened_in = before
  vim.wo[window].wrap = true
  vim.wo[window].linebreak = true
  for _, key in ipairs({ 'q', '<Esc>' }) do
    vim.keymap.set('n', key, function()
      M.close_float(window)
    end, { buffer = bufnr, nowait = true, desc = 'Close' })
  end
  return bufnr, window
end

--- Replaces the lines of a floating window and adapts its size.
---@param window integer
---@param title string
---@param lines string[]
---@param footer? string
function M.refill_float(window, title, lines, footer)
  M.set_lines(vim.api.nvim_win_get_buf(window), lines)
  vim.api.nvim_win_set_config(window, float_config('VIBES ' .. title, lines, footer))
end

--- Opens lines in a window beside the current one and enters it; `q` closes it.
---@param title string
---@param lines string[]
---@param keys? vibes.Key[]
---@return integer bufnr
function M.open_beside(title, lines, keys)
  local bufnr = scratch(lines)
  vim.cmd('leftabove vertical split')
  vim.api.nvim_win_set_buf(0, bufnr)
  local window = vim.wo[0][0]
  window.statusline = title .. '%=? shows the keys '
  window.number, window.relativenumber, window.signcolumn, window.linebreak = false, false, 'no', true
  M.map_keys(bufnr, vim.list_extend(keys or {}, { { 'q', 'Close', '<Cmd>close<CR>' } }))
  return bufnr
end

--- Opens a `vibes:` document of a server.
---@param client_id integer
---@param uri string
function M.open(client_id, uri)
  local client = vim.lsp.get_client_by_id(client_id)
  if not client then
    return
  end
  local function answered(err, result)
    if err then
      vim.notify('vibes: ' .. require('vibes.text').plain(err.message, 400), vim.log.levels.ERROR)
      return
    end
    local name = uri:match('([%w-]+)%.md$') or 'text'
    local lines = vim.split(vim.trim(result.text), '\n', { plain = true })
    local _, window = M.float(name, lines)
    M.render(window)
  end
  if vim.fn.has('nvim-0.11') == 1 then
    client:request('workspace/textDocumentContent', { uri = uri }, answered)
  else
    client.request('workspace/textDocumentContent', { uri = uri }, answered)
  end
end

return M
