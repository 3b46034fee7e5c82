"""Lines are followed through a formatter, and through nothing else."""

from hypothesis import given
from hypothesis import strategies as st

from vibes_lsp.anchors.align import came_from
from vibes_lsp.anchors.reformatting import reformatted

HEAD, TAIL = "before = value_before()", "after = value_after()"


def followed(old: list[str], new: list[str]) -> list[int]:
    """Follow lines between two that stay."""
    old, new = [HEAD, *old, TAIL], [HEAD, *new, TAIL]
    return reformatted(old, new, came_from(old, new))[1:-1]


def test_a_line_that_was_indented_is_the_same_line() -> None:
    assert followed(["if x:", "return x"], ["if x:", "    return x"]) == [1, 2]


def test_a_line_that_was_split_is_each_of_its_parts() -> None:
    new = ["call(", "    'one',", "    'two',", ")"]
    assert followed(['call("one", "two")'], new) == [1, 1, 1, 1]


def test_lines_that_were_joined_are_the_first_of_them() -> None:
    assert followed(["call(", "    one,", ");"], ["call(one)"]) == [1]


def test_other_words_are_other_lines() -> None:
    assert followed(["return first"], ["return second"]) == [-1]


def test_a_block_is_followed_only_as_a_whole() -> None:
    assert followed(["call(one, two)"], ["call(", "    one,", "    three", ")"]) == [-1] * 4


@given(st.lists(st.text(st.sampled_from("ab ,;'\n"), max_size=6), max_size=8))
def test_equal_lines_stay_as_they_were(lines: list[str]) -> None:
    origins = came_from(lines, lines)
    assert reformatted(lines, lines, origins) == origins


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=6), st.integers(0, 3))
def test_a_line_is_found_whatever_its_indentation(lines: list[str], width: int) -> None:
    indented = [" " * (width + 1) + line for line in lines]
    assert followed(lines, indented) == list(range(1, len(lines) + 1))
