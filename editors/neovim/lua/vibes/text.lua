-- Text from a trail is untrusted: it is shown as one line of plain text.

local M = {}

-- Ranges of invisible and bidirectional code points, the same as the server's.
local invisible = {
  { 0x00, 0x1f },
  { 0x7f, 0x9f },
  { 0xad, 0xad },
  { 0x34f, 0x34f },
  { 0x61c, 0x61c },
  { 0x115f, 0x1160 },
  { 0x17b4, 0x17b5 },
  { 0x180b, 0x180f },
  { 0x200b, 0x200f },
  { 0x2028, 0x202e },
  { 0x2060, 0x206f },
  { 0x3164, 0x3164 },
  { 0xd800, 0xdfff },
  { 0xfe00, 0xfe0f },
  { 0xfeff, 0xfeff },
  { 0xffa0, 0xffa0 },
  { 0xfff0, 0xfffb },
  { 0x1bca0, 0x1bca3 },
  { 0x1d173, 0x1d17a },
  { 0xe0000, 0xe0fff },
}

local function is_invisible(code)
  for _, run in ipairs(invisible) do
    if code <= run[2] then
      return code >= run[1]
    end
  end
  return false
end

--- Returns one line of at most `limit` characters; invisible characters show as codes.
---@param value unknown
---@param limit? integer
---@return string
function M.plain(value, limit)
  if type(value) ~= 'string' then
    return ''
  end
  limit = limit or 120
  local head = value:sub(1, 64 * limit):gsub('%z', '\\u0000') -- Vim's string functions take text with a NUL for a blob
  local text = vim.trim(vim.fn.strcharpart(head, 0, 8 * limit):gsub('%s+', ' '))
  local escaped = {}
  for _, code in ipairs(vim.fn.str2list(text)) do
    table.insert(escaped, is_invisible(code) and ('\\u%04x'):format(code) or vim.fn.nr2char(code))
  end
  local line = table.concat(escaped)
  if vim.fn.strchars(line) <= limit then
    return line
  end
  return vim.fn.strcharpart(line, 0, limit - 1) .. '…'
end

return M
