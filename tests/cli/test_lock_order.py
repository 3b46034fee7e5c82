"""Whoever needs both locks of a trail takes the one of the manifest first (R9)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.test_merge import Branches
from tests.stories.workspace import LOG, ONE, TWO, Workspace
from tests.unit.store.empty_trail import new_trail
from vibes_lsp.store.journal_folding import fold_journal
from vibes_lsp.store.locks import FileLock, LockHandle
from vibes_lsp.store.writer import AuditWriter

if TYPE_CHECKING:
    from tests.cli.run_vibes import RunVibes

FOLD, APPEND = "fold.lock", "append.lock"


class Order:
    """The locks that this program takes.

    Attributes:
        held: Those that it has.
        taken: Those that it took, in order, each with what it had then.
    """

    def __init__(self) -> None:
        self.held: dict[int, Path] = {}
        self.taken: list[tuple[str, frozenset[str]]] = []

    def take(self, lock: FileLock, handle: LockHandle | None) -> LockHandle | None:
        if handle is not None:
            folder = lock.path.parent
            held = frozenset(path.name for path in self.held.values() if path.parent == folder)
            self.taken.append((lock.path.name, held))
            self.held[id(handle)] = lock.path
        return handle

    def kept_by(self, *names: str) -> bool:
        """Whether the named locks were taken, and the manifest's never while the log's was held."""
        assert self.held == {}
        assert set(names) <= {name for name, _ in self.taken}
        return not any(name == FOLD and APPEND in held for name, held in self.taken)


@pytest.fixture
def order(monkeypatch: pytest.MonkeyPatch) -> Order:
    order = Order()
    try_acquire, leave = FileLock.try_acquire, LockHandle.__exit__

    def exit_lock(handle: LockHandle, *error: object) -> None:
        order.held.pop(id(handle), None)
        leave(handle, *error)

    monkeypatch.setattr(FileLock, "try_acquire", lambda lock: order.take(lock, try_acquire(lock)))
    monkeypatch.setattr(LockHandle, "__exit__", exit_lock)
    return order


@pytest.fixture
def work(tmp_path: Path, run_vibes: RunVibes) -> Workspace:
    """A repository with a trail whose records wait for a commit."""
    work = Workspace(tmp_path / "work", hook=False)
    run_vibes("init", "--project-name", "p", cwd=work.path)
    work.write("app.py", ONE)
    work.git("add", "--all")
    work.git("commit", "--quiet", "--no-verify", "--message", "Begin")
    return work


def test_a_fold(tmp_path: Path, order: Order) -> None:
    directory = new_trail(tmp_path)
    AuditWriter(directory).entry({"type": "other", "created_at": "2026-02-03T10:00:00Z"})
    assert fold_journal(directory) == 1
    assert order.kept_by(FOLD, APPEND)
    assert (APPEND, frozenset({FOLD})) in order.taken


def test_a_commit_and_one_that_is_given_up(
    work: Workspace, run_vibes: RunVibes, order: Order
) -> None:
    work.write_as_ai("app.py", ONE + TWO, 5, 6)
    work.git("add", "app.py")
    assert run_vibes("backfill", "--pre-commit", cwd=work.path).code == 0
    assert (work.path / LOG).read_bytes() != b""
    assert order.kept_by(FOLD, APPEND)
    order.taken.clear()
    run_vibes("log", cwd=work.path)
    assert (work.path / LOG).read_bytes() == b"", "taken back"
    assert order.kept_by(FOLD, APPEND)


def test_records_that_are_put_back(work: Workspace, run_vibes: RunVibes, order: Order) -> None:
    work.write_as_ai("app.py", ONE + TWO, 5, 6)
    work.git("add", "--all")
    assert run_vibes("backfill", "--pre-commit", cwd=work.path).code == 0
    work.git("commit", "--quiet", "--no-verify", "--message", "More")
    before = (work.path / LOG).read_bytes()
    (work.path / LOG).write_bytes(b"")
    work.git("add", "--all")
    order.taken.clear()
    assert run_vibes("backfill", "--pre-commit", cwd=work.path).code == 0
    assert (work.path / LOG).read_bytes() == before
    assert order.kept_by(FOLD, APPEND)
    assert (APPEND, frozenset({FOLD})) in order.taken


def test_a_merge(tmp_path: Path, run_vibes: RunVibes, order: Order) -> None:
    branches = Branches(tmp_path / "project", run_vibes)
    branches.conflict("merge", "main")
    order.taken.clear()
    assert run_vibes("merge", "main", cwd=branches.root).code == 0
    assert order.kept_by(FOLD, APPEND)
    assert (APPEND, frozenset({FOLD})) in order.taken
