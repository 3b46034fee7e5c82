"""The alignment of quoted lines: in order, with few changes of offset."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vibes_lsp.anchors.known_lines import KnownLine, align_known_lines, weight_of
from vibes_lsp.anchors.offset import Offsets

LINES = 100
"""Lines of the text to align with."""


def aligned(known: dict[int, list[int]], *pairs: tuple[int, int]) -> dict[int, int]:
    return dict(
        align_known_lines(
            [
                KnownLine(line, places, weight_of(len(places), LINES))
                for line, places in known.items()
            ],
            Offsets(pairs),
        )
    )


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({20: [25]}, {20: 25}),
        ({20: [25], 21: [1, 9, 26, 40, 90]}, {20: 25, 21: 26}),
        ({20: [18, 25, 31], 21: [26]}, {20: 25, 21: 26}),
        ({20: list(range(2, 100, 3))}, {20: 20}),
        ({20: list(range(1, 100, 3)), 30: list(range(3, 100, 3))}, {30: 30}),
        ({20: [60], 30: [35], 31: [36], 32: [37]}, {30: 35, 31: 36, 32: 37}),
    ],
)
def test_common_lines_follow_a_rare_neighbour(
    known: dict[int, list[int]], expected: dict[int, int]
) -> None:
    found = aligned(known, (10, 10))
    assert {line: found.get(line) for line in expected} == expected


def test_a_common_line_does_not_justify_a_change_of_offset() -> None:
    assert aligned({20: list(range(1, 100, 3))}, (10, 10)) == {}


def test_a_unique_line_justifies_a_change_of_offset_in_a_short_text() -> None:
    fragments = [KnownLine(5, [5], weight_of(1, 9)), KnownLine(6, [7], weight_of(1, 9))]
    assert align_known_lines(fragments, Offsets([(4, 4)])) == [(5, 5), (6, 7)]


def test_lines_stay_between_the_enclosing_pairs() -> None:
    assert aligned({20: [5, 60]}, (10, 10), (30, 40)) == {}


@given(
    st.dictionaries(
        st.integers(1, 40),
        st.lists(st.integers(1, 60), max_size=30, unique=True).map(sorted),
        max_size=12,
    ),
    st.lists(st.tuples(st.integers(1, 40), st.integers(1, 60)), max_size=4),
)
def test_an_alignment_ascends_through_given_places(
    known: dict[int, list[int]], pairs: list[tuple[int, int]]
) -> None:
    offsets = Offsets(pairs)
    paired = dict(offsets.pairs)
    known = {line: places for line, places in known.items() if line not in paired}
    found = aligned(known, *pairs)
    assert all(place in known[line] for line, place in found.items())
    both = sorted({**paired, **found}.items())
    assert [place for _, place in both] == sorted({place for _, place in both})
