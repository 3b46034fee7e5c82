"""Placements as they were at a moment: what was recorded later neither owns a line of an older text nor makes anything history."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from vibes_lsp.index.lineage import Lineage
from vibes_lsp.index.placements import Placement, replaced
from vibes_lsp.index.trail import Trail


def as_of(trail: Trail, placements: Sequence[Placement], moment: datetime, length: int) -> list[Placement]:
    """Return the placements that an older text can have, with the lines that they own then.

    What is sure counts whenever it was recorded: its text stands there, and clocks differ.

    Args:
        trail: Where they come from.
        placements: All, in that text.
        moment: When the text was committed; of whole seconds.
        length: The number of lines of the text.
    """
    known = [each for each in placements if each.located.sure or _was(each.lineage, moment)]
    ids = {each.current.id for each in known}

    def then(placement: Placement) -> Placement:
        replacing = tuple(each for each in placement.lineage.superseded_by if each in ids or _was_recorded(trail, each, moment))
        return replace(placement, shown=replace(placement.shown, lineage=replace(placement.lineage, superseded_by=replacing)))

    return replaced([then(each) for each in known], [each.located for each in known], length)


def _was(lineage: Lineage, moment: datetime) -> bool:
    return lineage.first.moment.replace(microsecond=0) <= moment


def _was_recorded(trail: Trail, identifier: str, moment: datetime) -> bool:
    lineage = trail.lineage_of(identifier)
    return lineage is not None and _was(lineage, moment)
