"""Follow the lines of annotations through edits of a document that touch none of them."""

from __future__ import annotations

from msgspec.structs import replace

from vibes_lsp.anchors.live_edits import Edits
from vibes_lsp.anchors.location import LocatedRange, Method, State
from vibes_lsp.model.vocabulary import Action
from vibes_lsp.placing.placements import Placement
from vibes_lsp.trail.records import recorded_lines


def follow(placement: Placement, edits: Edits, length: int) -> Placement | None:
    """Return where a placement is after edits; None if these touch lines that it owns.

    Args:
        placement: Where it was.
        edits: The edits since.
        length: The number of lines now.
    """
    located = placement.located
    if located.start is None or located.end is None:
        return placement
    if not placement.owned_ranges or located.method == Method.RECORDED:
        now = _without_lines(placement, located, edits, length)
        owned = placement.owned_ranges and now.start is not None and now.end is not None
        ranges = ((now.start or 0, now.end or 0),) if owned else ()
        return replace(placement, located=now, owned_ranges=ranges)
    span = edits.follow(located.start, located.end)
    if span.touched or span.end > length:
        return None
    shift = span.start - located.start
    if not shift:
        return placement
    return replace(
        placement,
        located=_moved(placement, located, shift),
        owned_ranges=tuple((start + shift, end + shift) for start, end in placement.owned_ranges),
    )


def _moved(placement: Placement, located: LocatedRange, shift: int) -> LocatedRange:
    start, end = (located.start or 0) + shift, (located.end or 0) + shift
    state, method, confidence = located.state, located.method, located.confidence
    if located.sure:
        is_exact = recorded_lines(placement.current) == (start, end)
        state = State.EXACT if is_exact else State.MOVED
    if method == Method.FILE_HASH:  # the file has changed
        method, confidence = Method.ANCHOR_HASH, min(confidence, 0.99)
    return replace(located, start=start, end=end, state=state, method=method, confidence=confidence)


def _without_lines(
    placement: Placement, located: LocatedRange, edits: Edits, length: int
) -> LocatedRange:
    """Return where an annotation is that owns no line: a function, or what was removed."""
    span = edits.follow(located.start or 1, located.end or 1)
    if placement.lineage.action == Action.DELETE:  # between two lines, shown at one of them
        line = max(1, min(span.start, length))
        return replace(located, start=line, end=line)
    span = span.within(length)
    if span.is_empty:
        return LocatedRange(None, None, State.LOST, located.method, 0.0)
    state = State.EDITED if span.touched and located.sure else located.state
    return replace(located, start=span.start, end=span.end, state=state, intact=None, kinds=())
