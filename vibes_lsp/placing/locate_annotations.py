"""Locate annotations of a file by their anchors alone: while something is recorded (R15).

Recording may neither run git nor wait. Whose a line is, is decided by `placing`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from vibes_lsp.anchors.locate import locate
from vibes_lsp.anchors.location import LocatedRange
from vibes_lsp.anchors.text import Text
from vibes_lsp.model.vocabulary import Action
from vibes_lsp.placing.edit_placements import place_function
from vibes_lsp.placing.hash_placement import consecutive
from vibes_lsp.placing.placements import Placement, ShownLineage, deduplicate
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.trail import Trail

_OWNS_NOTHING: Final = frozenset({Action.DELETE, Action.REVIEW})


def locate_on_lines(trail: Trail, path: str, text: Text, lines: tuple[int, int]) -> list[Placement]:
    """Return the edits on some lines of a file that no other edit has replaced.

    Args:
        trail: The trail, refreshed.
        path: Relative to the project, forward slashes.
        text: The file as it is now, saved or not.
        lines: First and last line, 1-based and inclusive; ranges owned outside are left out.
    """
    shown = [
        annotation
        for annotation in deduplicate(
            [
                lineage
                for lineage in trail.lineages_in(path)
                if _is_edit(lineage) or lineage.may_be_placeholder
            ]
        )
        if _is_edit(annotation.lineage) and not annotation.is_placeholder
    ]
    places = locate_alone([annotation.lineage for annotation in shown], text)
    return _placed(path, zip(shown, places, strict=True), lines)


def _is_edit(lineage: Lineage) -> bool:
    return not lineage.superseded_by and lineage.action not in _OWNS_NOTHING


def locate_alone(lineages: Sequence[Lineage], text: Text) -> list[LocatedRange]:
    """Return where edits are in a text by their own anchors."""
    ranges = [lineage.recorded_range for lineage in lineages]
    located = iter(locate([recorded for recorded in ranges if recorded is not None], text))
    return [
        place_function(lineage.current, lineage.anchor_hash, text)
        if recorded is None
        else next(located)
        for lineage, recorded in zip(lineages, ranges, strict=True)
    ]


def _placed(
    path: str, located: Iterable[tuple[ShownLineage, LocatedRange]], lines: tuple[int, int]
) -> list[Placement]:
    """Assign each of some lines to the highest ranked edit on it; evidence comes first (R7)."""
    free = set(range(lines[0], lines[1] + 1))
    placements = []
    for shown, where in sorted(
        located, key=lambda pair: (pair[1].sure, pair[0].lineage.rank), reverse=True
    ):
        on_lines = range(max(where.start or 0, lines[0]), min(where.end or 0, lines[1]) + 1)
        if not on_lines:
            continue
        own = free.intersection(on_lines) if shown.may_own_lines and where.may_own else ()
        free.difference_update(own)
        owned = tuple((block.start, block.stop - 1) for block in consecutive(sorted(own)))
        placements.append(Placement(path, shown, where, owned))
    return sorted(placements, key=lambda placement: placement.sort_key)
