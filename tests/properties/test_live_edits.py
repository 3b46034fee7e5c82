"""Ranges follow any edits as numbered lines do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hypothesis import given
from hypothesis import strategies as st

from vibes_lsp.anchors.live_edits import Edits, ShiftedRange

if TYPE_CHECKING:
    from collections.abc import Iterable

SIZE: Final = 12
EDITS: Final = st.lists(
    st.tuples(st.integers(0, 20), st.integers(0, 6), st.integers(0, 6)), max_size=12
)
RANGES: Final = st.tuples(st.integers(1, SIZE), st.integers(1, SIZE)).map(sorted)


@dataclass
class Numbered:
    """A text of numbered lines: original ones are positive, inserted ones 0."""

    lines: list[int]
    edits: Edits

    def edit(self, place: int, removed: int, inserted: int) -> tuple[int, list[int], int]:
        """Edit, as far as the text goes; return what would undo it."""
        place = min(place, len(self.lines))
        old = self.lines[place : place + removed]
        self.lines[place : place + removed] = [0] * inserted
        self.edits.add(place, len(old), inserted)
        return place, old, inserted

    def undo(self, place: int, old: list[int], inserted: int) -> None:
        self.lines[place : place + inserted] = old
        self.edits.add(place, inserted, len(old))


def numbered(edits: Iterable[tuple[int, int, int]] = ()) -> Numbered:
    """Return a text whose lines are their numbers, after these edits."""
    text = Numbered(list(range(1, SIZE + 1)), Edits())
    for edit in edits:
        text.edit(*edit)
    return text


@given(EDITS, RANGES)
def test_a_range_that_is_not_touched_is_the_same_lines(
    edits: list[tuple[int, int, int]], range_: list[int]
) -> None:
    text, (start, end) = numbered(edits), range_
    span = text.edits.follow(start, end)
    if not span.touched:
        assert text.lines[span.start - 1 : span.end] == list(range(start, end + 1))


@given(EDITS, RANGES)
def test_a_range_keeps_the_lines_that_are_left_of_it_and_gets_none_of_others(
    edits: list[tuple[int, int, int]], range_: list[int]
) -> None:
    text, (start, end) = numbered(edits), range_
    span = text.edits.follow(start, end)
    left = [line for line in text.lines if start <= line <= end]
    inside = text.lines[span.start - 1 : span.end]
    assert 1 <= span.start <= span.end + 1 <= len(text.lines) + 1
    assert set(inside) <= {*range(start, end + 1), 0}
    if span.touched:  # lines may be joined into what was edited, but then none is called the AI's
        assert len([line for line in inside if line]) <= len(left)
    else:
        assert inside == left


@given(EDITS, RANGES, st.integers(1, 5))
def test_lines_above_move_a_range_and_lines_below_do_nothing(
    edits: list[tuple[int, int, int]], range_: list[int], size: int
) -> None:
    text, (start, end) = numbered(edits), range_
    before = text.edits.follow(start, end)
    if before.touched:  # lines that come beside a gap may be those that are missing
        return
    text.edit(before.end, 0, size)
    assert text.edits.follow(start, end) == before
    text.edit(before.start - 1, 0, size)
    assert text.edits.follow(start, end) == ShiftedRange(before.start + size, before.end + size)


@given(st.tuples(st.integers(0, 20), st.integers(0, 6), st.integers(0, 6)), RANGES)
def test_an_undone_edit_changes_no_range(edit: tuple[int, int, int], range_: list[int]) -> None:
    text, (start, end) = numbered(), range_
    text.undo(*text.edit(*edit))
    span = text.edits.follow(start, end)
    assert (span.start, span.end) == (start, end)


@given(st.lists(st.tuples(st.integers(0, SIZE), st.integers(1, 6)), max_size=6), RANGES)
def test_lines_that_were_deleted_one_after_the_other_can_all_come_back(
    cuts: list[tuple[int, int]], range_: list[int]
) -> None:
    text, (start, end) = numbered(), range_
    done = [text.edit(place, removed, 0) for place, removed in cuts]
    for each in reversed(done):
        text.undo(*each)
    span = text.edits.follow(start, end)
    assert (span.start, span.end) == (start, end)


@given(EDITS, RANGES)
def test_no_inserted_line_is_of_the_ai(
    edits: list[tuple[int, int, int]], range_: list[int]
) -> None:
    text, (start, end) = numbered(edits), range_
    span = text.edits.follow(start, end)
    origins = text.edits.origins(start, end)
    if span.replaced:
        return
    inside = text.lines[span.start - 1 : span.end]
    assert all(origin in {0, line} for line, origin in zip(inside, origins, strict=True))
