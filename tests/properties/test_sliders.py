"""Blocks that may begin at several places are settled, and only moved among equal lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vibes_lsp.anchors.align import came_from
from vibes_lsp.anchors.sliders import lone_blocks, settle_blocks

LINES = st.lists(
    st.sampled_from(["", "}", "  }", "def first():", "  return first", "    x = 1"]), max_size=12
)


@given(LINES, LINES, st.integers(0, 12))
def test_a_settled_block_is_as_long_and_the_rest_are_the_same_lines(
    lines: list[str], block: list[str], at: int
) -> None:
    at = min(at, len(lines))
    new = [*lines[:at], *block, *lines[at:]]
    partners = [*range(at), *[-1] * len(block), *range(at, len(lines))]
    settle_blocks(new, partners, len(lines))
    assert [partner for partner in partners if partner >= 0] == list(range(len(lines)))
    assert all(
        new[number] == lines[partner] for number, partner in enumerate(partners) if partner >= 0
    )
    assert [end - start for start, end in lone_blocks(partners, len(lines))] == (
        [len(block)] if block else []
    )


@given(LINES, LINES, st.integers(0, 12))
def test_where_a_block_begins_does_not_depend_on_where_it_was_taken_for(
    lines: list[str], block: list[str], at: int
) -> None:
    at = min(at, len(lines))
    new = [*lines[:at], *block, *lines[at:]]
    settled = set()
    for start in range(len(lines) + 1):
        if [*new[:start], *new[start + len(block) :]] == lines and block:
            partners = [*range(start), *[-1] * len(block), *range(start, len(lines))]
            settle_blocks(new, partners, len(lines))
            settled.add(tuple(partners))
    assert len(settled) == bool(block)


def test_a_function_after_another_begins_with_its_own_first_line() -> None:
    first = ["func first() {", "    compute_the_first()", "    return nil", "}", ""]
    second = ["func second() {", "    compute_the_second()", "    return nil", "}", ""]
    after = ["func third() {"]
    for old, new, expected in (
        ([*first, *after], [*first, *second, *after], [0, 1, 2, 3, 4, -1, -1, -1, -1, -1, 5]),
        ([*second, *after], [*first, *second, *after], [-1, -1, -1, -1, -1, 0, 1, 2, 3, 4, 5]),
    ):
        assert came_from(old, new) == expected


def test_a_decorator_belongs_to_the_function_below_it() -> None:
    old = ["import pytest_something", "", "@pytest.fixture", "def second():", "    return 2", ""]
    new = [*old[:2], "@pytest.fixture", "def first():", "    return 1", "", *old[2:]]
    assert came_from(old, new) == [0, 1, -1, -1, -1, -1, 2, 3, 4, 5]
