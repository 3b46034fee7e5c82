"""Which annotation owns each line of a text, and which later edit replaced a lost one (R7, R18)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from msgspec.structs import replace

from vibes_lsp.anchors.location import LocatedRange, State
from vibes_lsp.index.file_history import FileHistory
from vibes_lsp.placing.placements import Placement, ShownLineage


def owned_ranges(
    shown: Sequence[ShownLineage], located: Sequence[LocatedRange], first: int, last: int
) -> dict[int, tuple[tuple[int, int], ...]]:
    """Assign each line from `first` to `last` to the highest ranked annotation on it.

    Evidence comes before rank: an annotation that is not sure to be on a line never takes it from
    one that is (R7).

    Args:
        shown: Annotations in the order of rank, lowest first.
        located: Where each of them is.
        first: First line, 1-based.
        last: Last line, inclusive.

    Returns:
        Ranges of lines, by the index of their owner in `shown`.
    """
    owners = [-1] * (last - first + 1)
    candidates = [
        (where.sure, number)
        for number, (each, where) in enumerate(zip(shown, located, strict=True))
        if where.start is not None
        and where.end is not None
        and where.may_own
        and each.may_own_lines
    ]
    for _, number in sorted(candidates):
        start = max(located[number].start or first, first)
        end = min(located[number].end or first, last)
        owners[start - first : end - first + 1] = [number] * max(0, end - start + 1)
    ranges: dict[int, list[tuple[int, int]]] = {}
    line = first
    for owner, run in groupby(owners):
        after = line + len(list(run))
        if owner >= 0:
            ranges.setdefault(owner, []).append((line, after - 1))
        line = after
    return {number: tuple(found) for number, found in ranges.items()}


def whole_file_edits(
    placements: Sequence[Placement], length: int, history: FileHistory
) -> list[Placement]:
    """Return the edits that wrote the whole file, if any annotation is lost."""
    if not any(_is_lost(each) for each in placements):
        return []
    return [each for each in placements if is_whole_file_edit(each, length, history)]


def is_whole_file_edit(placement: Placement, length: int, history: FileHistory) -> bool:
    """Whether an edit wrote the whole file: its only lines now, or when it was made."""
    if not (placement.may_own_lines and placement.located.may_own):
        return False
    if placement.located.sure and (placement.located.start, placement.located.end) == (1, length):
        return True
    original = history.original_texts.get(placement.lineage.first.id)
    return (
        original is not None
        and not (original.inferred or original.before_edit)
        and (original.start, original.end) == (1, len(original.text.lines))
    )


def mark_replaced(
    placements: Sequence[Placement], whole_files: Sequence[Placement]
) -> list[Placement]:
    """Set `replaced_by` of lost annotations to the next higher ranked whole-file edit."""
    by_rank = sorted(whole_files, key=lambda each: each.lineage.rank)
    found = list(placements)
    for number, each in enumerate(found):
        later = (other.current.id for other in by_rank if other.lineage.rank > each.lineage.rank)
        if by_rank and _is_lost(each) and (replaced_by := next(later, None)) is not None:
            found[number] = replace(each, replaced_by=replaced_by)
    return found


def _is_lost(placement: Placement) -> bool:
    return placement.may_own_lines and placement.located.state == State.LOST
