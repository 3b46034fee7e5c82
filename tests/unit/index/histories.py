"""A file with a git history, and where its annotations are located."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tests.unit.trail.trails import read_trail
from vibes_lsp.anchors.text import Text
from vibes_lsp.history.repository import open_repository
from vibes_lsp.index.file_history import FileHistories, FileHistory
from vibes_lsp.index.locate_annotations import locate_annotations
from vibes_lsp.index.moves import MovedOut
from vibes_lsp.placing.placements import Placement
from vibes_lsp.store.kept_texts import read_kept_text
from vibes_lsp.trail.lineage_commits import resolve_commits

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from vibes_lsp.anchors.location import LocatedRange
    from vibes_lsp.history.commit_resolution import ResolvedCommit
    from vibes_lsp.history.project_history import ProjectHistory
    from vibes_lsp.trail.trail import Trail

LINES = [f"value_{number} = compute_{number}(seed)\n" for number in range(1, 41)]
FILE = "".join(LINES)
EDITED = "".join(
    [*LINES[:11], "# a person's\n", *LINES[11:13], "value_14 = other()\n", *LINES[14:]]
)
"""`FILE` with two edits in lines 10 to 19: a line inserted, a line changed."""


def file_history_of(root: Path, history: ProjectHistory, path: str) -> FileHistory:
    trail = read_trail(root)
    repository = open_repository(root)
    assert repository is not None
    resolved = resolve_commits(trail.lineages(), repository, trail.directory)
    return file_histories(trail, history, resolved).of(
        path, Text.from_bytes((root / path).read_bytes())
    )


def file_histories(
    trail: Trail, history: ProjectHistory, resolved: Mapping[str, ResolvedCommit]
) -> FileHistories:
    """Return the histories of files, with the texts that this machine has kept."""
    kept_text = partial(read_kept_text, trail.directory)
    return FileHistories(
        trail, history, resolved, {}, MovedOut(trail), None, kept_text, lambda _: None
    )


def placements_of(root: Path, history: ProjectHistory, path: str = "a.py") -> list[Placement]:
    file_history = file_history_of(root, history, path)
    return locate_annotations(
        read_trail(root), path, Text.from_bytes((root / path).read_bytes()), file_history
    )


def only_location(root: Path, history: ProjectHistory, path: str = "a.py") -> LocatedRange:
    (placement,) = placements_of(root, history, path)
    return placement.located


def kinds(located: LocatedRange) -> str:
    return "".join(kind[0] for kind in located.kinds)


AFTER = "2026-02-03T11:00:00+00:00"
"""A time after the first records of a trail."""
BEFORE = "2026-02-03T08:00:00.000Z"
"""A time before the first commits of a repository."""
