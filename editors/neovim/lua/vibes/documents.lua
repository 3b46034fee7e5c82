-- Shows `vibes:` documents of the server (prompt, history, changes) in scratch buffers. They are untrusted: modelines are off.

local M = {}

local function scratch(lines)
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = 'wipe'
  vim.bo[bufnr].modeline = false
  vim.bo[bufnr].swapfile = false
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modifiable = false
  return bufnr
end

-- Highlights Markdown, if its parser is available. The server puts untrusted text into code spans and blocks.
local function render(window)
  if pcall(vim.treesitter.start, vim.api.nvim_win_get_buf(window), 'markdown') then
    vim.wo[window][0].conceallevel = 2
    vim.wo[window][0].concealcursor = 'n'
  end
end

local function close_on(bufnr, ...)
  for _, key in ipairs({ ... }) do
    vim.keymap.set('n', key, '<Cmd>close<CR>', { buffer = bufnr, nowait = true, desc = 'Close' })
  end
end

local function row_count(lines, width)
  local count = 0
  for _, line in ipairs(lines) do
    count = count + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / width))
  end
  return count
end

-- Shows lines in a floating window; `q` and Escape close it.
local function float(title, lines)
  local bufnr = scratch(lines)
  local widest = #title
  for _, line in ipairs(lines) do
    widest = math.max(widest, vim.fn.strdisplaywidth(line))
  end
  local width = math.max(1, math.min(widest, 100, vim.o.columns - 4))
  local height = math.max(1, math.min(row_count(lines, width), vim.o.lines - 6))
  local window = vim.api.nvim_open_win(bufnr, true, {
    relative = 'editor',
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1),
    col = math.max(0, math.floor((vim.o.columns - width) / 2)),
    width = width,
    height = height,
    style = 'minimal',
    border = 'rounded',
    title = (' %s '):format(title),
  })
  vim.wo[window].wrap = true
  render(window)
  close_on(bufnr, 'q', '<Esc>')
end

--- Opens lines in a window beside the current one and enters it; `q` closes it.
---@param title string
---@param lines string[]
---@return integer bufnr
function M.open_beside(title, lines)
  local bufnr = scratch(lines)
  vim.cmd('leftabove vertical split')
  vim.api.nvim_win_set_buf(0, bufnr)
  vim.wo[0][0].statusline = title
  close_on(bufnr, 'q')
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
    if name == 'changes' then
      M.open_beside('VIBES changes', lines)
      render(0)
    else
      float('VIBES ' .. name, lines)
    end
  end
  if vim.fn.has('nvim-0.11') == 1 then
    client:request('workspace/textDocumentContent', { uri = uri }, answered)
  else
    client.request('workspace/textDocumentContent', { uri = uri }, answered)
  end
end

return M
