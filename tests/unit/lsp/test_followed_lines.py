"""Ranges follow the edits of a document; edited lines are not compared until the next pause."""

from __future__ import annotations

import pytest

from vibes_lsp.anchors.live_edits import Edits
from vibes_lsp.anchors.location import LocatedRange, Method, State
from vibes_lsp.lsp.state.document_state import follow_range

EXACT = LocatedRange(4, 7, State.EXACT, Method.ANCHOR_HASH, 0.99, intact=4)
DOUBTFUL = LocatedRange(4, 7, State.UNVERIFIED, Method.RECORDED, 0.3)


def after(where: LocatedRange, *edits: tuple[int, int, int], length: int = 20) -> LocatedRange:
    """Return where a range is after edits: the first line (1-based), lines removed and inserted."""
    collected = Edits()
    for line, removed, inserted in edits:
        collected.add(line - 1, removed, inserted)
    return follow_range(where, collected, length)


def test_a_range_that_no_edit_concerns_is_the_same() -> None:
    assert after(EXACT, (8, 1, 3)) is EXACT


def test_an_edit_above_moves_a_range() -> None:
    moved = after(EXACT, (1, 0, 2))
    assert (moved.start, moved.end, moved.sure) == (6, 9, True)


def test_an_edit_within_a_range_makes_it_edited() -> None:
    edited = after(EXACT, (5, 1, 1))
    assert (edited.start, edited.end, edited.state) == (4, 7, State.EDITED)
    assert after(DOUBTFUL, (5, 1, 1)).state == State.UNVERIFIED


@pytest.mark.parametrize("base", [EXACT, DOUBTFUL])
def test_a_deleted_range_is_lost(base: LocatedRange) -> None:
    lost = after(base, (3, 5, 0))
    assert (lost.start, lost.end, lost.state, lost.confidence) == (None, None, State.LOST, 0.0)


def test_a_last_line_that_goes_with_its_line_end_is_lost() -> None:
    last = LocatedRange(3, 3, State.EXACT, Method.ANCHOR_HASH, 0.99, intact=1)
    assert after(last, length=2).state == State.LOST
