"""Alignments keep the order of lines; an edit in one place leaves all other lines."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from vibes_lsp.anchors.align import align, came_from

LINES = st.lists(st.sampled_from(["", "}", "a = 1", "b = 2", "    a = 1", "return c"]), max_size=25)
UNIQUE = st.lists(st.integers(0, 999), unique=True, max_size=30).map(
    lambda numbers: [f"value_{number}" for number in numbers]
)


@given(LINES, LINES)
def test_equal_lines_are_matched_in_order(old: list[str], new: list[str]) -> None:
    found = align(old, new)
    assert len(found) == len(old)
    matched = [(line, place) for line, place in enumerate(found) if place >= 0]
    assert all(old[line] == new[place] for line, place in matched)
    assert all(one[1] < other[1] for one, other in pairwise(matched))


@given(LINES)
def test_a_text_aligns_with_itself(lines: list[str]) -> None:
    assert align(lines, lines) == list(range(len(lines)))


@given(UNIQUE, st.integers(0, 30), st.integers(0, 5), LINES)
def test_an_edit_at_one_place_leaves_the_rest(
    lines: list[str], at: int, removed: int, added: list[str]
) -> None:
    at = min(at, len(lines))
    removed = min(removed, len(lines) - at)
    found = align(lines, [*lines[:at], *added, *lines[at + removed :]])
    assert found[:at] == list(range(at))
    assert found[at + removed :] == [
        number - removed + len(added) for number in range(at + removed, len(lines))
    ]


@given(st.integers(0, 60), st.integers(140, 199), LINES, LINES, st.integers(0, 199))
def test_edits_near_both_ends_of_a_long_text_leave_what_is_between(
    begin: int, end: int, added: list[str], more: list[str], again: int
) -> None:
    lines = [f"value_{number}" for number in range(200)]
    new = [*lines[:begin], *added, *lines[begin + 1 : end], *more, lines[again], *lines[end + 1 :]]
    found = align(lines, new)
    assert found[begin + 1 : end] == list(range(begin + len(added), len(added) + end - 1))
    assert found[:begin] == list(range(begin))
    assert found[end + 1 :] == list(range(len(new) - len(lines) + end + 1, len(new)))


@given(LINES, LINES)
def test_a_new_line_comes_from_an_equal_old_one_in_order(old: list[str], new: list[str]) -> None:
    origins = came_from(old, new)
    assert len(origins) == len(new)
    known = [(place, origin) for place, origin in enumerate(origins) if origin >= 0]
    assert all(new[place] == old[origin] for place, origin in known)
    assert all(one[1] < other[1] for one, other in pairwise(known))


@given(LINES)
def test_each_line_of_a_text_comes_from_itself(lines: list[str]) -> None:
    assert came_from(lines, lines) == list(range(len(lines)))


@given(UNIQUE, st.integers(0, 30))
def test_an_inserted_line_is_new_and_the_rest_is_not(lines: list[str], at: int) -> None:
    at = min(at, len(lines))
    expected = [*range(at), -1, *range(at, len(lines))]
    assert came_from(lines, [*lines[:at], "inserted", *lines[at:]]) == expected


def test_inserted_boilerplate_may_be_each_of_the_equal_lines_around_it() -> None:
    old = ["first_value = 1", "}", "second_value = 2"]
    new = ["first_value = 1", "}", "}", "second_value = 2"]
    assert came_from(old, new) == [0, -1, -1, 2]


def test_inserted_boilerplate_may_be_the_lines_that_it_repeats() -> None:
    old = ["first_value = 1", "}", "", "second_value = 2"]
    new = ["first_value = 1", "}", "", "}", "", "second_value = 2"]
    assert came_from(old, new) == [0, -1, -1, -1, -1, 3]


def test_an_inserted_long_line_is_not_taken_for_another() -> None:
    old = ["first_value = 1", "second_value = 2"]
    new = ["first_value = 1", "first_value = 1", "second_value = 2"]
    assert came_from(old, new).count(-1) == 1


def test_boilerplate_that_replaces_a_line_leaves_the_lines_around_it() -> None:
    old = ["first_value = 1", "}", "removed_value = 3", "second_value = 2"]
    new = ["first_value = 1", "}", "}", "second_value = 2"]
    assert came_from(old, new) == [0, 1, -1, 3]


def test_boilerplate_at_the_end_may_be_the_line_before_it() -> None:
    assert came_from(["first_value = 1", "}"], ["first_value = 1", "}", "}"]) == [0, -1, -1]


def test_texts_that_need_a_pass_for_each_line_are_given_up() -> None:
    """Each pass finds one unique line, behind which the next one becomes unique."""
    old: list[str] = []
    new: list[str] = []
    for number in range(4_000, 1, -1):
        old += [f"line {number - 1}", f"line {number}"]
        new += ["}", f"line {number}"]
    matched = sum(place >= 0 for place in align(old, new))
    assert 0 < matched < 1_000
