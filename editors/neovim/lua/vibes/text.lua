-- Text for people. Text from a trail is untrusted: it is shown as one line of plain text.

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

local units = {
  { 365 * 86400, 'year' },
  { 30 * 86400, 'month' },
  { 86400, 'day' },
  { 3600, 'hour' },
  { 60, 'minute' },
}

-- Returns the seconds since 1970 of a date in UTC (Gregorian calendar).
local function epoch(year, month, day, hour, minute, second)
  local shifted = month <= 2 and year - 1 or year
  local day_of_year = math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
  local days = 365 * shifted + math.floor(shifted / 4) - math.floor(shifted / 100) + math.floor(shifted / 400)
  return (days + day_of_year - 719468) * 86400 + hour * 3600 + minute * 60 + second
end

--- Returns how long ago an ISO 8601 timestamp is, such as `9 months ago`; an empty text for another value.
---@param timestamp unknown
---@param now? integer seconds since 1970
---@return string
function M.age(timestamp, now)
  if type(timestamp) ~= 'string' then
    return ''
  end
  local year, month, day, hour, minute, second, zone =
    timestamp:match('^(%d%d%d%d)-(%d%d)-(%d%d)[Tt ](%d%d):(%d%d):(%d%d)[.%d]*([Zz+-]?[%d:]*)$')
  if not year then
    return ''
  end
  local moment =
    epoch(tonumber(year), tonumber(month), tonumber(day), tonumber(hour), tonumber(minute), tonumber(second))
  local sign, hours, minutes = zone:match('^([+-])(%d%d):?(%d%d)$')
  if sign then
    moment = moment - (sign == '+' and 1 or -1) * (tonumber(hours) * 3600 + tonumber(minutes) * 60)
  end
  local seconds = (now or os.time()) - moment
  for _, unit in ipairs(units) do
    if seconds >= unit[1] then
      local count = math.floor(seconds / unit[1])
      return ('%d %s%s ago'):format(count, unit[2], count == 1 and '' or 's')
    end
  end
  return seconds >= 0 and 'just now' or ('on %s-%s-%s'):format(year, month, day)
end

return M
