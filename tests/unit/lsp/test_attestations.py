"""When the server verifies an attestation again."""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path
from typing import NoReturn

import pytest

from tests.waiting import TIMEOUT
from vibes_lsp.lsp.state import attestations, child_process
from vibes_lsp.lsp.state.attestations import Attestations
from vibes_lsp.model.members import Members
from vibes_lsp.store.audit_dir import AuditDir


async def test_a_change_while_a_process_runs_is_verified_once_it_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = AuditDir(tmp_path)
    (tmp_path / "attestation.json").write_text("{}")
    directory.log.write_text("as it was")
    started, may_end, changed = asyncio.Event(), asyncio.Event(), asyncio.Event()
    results: list[str] = []

    async def verify(directory: AuditDir, *_: str) -> tuple[int, Members]:
        read = directory.log.read_text()
        started.set()
        await may_end.wait()
        return 0, {"result": read}

    monkeypatch.setattr(attestations, "run_vibes", verify)
    known = Attestations()

    def note(directory: AuditDir) -> None:
        state = known.last(directory)
        assert state is not None
        results.append(str(state.members["result"]))
        if results[-1] == "as it is":
            changed.set()

    known.on_change = note
    assert known.last(directory) is None
    await started.wait()
    directory.log.write_text("as it is")
    assert known.last(directory) is None  # the process that runs has read the log before
    may_end.set()
    await asyncio.wait_for(changed.wait(), TIMEOUT)
    known.stop()
    assert results == ["as it was", "as it is"]


async def test_a_process_that_cannot_be_started_is_started_again_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = AuditDir(tmp_path)
    (tmp_path / "attestation.json").write_text("{}")
    os.utime(tmp_path / "attestation.json", (1e9, 1e9))
    known = Attestations()

    async def refuse(*_: str) -> NoReturn:
        raise BlockingIOError(errno.EAGAIN, "no process is left")

    async def verify(*_: object) -> tuple[int, Members]:
        return 0, {"result": "PASS"}

    with monkeypatch.context() as patched:
        patched.setattr(child_process, "start_module", refuse)
        state = await known.verify(directory)
    assert "no process is left" in state.problem
    monkeypatch.setattr(attestations, "run_vibes", verify)
    assert (await known.verify(directory)).members == {"result": "PASS"}
