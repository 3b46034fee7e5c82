"""Tests of `vibes_lsp.history`."""
