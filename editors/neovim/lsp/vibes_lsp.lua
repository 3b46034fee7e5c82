-- The server's configuration, where Neovim 0.11 and newer look for it: `vim.lsp.enable('vibes_lsp')`.
return require('vibes.server').config()
