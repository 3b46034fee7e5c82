"""Alignments keep the order of lines; an edit in one place leaves all other lines."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from vibes_lsp.anchors.line_map import LineMap, align
from vibes_lsp.anchors.text import Text, compact

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


@given(st.text(st.sampled_from("a\n\r\t \f\ufeff\x85")))
def test_every_line_has_a_compact_line(content: str) -> None:
    text = Text(content)
    assert text.compact_lines == [compact(line) for line in text.lines]


@given(LINES, LINES)
def test_a_map_never_leaves_the_text_and_never_gives_a_line_twice(
    old: list[str], new: list[str]
) -> None:
    texts = Text("\n".join(old)), Text("\n".join(new))
    lines = LineMap(*texts)
    places = []
    for line in range(1, len(texts[0].lines) + 1):
        found = [
            place
            for place in (lines.unmoved(line), lines.moved(line), lines.changed(line))
            if place is not None
        ]
        assert len(found) <= 1
        places += found
    assert all(1 <= place <= len(texts[1].lines) for place in places)
    assert len(set(places)) == len(places)
