"""A file with a git history, and where its annotations are located."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.trail.trails import read_trail
from vibes_lsp.anchors.text import Text
from vibes_lsp.placing.placements import Placement
from vibes_lsp.placing.project_locator import ProjectLocator

if TYPE_CHECKING:
    from pathlib import Path

    from vibes_lsp.anchors.location import LocatedRange

LINES = [f"value_{number} = compute_{number}(seed)\n" for number in range(1, 41)]
FILE = "".join(LINES)
EDITED = "".join(
    [*LINES[:11], "# a person's\n", *LINES[11:13], "value_14 = other()\n", *LINES[14:]]
)
"""`FILE` with two edits in lines 10 to 19: a line inserted, a line changed."""


def placements_of(root: Path, path: str = "a.py") -> list[Placement]:
    with ProjectLocator(read_trail(root)) as locator:
        return locator.locate(path, Text.from_bytes((root / path).read_bytes()))


def only_location(root: Path, path: str = "a.py") -> LocatedRange:
    (placement,) = placements_of(root, path)
    return placement.located


AFTER = "2026-02-03T11:00:00+00:00"
"""A time after the first records of a trail."""
BEFORE = "2026-02-03T08:00:00.000Z"
"""A time before the first commits of a repository."""
