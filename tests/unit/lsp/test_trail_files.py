"""A look at the log and one at all other files show every change that an answer depends on."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.trails import Repository, TrailWriter
from vibes_lsp.history.repository_state import RepositoryState
from vibes_lsp.lsp.projects import Project
from vibes_lsp.lsp.trail_files import TrailFiles
from vibes_lsp.store.audit_dir import AuditDir


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a trail, all of it an hour old."""
    repository = Repository(tmp_path)
    writer = TrailWriter(tmp_path)
    writer.environment()
    writer.line("a.py", 1, 1, text="x\n")
    repository.commit("Add")
    for folder, _, names in os.walk(tmp_path):
        for name in names:
            os.utime(Path(folder, name), (time.time() - 3600,) * 2)
    return tmp_path


def seen(project: Path) -> TrailFiles:
    repository = RepositoryState(project)
    repository.refresh()
    return TrailFiles.of(AuditDir(project / ".ai-audit"), repository)


def write(name: str, content: bytes = b"{}") -> Callable[[Path], None]:
    def change(project: Path) -> None:
        file = project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    return change


def rewrite_in_place(name: str) -> Callable[[Path], None]:
    def change(project: Path) -> None:
        file = project / name
        times, content = file.stat(), file.read_bytes()
        file.write_bytes(content.swapcase())
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))

    return change


@pytest.mark.parametrize(
    "change",
    [
        rewrite_in_place(".ai-audit/manifest.json"),
        lambda project: (project / ".ai-audit/manifest.json").unlink(),
        lambda project: Repository(project).commit("Again"),
        write(".ai-audit/manifest.json"),
        write(".ai-audit/config.json"),
        write(".ai-audit/wal/1.jsonl"),
        write(".ai-audit/spool/held/1.json"),
        write(".git/packed-refs"),
        write(".git/refs/notes/ai"),
    ],
)
def test_a_change_shows(project: Path, change: Callable[[Path], None]) -> None:
    files = seen(project)
    assert files.is_settled
    assert files.are_unchanged()
    change(project)
    assert not files.are_unchanged()


def test_a_change_of_a_journal_shows(project: Path) -> None:
    write(".ai-audit/wal/1.jsonl", b"{}\n")(project)
    files = seen(project)
    assert not files.is_settled, "it was just written"
    assert files.are_unchanged()
    write(".ai-audit/wal/1.jsonl", b"{}\n{}\n")(project)
    assert not files.are_unchanged()


def test_a_repository_that_appears_shows(tmp_path: Path) -> None:
    TrailWriter(tmp_path)
    files = seen(tmp_path)
    assert files.are_unchanged()
    Repository(tmp_path)
    assert not files.are_unchanged()


def test_the_first_look_at_a_settled_project_misses_no_later_commit(project: Path) -> None:
    served = Project(AuditDir(project / ".ai-audit"))
    served.refresh()
    Repository(project).commit("Work")
    assert served.refresh()


@pytest.mark.parametrize(
    "change",
    [
        lambda project: TrailWriter(project).line("a.py", 1, 1, environment="e" * 64),
        lambda project: (project / ".ai-audit/annotations.jsonl").unlink(),
        write(".ai-audit/annotations.jsonl", b""),
        write(".ai-audit/manifest.json"),
        write(".ai-audit/wal/1.jsonl"),
    ],
)
def test_a_settled_project_misses_no_change(
    project: Path, change: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    served = Project(AuditDir(project / ".ai-audit"))
    for _ in range(2):  # what the first look at a repository depends on is known after it
        served.refresh()
    before = served.snapshot.generation
    with monkeypatch.context() as patched:
        patched.setattr(served.pending, "refresh", lambda: pytest.fail("one look is enough"))
        assert not served.refresh()
    change(project)
    assert served.refresh()
    assert served.snapshot.generation > before
