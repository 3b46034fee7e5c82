"""A recorded project in a repository with rewritten history, for rules about commits in the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tests.stories.workspace import LOG, Workspace
from vibes_lsp.maintenance.backfill import backfill
from vibes_lsp.recording import Recorder

if TYPE_CHECKING:
    from pathlib import Path

TEXT: Final = "".join(f"value_{number} = compute({number})\n" for number in range(6))


def committed_project(root: Path) -> Workspace:
    """Return a repository with committed annotations on `a.py` and `b.py`, and a later commit."""
    work = Workspace(root, hook=False)
    work.init()
    work.write_as_ai("a.py", TEXT, 1, 6)
    work.write_as_ai("b.py", TEXT, 1, 6)
    work.commit("One")
    work.commit("Two")
    return work


def backfilled_project(root: Path) -> Workspace:
    """Return that repository with its commits back-filled and committed."""
    work = committed_project(root)
    with Recorder(root) as recorder:
        backfill(recorder)
    work.commit("Filled in")
    return work


def rewritten_project(root: Path, text: str) -> Workspace:
    """Return that repository squashed into one commit, with another text of `a.py`."""
    work = backfilled_project(root)
    work.write("a.py", text)
    work.git("checkout", "--quiet", "--orphan", "other")
    work.commit("All at once")
    work.git("branch", "-D", "main")
    return work


def added_records(work: Workspace, before: int) -> list[dict[str, Any]]:
    """Return the records after the first `before` ones."""
    return work.records()[before:]


def log_bytes(work: Workspace) -> bytes:
    """Return the content of the log."""
    return (work.path / LOG).read_bytes()
