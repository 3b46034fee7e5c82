-- Highlight groups of bands. Sign texts show the band too, so that colour is not the only cue.

local M = {}

local links = {
  VibesLow = 'DiagnosticSignHint',
  VibesMedium = 'DiagnosticSignInfo',
  VibesHigh = 'DiagnosticSignWarn',
  VibesCritical = 'DiagnosticSignError',
  VibesNone = 'Comment',
  VibesText = 'Comment',
}

--- Links the groups that are not defined yet.
function M.define()
  for group, link in pairs(links) do
    vim.api.nvim_set_hl(0, group, { link = link, default = true })
  end
end

--- Returns the highlight group of a band.
---@param band? string
---@return string
function M.of(band)
  local group = type(band) == 'string' and 'Vibes' .. band:sub(1, 1):upper() .. band:sub(2)
  return group and links[group] and group or 'VibesNone'
end

return M
