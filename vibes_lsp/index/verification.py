"""Why an annotation is not verified, in words, and what would have helped."""

from __future__ import annotations

from typing import Final

from vibes_lsp.anchors.located import Method, State
from vibes_lsp.index.placements import Placement
from vibes_lsp.model.vocabulary import RecordType

BEFORE_EDIT: Final = "git had its text before it was recorded"
"""Either the tool made the anchors of the text before the edit, or the edit was recorded after its commit (R14)."""
OLDER: Final = "git had its lines before it was recorded"
"""History disproves the record: the edit was dropped, or its lines are others than the tool says (R15)."""
REMEDY: Final = "record an edit before it is committed"
"""What keeps an annotation from being `BEFORE_EDIT`."""


def doubt(placement: Placement) -> str | None:
    """Return why an annotation is not verified; None where it is, or where its lines are known to be edited or gone."""
    located = placement.located
    if located.state != State.UNVERIFIED:
        return None
    if located.method == Method.ANCHOR_BEFORE_EDIT:
        return BEFORE_EDIT
    if located.method == Method.OLDER_THAN_EDIT:
        return OLDER
    return (
        "found by name only"
        if placement.current.type == RecordType.FUNCTION
        else "the record has nothing to check against"
    )


def since(placement: Placement) -> str | None:
    """Return since when git has the lines of an annotation that history disproves, in words; None of any other."""
    known = placement.located.since
    return (
        None
        if known is None
        else f"since {known.moment.date().isoformat()} or earlier (commit {known.commit[:8]})"
    )
