"""Edits above a range shift it, edits inside touch it, others change nothing."""

from __future__ import annotations

import pytest

from vibes_lsp.anchors.live_edits import Edits, ShiftedRange


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
