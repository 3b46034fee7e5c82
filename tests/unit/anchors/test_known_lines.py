"""Single lines known of an old text, laid over a new one: order first, then as few changes of drift as their rarity is worth."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vibes_lsp.anchors.known_lines import KnownLine, align_known_lines, weight_of
from vibes_lsp.anchors.offset import Offsets

LINES = 100
"""Of the text that the fragments are looked for in."""


def laid(known: dict[int, list[int]], *pins: tuple[int, int]) -> dict[int, int]:
    return dict(
        align_known_lines(
            [
                KnownLine(line, places, weight_of(len(places), LINES))
                for line, places in known.items()
            ],
            Offsets(pins),
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
def test_a_rare_line_tells_where_the_common_ones_beside_it_are(
    known: dict[int, list[int]], expected: dict[int, int]
) -> None:
    found = laid(known, (10, 10))
    assert {line: found.get(line) for line in expected} == expected


def test_a_common_line_is_not_worth_a_change_of_drift() -> None:
    assert laid({20: list(range(1, 100, 3))}, (10, 10)) == {}


def test_the_only_place_of_a_line_tells_of_a_change_of_drift_in_a_short_text_too() -> None:
    fragments = [KnownLine(5, [5], weight_of(1, 9)), KnownLine(6, [7], weight_of(1, 9))]
    assert align_known_lines(fragments, Offsets([(4, 4)])) == [(5, 5), (6, 7)]


def test_nothing_is_put_beyond_the_pins_on_either_side() -> None:
    assert laid({20: [5, 60]}, (10, 10), (30, 40)) == {}


@given(
    st.dictionaries(
        st.integers(1, 40),
        st.lists(st.integers(1, 60), max_size=30, unique=True).map(sorted),
        max_size=12,
    ),
    st.lists(st.tuples(st.integers(1, 40), st.integers(1, 60)), max_size=4),
)
def test_a_chain_ascends_between_the_pins_through_places_that_were_given(
    known: dict[int, list[int]], pins: list[tuple[int, int]]
) -> None:
    drift = Offsets(pins)
    at_pins = dict(drift.pairs)
    known = {line: places for line, places in known.items() if line not in at_pins}
    found = laid(known, *pins)
    assert all(place in known[line] for line, place in found.items())
    both = sorted({**at_pins, **found}.items())
    assert [place for _, place in both] == sorted({place for _, place in both})
