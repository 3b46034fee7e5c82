"""Where the records of a trail alone put its annotations, without git and kept texts."""

from __future__ import annotations

from vibes_lsp.anchors.text import Text
from vibes_lsp.placing.placements import Placement
from vibes_lsp.placing.project_owners import KnownFile, place_file
from vibes_lsp.trail.trail import Trail


def placed_by_records(trail: Trail, path: str, text: Text) -> list[Placement]:
    """Return the placements of a file."""
    return place_file(trail, (path,), text, KnownFile())
