"""A client of these tests waits as long as the server needs; the SDK's would not."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine it would speak another protocol after ten seconds, and kill after two."""
    monkeypatch.setattr("mcp.client.session.DISCOVER_TIMEOUT_SECONDS", 600.0)
    monkeypatch.setattr("mcp.client.stdio.PROCESS_TERMINATION_TIMEOUT", 600.0)
