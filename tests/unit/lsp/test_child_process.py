"""The processes of the server end, whatever they print."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.waiting import TIMEOUT
from vibes_lsp.errors import CheckFailed
from vibes_lsp.lsp.state import child_process
from vibes_lsp.lsp.state.child_process import run_vibes, start_module
from vibes_lsp.store.audit_dir import AuditDir

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from pathlib import Path

TALK = "import sys\nsys.stderr.write('x\\n' * (1 << 19))\n"


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AuditDir:
    """A folder with a program that is started in place of `vibes`."""
    monkeypatch.syspath_prepend(str(tmp_path))

    async def start(_module: str, *arguments: str) -> Process:
        return await start_module("talkative", *arguments)

    monkeypatch.setattr(child_process, "start_module", start)
    return AuditDir(tmp_path)


def write(directory: AuditDir, program: str) -> None:
    (directory.path / "talkative.py").write_text(program)


async def test_a_process_that_prints_much_gives_its_result(directory: AuditDir) -> None:
    write(directory, f"{TALK}print('{{\"findings\": []}}')\nsys.exit(1)\n")
    running = run_vibes(directory, "check")
    assert await asyncio.wait_for(running, TIMEOUT) == (1, {"findings": []})


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("", "vibes check ended with exit code 0"),
        ("print('[]')", "vibes check ended with exit code 0"),
        ("raise SystemExit(2)", "vibes check failed"),
        ("raise SystemExit('vibes: no trail')", "no trail"),
    ],
)
async def test_a_process_without_a_result_is_a_failure(
    directory: AuditDir, program: str, message: str
) -> None:
    write(directory, program)
    with pytest.raises(CheckFailed, match=message):
        await run_vibes(directory, "check", failure=CheckFailed)
