-- Defines the command and starts the client. All other modules load on demand.

if vim.g.loaded_vibes or vim.fn.has('nvim-0.10') == 0 then
  return
end
vim.g.loaded_vibes = true

vim.api.nvim_create_user_command('Vibes', function(opts)
  require('vibes.command').run(opts)
end, {
  nargs = '*',
  range = true,
  complete = function(_, line, position)
    return require('vibes.command').complete(line:sub(1, position))
  end,
  desc = 'AI provenance: prompt, blame, changes, reviews',
})

-- A plugin manager that loads this later calls `setup` after it: the server must not start before.
if vim.v.vim_did_enter == 1 then
  vim.schedule(require('vibes.attach').start)
else
  require('vibes.attach').start()
end
