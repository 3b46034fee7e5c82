-- What there is from the start: the command, and the wish to attach. All else is loaded when it is needed.

if vim.g.loaded_vibes or vim.fn.has('nvim-0.10') == 0 then
  return
end
vim.g.loaded_vibes = true

vim.api.nvim_create_user_command('Vibes', function(given)
  require('vibes.command').run(given)
end, {
  nargs = '*',
  range = true,
  complete = function(_, line, position)
    return require('vibes.command').complete(line:sub(1, position))
  end,
  desc = 'Who wrote this: blame, changes, history, prompt, record, remap, review, session, toggle',
})

require('vibes.attach').start()
