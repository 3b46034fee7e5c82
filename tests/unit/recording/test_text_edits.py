"""Applying a completion to a text, compared with a character-by-character model."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vibes_lsp.recording.text_edits import LineColumn, apply_edit, find_applied_edit

WORDS = st.text(st.sampled_from("ab \n"), max_size=12)


def offset(text: str, place: LineColumn) -> int:
    """Count characters up to a place that is there."""
    return sum(len(line) + 1 for line in text.split("\n")[: place[0]]) + place[1]


def bare(text: str) -> str:
    """Return a text without white space."""
    return "".join(text.split())


@st.composite
def completions(draw: st.DrawFn) -> tuple[str, LineColumn, LineColumn, str]:
    """Return a text, a range in it, and what replaces that."""
    text = draw(WORDS)
    lines = text.split("\n")

    def place() -> LineColumn:
        line = draw(st.integers(0, len(lines) - 1))
        return line, draw(st.integers(0, len(lines[line])))

    start, end = sorted((place(), place()))
    return text, start, end, draw(WORDS)


@given(completions())
def test_the_text_and_lines_match_a_character_model(
    given_one: tuple[str, LineColumn, LineColumn, str],
) -> None:
    before, start, end, new = given_one
    found = apply_edit(before, start, end, new)
    head, tail = before[: offset(before, start)], before[offset(before, end) :]
    assert found.text == head + new + tail
    if found.lines is None:
        assert not Counter(bare(new)) - Counter(
            bare(before[len(head) : len(before) - len(tail)])
        ), "something new is on no line"
        return
    first, last = found.lines
    after = found.text.split("\n")
    assert bare(before).startswith(bare("\n".join(after[: first - 1]))), (
        "something new is above the lines"
    )
    assert bare(before).endswith(bare("\n".join(after[last:]))), "something new is below them"
    assert after[first - 1].strip()
    assert after[last - 1].strip()


@given(completions(), st.data())
def test_lines_outside_the_range_keep_their_text(
    given_one: tuple[str, LineColumn, LineColumn, str], data: st.DataObject
) -> None:
    before, start, end, new = given_one
    found = apply_edit(before, start, end, new)
    lines = before.split("\n")
    line = data.draw(st.integers(1, len(lines)))
    first, last = found.follow(line, line)
    assert 1 <= first <= last <= len(found.text.split("\n"))
    if line - 1 < start[0] or line - 1 > end[0]:
        assert found.text.split("\n")[first - 1 : last] == [lines[line - 1]]


@pytest.mark.parametrize(
    ("before", "start", "end", "new", "lines", "action"),
    [
        ("a\n\nb\n", (1, 0), (1, 0), "x = 1", (2, 2), "create"),
        ("def f():\n", (0, 8), (0, 8), "\n    return 1", (2, 2), "create"),
        ("def f():\nb\n", (1, 0), (1, 0), "    return 1\n", (2, 2), "create"),
        ("def f(\nb\n", (0, 0), (0, 6), "def f(x):\n    return x", (1, 2), "create"),
        ("def f():\nb\n", (0, 0), (0, 8), "def f():\n    return 1", (2, 2), "create"),
        ("a = 1\nb = 2\nc = 3\n", (0, 0), (2, 5), "a = 1\nb = 3\nc = 3", (2, 2), "modify"),
        ("x\n", (0, 1), (0, 1), "\n\n", None, "create"),
        ("x = 1\n", (0, 0), (0, 5), "", None, "modify"),
    ],
)
def test_only_lines_with_new_text_are_written(  # noqa: PLR0917
    before: str,
    start: LineColumn,
    end: LineColumn,
    new: str,
    lines: tuple[int, int] | None,
    action: str,
) -> None:
    found = apply_edit(before, start, end, new)
    assert (found.lines, found.action) == (lines, action)


def test_columns_are_utf_16_and_line_ends_are_the_texts() -> None:
    found = apply_edit("\ufeffs = '😀'\r\nt\r\n", (0, 8), (0, 8), "\n# two\n# three")
    assert found.text == "\ufeffs = '😀'\r\n# two\r\n# three\r\nt\r\n"
    assert found.lines == (2, 3)


def test_an_applied_edit_is_found() -> None:
    found = find_applied_edit("a\nx = 1\nb\n", (1, 0), (1, 0), "x = 1\n")
    assert found is not None
    assert found.lines == (2, 2)
    assert find_applied_edit("a\nb\n", (1, 0), (1, 0), "x = 1\n") is None
