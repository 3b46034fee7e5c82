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
  desc = 'AI provenance: blame, changes, history, prompt, record, remap, review, session, toggle',
})

require('vibes.attach').start()
