"""Read a trail that a test wrote, and name its lineages by ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from vibes_lsp.trail.lineage import Lineage, NearestCommit

ENVIRONMENT = "e0" * 32
"""Key of an environment, for records whose context does not matter."""


def read_trail(root: Path, nearest: NearestCommit | None = None) -> Trail:
    """Read the trail of the project at `root`."""
    trail = Trail(AuditDir(root / ".ai-audit"), nearest_commit=nearest)
    trail.refresh()
    return trail


def current_ids(lineages: Iterable[Lineage]) -> list[str]:
    """Return the ids of the current records of lineages that are not history, by rank."""
    return [lineage.current.id for lineage in lineages if not lineage.superseded_by]


def lineage_of(trail: Trail, identifier: str) -> Lineage:
    """Return the lineage of an existing id."""
    found = trail.lineage_of(identifier)
    assert found is not None
    return found
