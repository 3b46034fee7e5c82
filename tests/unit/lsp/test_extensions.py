"""Our extensions of LSP are listed in one place."""

from __future__ import annotations

from vibes_lsp.lsp.lifecycle import create_server
from vibes_lsp.lsp.protocol.extensions import CommandName


def test_every_command_is_listed_and_offered() -> None:
    assert set(create_server().protocol.fm.commands) == set(CommandName)
