"""The sample repository of `vibes demo`, recorded through `vibes_lsp.recording`."""
