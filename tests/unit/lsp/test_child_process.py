"""The processes of the server end, whatever they print."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.waiting import TIMEOUT
from vibes_lsp.lsp.state import child_process
from vibes_lsp.lsp.state.child_process import run_check, start_module
from vibes_lsp.store.audit_dir import AuditDir

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from pathlib import Path

    from vibes_lsp.model.members import Members


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        ("print('result'); print('{\"findings\": []}')", {"findings": []}),
        ("print('result')", {"problem": "the process for a check ended without a result"}),
        ("", {"problem": "the process for a check ended without a result"}),
    ],
    ids=["result", "no object", "no result"],
)
async def test_a_process_that_prints_much_gives_its_progress_and_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str, expected: Members
) -> None:
    (tmp_path / "talkative.py").write_text(
        "import sys\nsys.stderr.write('x' * (1 << 20))\n"
        f"print('log 7'); print(''); print('log'); print('log x')\n{end}\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))

    async def start(_module: str, *arguments: str, **options: bool) -> Process:
        return await start_module("talkative", *arguments, **options)

    monkeypatch.setattr(child_process, "start_module", start)
    shown: list[tuple[str, int]] = []
    running = run_check(AuditDir(tmp_path), show=lambda *step: shown.append(step))
    assert await asyncio.wait_for(running, TIMEOUT) == expected
    assert shown == [("log", 7)]
