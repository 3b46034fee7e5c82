"""What replaced the lines of a lost annotation: a later edit that wrote the whole file, though no edge says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from vibes_lsp.anchors.located import State

if TYPE_CHECKING:
    from vibes_lsp.index.past import Past
    from vibes_lsp.index.placements import Placement


def whole_files(placements: Sequence[Placement], length: int, past: Past) -> list[Placement]:
    """Return the edits that are known to have written the whole file: it is their lines alone now, or was when they were made."""
    if not any(_is_lost(each) for each in placements):
        return []
    found = []
    for each in placements:
        origin = past.origins.get(each.lineage.first.id)
        is_now = each.located.sure and (each.located.start, each.located.end) == (1, length)
        was = (
            origin is not None and not (origin.inferred or origin.before_edit) and (origin.start, origin.end) == (1, len(origin.text.lines))
        )
        if each.may_own and each.located.may_own and (is_now or was):
            found.append(each)
    return found


def with_replacing(placements: Sequence[Placement], whole: Sequence[Placement]) -> list[Placement]:
    """Return placements, those that are lost with the next edit that wrote the whole file."""
    whole = sorted(whole, key=lambda each: each.lineage.rank)
    found = list(placements)
    for number, each in enumerate(found):
        later = (other.current.id for other in whole if other.lineage.rank > each.lineage.rank)
        if whole and _is_lost(each) and (replacing := next(later, None)) is not None:
            found[number] = replace(each, replaced_by=replacing)
    return found


def _is_lost(placement: Placement) -> bool:
    return placement.may_own and placement.located.state == State.LOST
