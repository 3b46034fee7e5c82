-- Records accepted completions of `vim.lsp.inline_completion` (Neovim 0.12), from any server. Call `accept` from a mapping:
--
--   vim.keymap.set('i', '<Tab>', function()
--     return require('inline_completion').accept() and '' or '<Tab>'
--   end, { expr = true })

local M = {}

local accepted = 0

-- The completion server is the tool. It does not report its model.
local function origin(client)
  local info = client.server_info or {}
  local tool = { name = info.name or client.name, version = info.version or 'unknown' }
  return tool, { name = 'unknown', version = 'unknown' }
end

local function place(item, encoding)
  if item.range then
    return item.range:to_lsp(encoding)
  end
  local position = vim.lsp.util.make_position_params(0, encoding).position
  return { start = position, ['end'] = position }
end

local function record(item)
  local bufnr = vim.api.nvim_get_current_buf()
  local vibes = vim.lsp.get_clients({ bufnr = bufnr, name = 'vibes_lsp' })[1]
  local client = vim.lsp.get_client_by_id(item.client_id)
  if vibes and client and type(item.insert_text) == 'string' then -- snippets have no plain text before expansion
    accepted = accepted + 1
    local tool, model = origin(client)
    require('vibes').record_inline_completion(bufnr, {
      range = place(item, vibes.offset_encoding),
      newText = item.insert_text,
      completionId = ('%s-%d-%d'):format(vim.uv.hrtime(), item.client_id, accepted),
      tool = tool,
      model = model,
    })
  end
  return item
end

--- Accepts and records the current completion; returns whether there is one.
---@return boolean
function M.accept()
  return vim.lsp.inline_completion.get({ on_accept = record })
end

return M
