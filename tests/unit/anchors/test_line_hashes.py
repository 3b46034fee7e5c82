"""Hashes of single lines, and which lines are distinctive (R32)."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vibes_lsp.anchors.line_hashes import (
    MASKED,
    distinctive_numbers,
    is_long,
    join_hashes,
    line_hash,
    split_hashes,
)
from vibes_lsp.anchors.text import Text

LINES = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=30))


def test_a_hash_is_the_beginning_of_the_sha256_of_the_line() -> None:
    assert line_hash("return a") == hashlib.sha256(b"return a").hexdigest()[:8]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_line_end_does_not_count(end: str) -> None:
    assert line_hash("return a" + end) == line_hash("return a")


def test_other_white_space_counts() -> None:
    assert line_hash(" return a") != line_hash("return a")


def test_bytes_that_are_not_utf8_are_hashed_as_they_are() -> None:
    text = Text.from_bytes(b"r\xe9sum\xe9\n")
    assert line_hash(text.lines[0]) == hashlib.sha256(b"r\xe9sum\xe9").hexdigest()[:8]


def test_a_line_with_a_masked_secret_has_zeros() -> None:
    assert join_hashes(["a", "key = 1", "b"], {1}) == line_hash("a") + MASKED + line_hash("b")


@given(LINES)
def test_hashes_are_split_as_they_were_joined(lines: list[str]) -> None:
    assert list(split_hashes(join_hashes(lines))) == [line_hash(line) for line in lines]


@pytest.mark.parametrize(
    "member", [None, 7, "", "abc", "0" * 9, "ABCDEF01", ["ab"], "0123456g", "0" * (9 << 20)]
)
def test_a_malformed_member_has_no_hashes(member: object) -> None:
    assert split_hashes(member) == ()


@pytest.mark.parametrize(
    ("line", "expected"), [("abcdefghijkl", True), ("abcdefghijk", False), (" a b c d e f", False)]
)
def test_a_line_is_long_from_12_characters_on(line: str, *, expected: bool) -> None:
    assert is_long(line) is expected


def test_a_line_that_differs_in_white_space_only_is_a_second_one() -> None:
    assert distinctive_numbers(["total = price * 3", "x", "  total = price*3"]) == frozenset()


@given(LINES)
def test_a_distinctive_line_is_long_and_there_once(lines: list[str]) -> None:
    for number in distinctive_numbers(lines):
        assert is_long(lines[number])
        assert lines.count(lines[number]) == 1


@given(LINES, st.text(min_size=12, alphabet="abcxyz", max_size=20))
def test_a_new_long_line_is_distinctive(lines: list[str], line: str) -> None:
    others = [other for other in lines if line not in other.replace(" ", "")]
    assert len(others) in distinctive_numbers([*others, line])
