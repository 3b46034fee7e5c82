"""Anchors equal those of an independent writer, for any line ends and characters."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trails import anchors
from vibes_lsp.anchors.create_anchors import (
    CONTEXT_BYTES,
    Anchors,
    create_anchors,
    make_context,
    range_hash,
    range_hash_variants,
)
from vibes_lsp.anchors.text import Text

LINES = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=120),
    min_size=1,
    max_size=8,
)


@given(LINES, st.data(), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_anchors_equal_those_of_the_independent_writer(
    lines: list[str], data: st.DataObject, newline: str, final: bool
) -> None:
    content = newline.join(lines) + (newline if final or lines[-1] == "" else "")
    start = data.draw(st.integers(1, len(lines)))
    end = data.draw(st.integers(start, len(lines)))
    wanted = anchors(content, start, end)
    if (
        content.startswith("\ufeff") and start == 1
    ):  # a byte-order mark is none of the first line's text
        return
    made = create_anchors(Text(content), start, end)
    assert made == Anchors(wanted.anchor_context, wanted.anchor_hash, wanted.file_content_hash)


@given(st.binary(max_size=600))
def test_any_bytes_have_anchors(data: bytes) -> None:
    text = Text.from_bytes(data)
    made = create_anchors(text, 1, max(1, len(text.lines)))
    assert made.file_hash == hashlib.sha256(data).hexdigest()
    assert made.context is not None
    made.context.encode()


@pytest.mark.parametrize("character", ["a", "ß", "漢", "😀"])
@pytest.mark.parametrize("before", range(5))
def test_a_cut_never_falls_within_a_character(character: str, before: int) -> None:
    line = "x" * before + character * 300
    context = make_context([line])
    size = len(character.encode())
    assert line.startswith(context)
    assert CONTEXT_BYTES - size < len(context.encode()) <= CONTEXT_BYTES


def test_only_the_first_three_lines_are_context() -> None:
    assert make_context(["a", "b", "c", "d"]) == "a\nb\nc"
    assert make_context([""]) == ""
    assert make_context([]) == ""


def test_line_ends_and_a_final_newline_do_not_change_a_range() -> None:
    contents = ("a\nb\nc\n", "a\nb\nc", "a\r\nb\r\nc\r\n", "a\r\nb\nc\r")
    assert {create_anchors(Text(content), 2, 3).hash for content in contents} == {
        hashlib.sha256(b"b\nc").hexdigest()
    }


def test_hash_variants_of_other_tools() -> None:
    wanted = [
        hashlib.sha256(data).hexdigest() for data in (b"a\nb", b"a\nb\n", b"a\r\nb", b"a\r\nb\r\n")
    ]
    assert list(range_hash_variants(["a", "b"])) == wanted
    assert range_hash(["a", "b"]) == wanted[0]
