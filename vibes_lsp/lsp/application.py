"""The server with all its features."""

from __future__ import annotations

from vibes_lsp.lsp import lifecycle
from vibes_lsp.lsp.background_flush import BackgroundFlush
from vibes_lsp.lsp.features import (
    code_actions,
    code_lens,
    commands,
    hover,
    provenance,
    recording,
    references,
    showing,
)
from vibes_lsp.lsp.interpreter import keep_turns_short
from vibes_lsp.lsp.server import Server


def create_server() -> Server:
    """Return a server that is ready to be started; diagnostics are added when the client has said how it wants them."""
    keep_turns_short()
    server = Server()
    resting = BackgroundFlush(server, lifecycle.catch_up)
    server.projects.noticed = resting.noticed
    lifecycle.register(server, resting)
    for feature in (hover, code_lens, code_actions, references, provenance, commands, showing):
        feature.register(server)
    recording.register(server, resting.recorded)
    return server
