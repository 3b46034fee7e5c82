"""Edits above a range shift it, edits inside touch it, others change nothing."""

from __future__ import annotations

import pytest

from vibes_lsp.anchors.create_anchors import Anchors, create_anchors
from vibes_lsp.anchors.live_edits import Edits, ShiftedRange, apply_edits
from vibes_lsp.anchors.location import AnchoredRange, LocatedRange, Method, State
from vibes_lsp.anchors.text import Text

LINES = [f"value_{number} = compute({number})" for number in range(1, 13)]
RECORDED = AnchoredRange(4, 7, create_anchors(Text("\n".join(LINES)), 4, 7))
EXACT = LocatedRange(4, 7, State.EXACT, Method.ANCHOR_HASH, 0.99, intact=4)


def span_after(*edits: tuple[int, int, int]) -> ShiftedRange:
    """Follow lines 4-7 through edits: the first line (1-based), lines removed and inserted."""
    gathered = Edits()
    for line, removed, inserted in edits:
        gathered.add(line - 1, removed, inserted)
    return gathered.follow(4, 7)


@pytest.mark.parametrize(
    ("edit", "start", "end"),
    [
        ((1, 0, 2), 6, 9),
        ((1, 2, 0), 2, 5),
        ((2, 1, 1), 4, 7),
        ((4, 0, 3), 7, 10),
        ((3, 1, 2), 5, 8),
        ((3, 1, 0), 3, 6),
        ((8, 0, 3), 4, 7),
        ((8, 1, 0), 4, 7),
        ((8, 2, 5), 4, 7),
        ((11, 1, 0), 4, 7),
    ],
)
def test_an_edit_beside_a_range_does_not_touch_it(
    edit: tuple[int, int, int], start: int, end: int
) -> None:
    assert span_after(edit) == ShiftedRange(start, end)


@pytest.mark.parametrize(
    ("edit", "start", "end"),
    [
        ((4, 1, 1), 4, 7),
        ((7, 1, 1), 4, 7),
        ((5, 0, 2), 4, 9),
        ((7, 0, 1), 4, 8),
        ((5, 2, 0), 4, 5),
        ((4, 1, 0), 4, 6),
        ((4, 1, 2), 4, 8),
        ((7, 1, 3), 4, 9),
        ((4, 4, 2), 4, 5),
        ((4, 4, 9), 4, 12),
        ((2, 4, 0), 2, 3),
        ((6, 4, 0), 4, 5),
        ((2, 4, 1), 3, 4),
        ((6, 4, 1), 4, 5),
        ((3, 2, 2), 4, 7),
        ((2, 8, 8), 4, 7),
    ],
)
def test_an_edit_inside_a_range_touches_it(
    edit: tuple[int, int, int], start: int, end: int
) -> None:
    assert span_after(edit) == ShiftedRange(start, end, touched=True)


@pytest.mark.parametrize(("edit", "start"), [((4, 4, 0), 4), ((2, 8, 0), 2)])
def test_deleted_lines_leave_an_empty_range(edit: tuple[int, int, int], start: int) -> None:
    assert span_after(edit) == ShiftedRange(start, start - 1, touched=True)
    assert span_after(edit).is_empty


def test_lines_may_be_replaced_completely() -> None:
    span = span_after((2, 8, 3))
    assert (span.is_empty, span.replaced) == (True, True)


@pytest.mark.parametrize(
    ("edits", "span"),
    [
        ([(1, 0, 1), (5, 0, 1)], ShiftedRange(6, 9)),
        ([(4, 4, 0), (4, 0, 4)], ShiftedRange(4, 7, touched=True)),
        ([(1, 0, 3), (1, 3, 0)], ShiftedRange(4, 7)),
        ([(5, 0, 2), (5, 2, 0)], ShiftedRange(4, 7)),
        ([(4, 1, 1), (4, 0, 1)], ShiftedRange(5, 8, touched=True)),
        ([(7, 1, 1), (8, 0, 1)], ShiftedRange(4, 7, touched=True)),
        ([(3, 1, 1), (4, 0, 1)], ShiftedRange(5, 8)),
        ([(3, 1, 0), (3, 0, 1)], ShiftedRange(4, 7)),
        ([(8, 1, 0), (8, 0, 2)], ShiftedRange(4, 7)),
        ([(9, 1, 2), (1, 0, 1), (6, 1, 1)], ShiftedRange(5, 8, touched=True)),
        ([(6, 1, 1), (5, 1, 1), (5, 2, 4)], ShiftedRange(4, 9, touched=True)),
    ],
)
def test_several_edits(edits: list[tuple[int, int, int]], span: ShiftedRange) -> None:
    assert span_after(*edits) == span


def test_edits_are_true_if_anything_changed() -> None:
    edits = Edits()
    assert not edits
    edits.add(3, 0, 2)
    assert edits
    edits.add(3, 2, 0)
    assert not edits


def test_a_range_is_cut_at_the_end_of_the_text() -> None:
    assert ShiftedRange(4, 7).within(7) == ShiftedRange(4, 7)
    assert ShiftedRange(4, 7).within(5) == ShiftedRange(4, 5, touched=True)
    assert ShiftedRange(4, 7).within(2).is_empty


def test_an_untouched_range_is_exact_only_where_it_was_recorded() -> None:
    moved = apply_edits(EXACT, RECORDED, ShiftedRange(6, 9), ())
    assert moved == LocatedRange(6, 9, State.MOVED, Method.ANCHOR_HASH, 0.99, intact=4)
    assert apply_edits(moved, RECORDED, ShiftedRange(4, 7), ()) == EXACT


def test_a_touched_range_is_edited_until_its_text_is_restored() -> None:
    edited = apply_edits(EXACT, RECORDED, ShiftedRange(4, 7, touched=True), ["x", *LINES[4:7]])
    assert edited == LocatedRange(4, 7, State.EDITED, Method.HISTORY, 0.9)
    assert apply_edits(edited, RECORDED, ShiftedRange(4, 7, touched=True), LINES[3:7]) == EXACT
    assert (
        apply_edits(edited, RECORDED, ShiftedRange(5, 8, touched=True), LINES[3:7]).state
        == State.MOVED
    )
    assert (
        apply_edits(EXACT, RECORDED, ShiftedRange(4, 8, touched=True), [*LINES[3:7], "more"]).state
        == State.EDITED
    )
    assert (
        apply_edits(EXACT, RECORDED, ShiftedRange(4, 6, touched=True), LINES[3:6]).state
        == State.EDITED
    )


def test_an_ambiguous_place_stays_ambiguous() -> None:
    doubtful = LocatedRange(4, 7, State.EDITED, Method.CONTEXT, 0.4, ambiguous=True)
    assert apply_edits(doubtful, RECORDED, ShiftedRange(5, 8), ()) == LocatedRange(
        5, 8, State.EDITED, Method.CONTEXT, 0.4, ambiguous=True
    )
    assert apply_edits(
        doubtful, RECORDED, ShiftedRange(5, 8, touched=True), LINES[:4]
    ) == LocatedRange(5, 8, State.EDITED, Method.CONTEXT, 0.4, ambiguous=True)
    again = apply_edits(doubtful, RECORDED, ShiftedRange(4, 7, touched=True), LINES[3:7])
    assert (again.state, again.sure) == (State.EXACT, False)


def test_the_file_hash_proves_nothing_after_an_edit() -> None:
    whole = LocatedRange(4, 7, State.EXACT, Method.FILE_HASH, 1.0, intact=4)
    assert apply_edits(whole, RECORDED, ShiftedRange(5, 8), ()) == LocatedRange(
        5, 8, State.MOVED, Method.ANCHOR_HASH, 0.99, intact=4
    )
    without = AnchoredRange(4, 7, Anchors(file_hash="0" * 64))
    assert apply_edits(whole, without, ShiftedRange(4, 7), ()) == LocatedRange(
        4, 7, State.EXACT, Method.HISTORY, 0.99, intact=4
    )
    assert (
        apply_edits(whole, without, ShiftedRange(4, 7, touched=True), LINES[3:7]).state
        == State.EDITED
    )


@pytest.mark.parametrize(
    "base", [EXACT, LocatedRange(4, 7, State.UNVERIFIED, Method.RECORDED, 0.3)]
)
def test_a_deleted_range_is_lost(base: LocatedRange) -> None:
    lost = apply_edits(base, RECORDED, ShiftedRange(4, 3, touched=True), ())
    assert (lost.start, lost.end, lost.state, lost.confidence, lost.intact) == (
        None,
        None,
        State.LOST,
        0.0,
        None,
    )


def test_an_unverified_range_only_moves() -> None:
    recorded = LocatedRange(4, 7, State.UNVERIFIED, Method.RECORDED, 0.3)
    named = LocatedRange(4, 4, State.UNVERIFIED, Method.NAME, 0.6)
    assert apply_edits(recorded, RECORDED, ShiftedRange(6, 9), ()) == LocatedRange(
        6, 9, State.UNVERIFIED, Method.RECORDED, 0.3
    )
    assert apply_edits(recorded, RECORDED, ShiftedRange(4, 7, touched=True), LINES[3:7]) == recorded
    assert apply_edits(named, None, ShiftedRange(5, 5, touched=True), ["x"]) == LocatedRange(
        5, 5, State.UNVERIFIED, Method.NAME, 0.6
    )
