-- `:checkhealth vibes`: checks Neovim, the options, the server and the buffer.

local M = {}

local function check_neovim()
  local version = tostring(vim.version())
  if vim.fn.has('nvim-0.10') == 1 then
    vim.health.ok('Neovim ' .. version)
  else
    vim.health.error(
      'Neovim ' .. version .. ' is too old for this plugin',
      'use 0.10 or newer, or the plain client: docs/editors/neovim.md'
    )
  end
end

local function check_options()
  local config = require('vibes.config')
  local problems = config.given ~= nil and config.problems(config.given) or {}
  for _, problem in ipairs(problems) do
    vim.health.warn(problem, ':help vibes-options')
  end
  if #problems == 0 then
    vim.health.ok('options are valid')
  end
end

local function check_server()
  local program = require('vibes.config').options.cmd[1]
  local path = type(program) == 'string' and vim.fn.exepath(program) or ''
  if path == '' then
    vim.health.error(('%s was not found'):format(program), 'install it from a checkout, or name it in the option cmd')
    return
  end
  local done = vim.system({ path, '--version' }, { text = true, timeout = 20000 }):wait()
  if done.code == 0 then
    vim.health.ok(('%s: %s'):format(path, vim.trim(done.stdout)))
  else
    vim.health.error(('%s --version failed'):format(path), vim.trim(done.stderr))
  end
end

-- Warns of annotations whose lines could not be found: they have no place for a mark.
local function check_lost(bufnr)
  local provenance = require('vibes.provenance')
  local text = require('vibes.text')
  for _, placement in ipairs(provenance.lost(bufnr)) do
    local function line_of(member)
      return provenance.is_present(placement[member]) and ('%d'):format(placement[member]) or '?'
    end
    local parts = {
      text.plain(placement.model.name, 40),
      ('recorded at lines %s-%s'):format(line_of('recordedLineStart'), line_of('recordedLineEnd')),
    }
    if provenance.is_present(placement.age) then
      table.insert(parts, placement.age)
    end
    if provenance.is_present(placement.prompt) then
      table.insert(parts, ('“%s”'):format(text.plain(placement.prompt, 60)))
    end
    vim.health.warn(
      ('annotation %s was not found: %s'):format(placement.annotationId:sub(1, 8), table.concat(parts, ', ')),
      'if its lines are still there, select them and choose the code action "Re-anchor here"'
    )
  end
end

-- Warns of claims whose evidence is not as it was quoted.
local function check_claims(bufnr)
  local counts = require('vibes.knowledge').counts(bufnr)
  if counts and counts.stale > 0 then
    vim.health.warn(
      ('%d of %d claims about it rest on lines that have changed'):format(counts.stale, counts.claims),
      ':Vibes claims all shows them; n makes new evidence'
    )
  elseif counts then
    vim.health.ok(('claims about it: %d, proposals that wait: %d'):format(counts.claims, counts.pending))
  end
end

local function check_buffer()
  local server = require('vibes.server')
  local before = vim.fn.bufnr('#') -- the current buffer is the report
  local bufnr = before > 0 and before or vim.api.nvim_get_current_buf()
  local root = server.root(bufnr)
  local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(bufnr), ':~:.')
  local what = root and vim.fn.isdirectory(vim.fs.joinpath(root, '.ai-audit')) == 1 and 'trail' or 'knowledge base'
  if not root then
    vim.health.info(
      ('%s: no folder .ai-audit or .vouch above it, so no server is started'):format(
        name == '' and 'the buffer' or name
      )
    )
  elseif server.client(bufnr) then
    vim.health.ok(('%s: attached, %s in %s'):format(name, what, root))
    check_lost(bufnr)
    check_claims(bufnr)
  else
    vim.health.warn(
      ('%s: not attached, though there is a %s in %s'):format(name, what, root),
      'see :checkhealth vim.lsp, and :LspLog'
    )
  end
end

function M.check()
  vim.health.start('vibes')
  check_neovim()
  check_options()
  check_server()
  check_buffer()
end

return M
