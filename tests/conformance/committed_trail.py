"""A trail in a repository, written by this program, with a commit that was rewritten; for the rules about writing commits into a log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tests.stories.workspace import LOG, Workspace
from vibes_lsp.maintenance.backfill import backfill
from vibes_lsp.recording import Recorder

if TYPE_CHECKING:
    from pathlib import Path

TEXT: Final = "".join(f"value_{number} = compute({number})\n" for number in range(6))


def committed_project(root: Path) -> Workspace:
    """Return a repository with an annotation on `a.py` and one on `b.py`, committed, and one more commit after that."""
    work = Workspace(root, hook=False)
    work.init()
    work.write_as_ai("a.py", TEXT, 1, 6)
    work.write_as_ai("b.py", TEXT, 1, 6)
    work.commit("One")
    work.commit("Two")
    return work


def backfilled_project(root: Path) -> Workspace:
    """Return the same with its commit filled in, and that committed."""
    work = committed_project(root)
    with Recorder(root) as recorder:
        backfill(recorder)
    work.commit("Filled in")
    return work


def rewritten_project(root: Path, text: str) -> Workspace:
    """Return the same after all its commits became one, in which `a.py` has another text."""
    work = backfilled_project(root)
    work.write("a.py", text)
    work.git("checkout", "--quiet", "--orphan", "other")
    work.commit("All at once")
    work.git("branch", "-D", "main")
    return work


def added_records(work: Workspace, before: int) -> list[dict[str, Any]]:
    """Return the records that were written since the log had so many."""
    return work.records()[before:]


def log_bytes(work: Workspace) -> bytes:
    """Return the log as it is."""
    return (work.path / LOG).read_bytes()
