"""Expected lines, interpolated from line pairs."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vibes_lsp.anchors.align import ascending
from vibes_lsp.anchors.offset import Offsets

PAIRS = st.lists(st.tuples(st.integers(1, 12), st.integers(1, 12)), max_size=7)


@pytest.mark.parametrize(
    ("pairs", "recorded", "expected"),
    [
        ([], 7, 7),
        ([(10, 15)], 7, 12),
        ([(10, 15)], 70, 75),
        ([(10, 15), (30, 31)], 12, 17),
        ([(10, 15), (33, 34)], 30, 31),
        ([(10, 15), (30, 31)], 20, 25),
        ([(10, 100), (20, 20), (30, 30), (40, 40)], 12, 12),
        ([(10, 10), (20, 20), (30, 5), (40, 40)], 31, 31),
    ],
)
def test_the_nearest_pair_in_order_gives_the_offset(
    pairs: list[tuple[int, int]], recorded: int, expected: int
) -> None:
    assert Offsets(pairs).expected(recorded, recorded) == expected


@given(PAIRS, st.randoms(use_true_random=False), st.integers(1, 12))
def test_the_order_of_arguments_does_not_matter(
    pairs: list[tuple[int, int]], random: object, line: int
) -> None:
    shuffled = list(pairs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # a random.Random
    assert Offsets(pairs).expected(line, line) == Offsets(shuffled).expected(line, line)


def ascends(pairs: tuple[tuple[int, int], ...]) -> bool:
    return all(one[0] < other[0] and one[1] < other[1] for one, other in pairwise(pairs))


@given(PAIRS)
def test_the_longest_ascending_selection(pairs: list[tuple[int, int]]) -> None:
    selected = tuple(ascending(set(pairs)))
    assert ascends(selected)
    assert set(selected) <= set(pairs)
    longest = max(
        size
        for size in range(len(pairs) + 1)
        if any(ascends(some) for some in combinations(sorted(set(pairs)), size))
    )
    assert len(selected) == longest
