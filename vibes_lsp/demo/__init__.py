"""A small workspace to look at (`vibes demo`): a repository whose trail was recorded, like any other, through `vibes_lsp.recording`."""
