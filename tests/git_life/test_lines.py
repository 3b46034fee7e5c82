"""Merges of lines that know their author are what git makes of their texts."""

from __future__ import annotations

import subprocess
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.git_life.code import LANGUAGES, reindented
from tests.git_life.lines import (
    PERSON,
    Conflict,
    Line,
    Lines,
    changes,
    match_texts,
    merge_lines,
    spans,
    texts,
)

SIDES = st.lists(st.sampled_from("kkkkkkkkdr"), min_size=10, max_size=10)
"""What a side does with each line: keep, delete, replace."""
INSERTED = st.sets(st.integers(0, 10), max_size=3)


def line(number: int, text: str = "") -> Line:
    return Line(number, text or f"line {number}", PERSON)


BASE = tuple(line(number) for number in range(1, 11))


def side(actions: list[str], inserted: set[int], first: int) -> Lines:
    result: list[Line] = []
    for place, old in enumerate(BASE):
        if place in inserted:
            result.append(line(first + place))
        action = actions[place]
        if action == "k":
            result.append(old)
        elif action == "r":
            result.append(line(first + 100 + place))
    if 10 in inserted:
        result.append(line(first + 10))
    return tuple(result)


@given(SIDES, INSERTED, SIDES, INSERTED)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_merge_without_conflict_is_what_git_makes(
    tmp_path: Path,
    ours: list[str],
    ours_inserted: set[int],
    theirs: list[str],
    theirs_inserted: set[int],
) -> None:
    sides = (BASE, side(ours, ours_inserted, 1000), side(theirs, theirs_inserted, 2000))
    parts = list(merge_lines(*sides))
    conflicts = [part for part in parts if isinstance(part, Conflict)]
    names = ("base", "ours", "theirs")
    for name, lines in zip(names, sides, strict=True):
        (tmp_path / name).write_text("".join(f"{text}\n" for text in texts(lines)))
    done = subprocess.run(
        ["git", "merge-file", "--stdout", "ours", "base", "theirs"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert bool(conflicts) == bool(done.returncode)
    if not conflicts:
        merged = [one.text for part in parts for one in part if isinstance(one, Line)]
        assert merged == done.stdout.splitlines()


def test_changes_are_found_by_identity_not_by_text() -> None:
    old = (line(1, "}"), line(2, "}"))
    new = (line(3, "}"), line(1, "}"), line(2, "}"))
    assert changes(old, new) == [(0, 0, 0, 1)]


def test_a_text_of_git_keeps_the_lines_that_were_expected() -> None:
    expected = (line(1, "a"), line(2, "b"), line(3, "c"))
    assert match_texts(expected, ["a", "x", "c"]) == [expected[0], None, expected[2]]


def test_neighbours_are_one_span() -> None:
    assert spans([1, 2, 3, 7, 9, 10]) == [(1, 3), (7, 7), (9, 10)]


def test_the_formatter_changes_white_space_only_and_leaves_its_own_work() -> None:
    for text in ("    return x", "\tif err != nil {", "", "def a():", "      deep"):
        formatted = reindented(text)
        assert "".join(formatted.split()) == "".join(text.split())
        assert reindented(formatted) == formatted
    assert len(LANGUAGES) == 3
