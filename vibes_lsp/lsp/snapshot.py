"""A file as it is answered about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vibes_lsp.anchors.text import Text
from vibes_lsp.index.placements import Placement
from vibes_lsp.reports.placements import PlacementReport

if TYPE_CHECKING:
    from vibes_lsp.lsp.project import Project


@dataclass(frozen=True, slots=True)
class DocumentSnapshot:
    """Its project, its path in it, its text, and the placements in that text."""

    project: Project
    path: str
    uri: str
    version: int | None
    text: Text
    placements: tuple[Placement, ...]
    report: PlacementReport
    is_provisional: bool
