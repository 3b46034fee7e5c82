"""Text as anchors see it: lines end at LF, a CR before it is dropped."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vibes_lsp.anchors.text import Text, encode, replace_invalid


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\n\n", ["a", ""]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("a\r\nb\n", ["a", "b"]),
        ("a\rb\n", ["a\rb"]),
        ("a\r\r\n", ["a\r"]),
        ("\ufeffa\n", ["a"]),
        ("a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g\n", ["a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g"]),
    ],
)
def test_lines(content: str, lines: list[str]) -> None:
    assert Text(content).lines == lines


@given(st.binary(max_size=80))
def test_bytes_come_back_as_they_were(data: bytes) -> None:
    assert encode(Text.from_bytes(data).content) == data


@given(st.text(st.characters(), max_size=40))
def test_any_string_has_bytes_and_can_be_read(content: str) -> None:
    assert isinstance(encode(content), bytes)
    replace_invalid(content).encode()
    assert [replace_invalid(line) for line in Text(content).lines] == Text(content).utf8_lines


@given(st.text(st.characters(codec="utf-8"), max_size=40))
def test_valid_text_is_not_changed(content: str) -> None:
    assert replace_invalid(content) == content


def test_file_hash_variants() -> None:
    def digest(data: bytes) -> str:
        return hashlib.sha256(data).hexdigest()

    assert Text("a\r\nb").file_hashes == {
        digest(b"a\r\nb"),
        digest(b"a\nb"),
        digest("\ufeffa\r\nb".encode()),
    }
    assert Text("\ufeffa").file_hashes == {digest(b"a"), digest("\ufeffa".encode())}
