"""A file with a history, and where the annotations of its trail are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.index.opened import opened
from vibes_lsp.anchors.text import Text
from vibes_lsp.history.repository import open_repository
from vibes_lsp.index.file_history import FileHistories, FileHistory
from vibes_lsp.index.lineage_commits import resolve_commits
from vibes_lsp.index.locate_annotations import locate_annotations
from vibes_lsp.index.placements import Placement

if TYPE_CHECKING:
    from pathlib import Path

    from vibes_lsp.anchors.location import LocatedRange
    from vibes_lsp.history.project_history import ProjectHistory

LINES = [f"value_{number} = compute_{number}(seed)\n" for number in range(1, 41)]
FILE = "".join(LINES)
EDITED = "".join(
    [*LINES[:11], "# a person's\n", *LINES[11:13], "value_14 = other()\n", *LINES[14:]]
)
"""`FILE` with two edits in lines 10 to 19: one put in, one changed."""


def past_of(root: Path, history: ProjectHistory, path: str) -> FileHistory:
    trail = opened(root)
    repository = open_repository(root)
    assert repository is not None
    derived = resolve_commits(trail.lineages(), repository, trail.directory)
    return FileHistories(trail, history, derived).of(
        path, Text.from_bytes((root / path).read_bytes())
    )


def placed(root: Path, history: ProjectHistory, path: str = "a.py") -> list[Placement]:
    past = past_of(root, history, path)
    return locate_annotations(opened(root), path, Text.from_bytes((root / path).read_bytes()), past)


def only(root: Path, history: ProjectHistory, path: str = "a.py") -> LocatedRange:
    (placement,) = placed(root, history, path)
    return placement.located


def kinds(located: LocatedRange) -> str:
    return "".join(kind[0] for kind in located.kinds)


AFTER = "2026-02-03T11:00:00+00:00"
"""After the first records of a trail."""
BEFORE = "2026-02-03T08:00:00.000Z"
"""Before the first commits of a repository."""
