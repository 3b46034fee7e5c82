"""Flushing: completions of other programs are left, one failing project stops no other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.unit.recording.projects import SOURCE, Project, new_project
from tests.unit.recording.test_inline_completions import ORIGIN, words
from vibes_lsp.lsp.protocol.open_documents import Documents
from vibes_lsp.lsp.state import background_flush
from vibes_lsp.lsp.state.background_flush import BackgroundFlush
from vibes_lsp.lsp.state.projects import Projects
from vibes_lsp.recording import Recorder


@dataclass
class Stub:
    """The parts of a server that a flush needs."""

    thread_pool: ThreadPoolExecutor
    documents: Documents = field(default_factory=Documents)
    projects: Projects = field(init=False)

    def __post_init__(self) -> None:
        self.projects = Projects(self.documents)

    async def run_in_thread(self, work: Callable[[], bool]) -> bool:
        return await asyncio.get_running_loop().run_in_executor(self.thread_pool, work)

    def open(self, project: Project) -> str:
        uri = (project.root / "a.py").as_uri()
        self.documents.open(uri, 1, (project.root / "a.py").read_text())
        return uri


@pytest.fixture
def stub() -> Iterator[Stub]:
    with ThreadPoolExecutor(1) as pool:
        yield Stub(pool)


@pytest.fixture(autouse=True)
def without_client(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refresh(_server: object) -> None:
        """Tell no client."""

    monkeypatch.setattr(background_flush, "refresh_outdated", refresh)


def add_pending(project: Project) -> Path:
    """Leave a part of a completion pending, as another program; return its file."""
    project.recorder.execute(words("one = 1", "\n")[0].request(ORIGIN))
    [file] = (project.root / ".ai-audit/spool/held").iterdir()
    return file


@pytest.mark.parametrize("content", [b"", b"{}", b'{"path": "a.py", "records": [{}]}', None])
async def test_only_completions_that_can_be_recorded_are_flushed_later(
    stub: Stub, tmp_path: Path, content: bytes | None
) -> None:
    project = new_project(tmp_path / "project")
    file = add_pending(project)
    if content is not None:
        file.write_bytes(content)
    flush = BackgroundFlush(stub)  # type: ignore[arg-type]  # it has what is asked for
    flush.schedule_pending(stub.open(project))
    key = stub.projects.refreshed(project.recorder.directory)
    flush._flushes.cancel(key)
    await flush._flush(key)
    assert (key in flush._flushes._waiting) == (content is None), (
        "only the completion of another program is waited for"
    )
    assert file.exists()
    flush.flush_all()
    await asyncio.gather(*flush._flushes._running.values(), *flush._refreshes._running.values())


async def test_a_project_that_cannot_be_flushed_does_not_stop_the_others(
    stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    projects = [new_project(tmp_path / name) for name in ("one", "two", "three")]
    for project in projects:
        project.file("a.py", SOURCE.replace("\n\n\ndef same", "\n\none = 1\ndef same"))
        found = stub.projects.owner(stub.open(project))
        assert found is not None
        found[0].recorder.execute(words("one = 1", "\n")[0].request(ORIGIN))
    settle = Recorder.record_pending_completions

    def failing(self: Recorder, *arguments: Any, **named: Any) -> bool:
        if self.directory == projects[0].recorder.directory:
            raise KeyError("annotation_id")
        return settle(self, *arguments, **named)

    monkeypatch.setattr(Recorder, "record_pending_completions", failing)
    BackgroundFlush(stub).flush_all()  # type: ignore[arg-type]
    assert [len(project.records("line")) for project in projects] == [0, 1, 1]
