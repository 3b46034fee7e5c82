"""The processes of the server end, whatever they print."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from vibes_lsp.lsp import trail_loading
from vibes_lsp.lsp.child_process import start_module
from vibes_lsp.store.audit_dir import AuditDir

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from pathlib import Path

    import pytest


async def test_a_process_that_prints_many_errors_saves_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "talkative.py").write_text(
        "import sys\nsys.stderr.write('x' * (1 << 20))\nprint(7)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))

    async def start(_module: str, *arguments: str, **options: bool) -> Process:
        return await start_module("talkative", *arguments, **options)

    monkeypatch.setattr(trail_loading, "start_module", start)
    shown: list[int] = []
    saving = trail_loading._save_index(AuditDir(tmp_path), shown.append)
    assert await asyncio.wait_for(saving, 300)
    assert shown == [7]
