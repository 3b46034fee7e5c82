"""What the server loads before it answers the first request."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from tests.server.wire import Wire

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.project import Project

HEAVY: Final = {
    *("click", "cryptography", "duckdb", "httpx2", "jsonschema", "mcp", "numpy", "opentimestamps"),
    *("pydantic", "rapidfuzz", "rich", "securesystemslib", "sigstore", "tree_sitter"),
    *("vibes_lsp.checks.report", "vibes_lsp.database", "vibes_lsp.gate", "vibes_lsp.model.secrets"),
    *("vibes_lsp.recording", "yaml"),
}
"""What `initialize` does not need and takes long to import."""
LISTS_MODULES: Final = """
import sys
from vibes_lsp.lsp.lifecycle import create_server
from vibes_lsp.lsp.main import standard_output
from vibes_lsp.lsp.transport import serve
server = create_server()
@server.feature("tests/modules")
def modules(*_):
    return sorted(sys.modules)
serve(server, sys.stdin.buffer, standard_output())
"""


def test_what_initialize_does_not_need_is_not_imported(tmp_path: Path, project: Project) -> None:
    command = [sys.executable, "-c", LISTS_MODULES]
    with Wire(tmp_path / "modules.log", command=command) as wire:
        wire.initialize(project.root)
        loaded = set(wire.request("tests/modules", {})["result"])
    assert "pygls.server" in loaded
    assert not loaded & HEAVY
