-- The client configuration for `vim.lsp.enable('vibes_lsp')` (Neovim 0.11 and newer).
return require('vibes.server').config()
