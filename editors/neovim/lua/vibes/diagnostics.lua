-- Adjusts diagnostics of the server before Neovim shows them.

local M = {}

local function length(line, encoding)
  if encoding == 'utf-8' then
    return #line
  end
  local characters, units = vim.str_utfindex(line)
  return encoding == 'utf-32' and characters or units
end

-- A range that ends the file ends at the start of a line that does not exist; Neovim would not underline its last line.
local function clamp(diagnostic, bufnr, encoding)
  local last = vim.api.nvim_buf_line_count(bufnr) - 1
  if diagnostic.range['end'].line > last then
    local line = vim.api.nvim_buf_get_lines(bufnr, last, last + 1, false)[1] or ''
    diagnostic.range['end'] = { line = last, character = length(line, encoding) }
  end
end

-- Leaves out what has no place in the text: `:checkhealth vibes` lists lost annotations.
local function adjust(diagnostics, bufnr, client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  return vim.tbl_filter(function(diagnostic)
    if vim.api.nvim_buf_is_loaded(bufnr) then
      clamp(diagnostic, bufnr, client and client.offset_encoding or 'utf-16')
    end
    return diagnostic.code ~= 'lost'
  end, diagnostics)
end

--- Handles `textDocument/publishDiagnostics`.
function M.published(err, result, context, config)
  if result and result.diagnostics then
    result.diagnostics = adjust(result.diagnostics, vim.uri_to_bufnr(result.uri), context.client_id)
  end
  return vim.lsp.handlers['textDocument/publishDiagnostics'](err, result, context, config)
end

--- Handles the response to `textDocument/diagnostic`.
function M.pulled(err, result, context, config)
  if result and result.items then
    local bufnr = vim.uri_to_bufnr(context.params.textDocument.uri)
    result.items = adjust(result.items, bufnr, context.client_id)
  end
  return vim.lsp.handlers['textDocument/diagnostic'](err, result, context, config)
end

return M
