"""Tests of `vibes_lsp.git`."""
