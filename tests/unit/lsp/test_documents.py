"""Open documents have the client's lines, for all changes and encodings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lsprotocol import types

from vibes_lsp.anchors.text import Text
from vibes_lsp.lsp.protocol.conversion import to_column
from vibes_lsp.lsp.protocol.open_documents import Document, Documents

ENCODINGS: Final = tuple(types.PositionEncodingKind)
TEXT: Final = st.text(
    st.one_of(
        st.sampled_from(
            "\r\n\r\nab\t\x0b\x0c\x1c\x85\u2028\u2029\ufeffß漢😀👩\u200d\ud83d\ude00\udcff"
        ),
        st.characters(codec="utf-8"),
    ),
    max_size=30,
)
POSITIONS: Final = st.builds(types.Position, st.integers(0, 9), st.integers(0, 12))
CHANGES: Final = st.lists(
    st.one_of(
        st.builds(
            types.TextDocumentContentChangePartial,
            st.builds(types.Range, POSITIONS, POSITIONS),
            TEXT,
        ),
        st.builds(types.TextDocumentContentChangeWholeDocument, TEXT),
    ),
    max_size=6,
)


def units(text: str, encoding: str) -> int:
    """Count code units, by a codec each."""
    codec, size = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}[
        encoding
    ]
    return len(text.encode(codec, "surrogatepass")) // size


def lines_of(text: str) -> list[str]:
    """Split at LF, character by character; each line keeps its end."""
    lines, line = [], ""
    for character in text:
        line += character
        if character == "\n":
            lines.append(line)
            line = ""
    return [*lines, line]


def offset_of(text: str, position: types.Position, encoding: str) -> int:
    """Go to a position character by character; stop before the one that would lead beyond it, and at the end of the line, be it LF or CRLF.

    The place between CR and LF has a column of its own, for editors to which CR is a character.
    """
    lines = lines_of(text)
    if position.line >= len(lines):
        return len(text)
    offset, column = sum(map(len, lines[: position.line])), 0
    line = lines[position.line].removesuffix("\n")
    if lines[position.line].endswith("\r\n") and position.character != units(line, encoding):
        line = line.removesuffix("\r")
    for character in line:
        column += units(character, encoding)
        if column > position.character:
            break
        offset += 1
    return offset


def replaced(text: str, change: types.TextDocumentContentChangeEvent, encoding: str) -> str:
    """Change a string."""
    if isinstance(change, types.TextDocumentContentChangeWholeDocument):
        return change.text
    begin, end = (
        offset_of(text, each, encoding) for each in (change.range.start, change.range.end)
    )
    return text[:begin] + change.text + text[max(begin, end) :]


def document_of(text: str) -> Document:
    return Document("file:///a", 1, text)


def edit(
    start: tuple[int, int], end: tuple[int, int], text: str
) -> types.TextDocumentContentChangePartial:
    return types.TextDocumentContentChangePartial(
        types.Range(types.Position(*start), types.Position(*end)), text
    )


def changed(
    text: str, *changes: types.TextDocumentContentChangeEvent, encoding: str = "utf-16"
) -> str:
    document = document_of(text)
    document.change(2, changes, encoding)
    return document.content


@given(TEXT, CHANGES, st.sampled_from(ENCODINGS))
@example("\ud83d\ude00a", [edit((0, 2), (0, 3), "b")], "utf-16")
@example("a\r", [edit((1, 0), (1, 0), "\n"), edit((1, 0), (1, 0), "x")], ENCODINGS[0])
@example("a\r\nb", [edit((0, 1), (1, 0), "\r"), edit((1, 0), (1, 0), "x")], ENCODINGS[0])
@example("a\rb\nc", [edit((1, 0), (1, 1), ""), edit((1, 0), (1, 0), "x")], ENCODINGS[0])
def test_changes_in_a_row_are_as_if_a_string_were_changed(
    text: str,
    changes: Sequence[types.TextDocumentContentChangeEvent],
    encoding: types.PositionEncodingKind,
) -> None:
    documents = Documents()
    documents.encoding = encoding
    documents.open("file:///a", 1, text)
    document = documents.get("file:///a")
    assert document is not None
    for number, change in enumerate(changes, 2):
        documents.change("file:///a", number, [change])
        text = replaced(text, change, encoding)
        assert (document.content, document.version) == (text, number)


@given(TEXT, CHANGES, st.sampled_from(ENCODINGS))
def test_changes_of_one_message_are_applied_in_their_order(
    text: str,
    changes: Sequence[types.TextDocumentContentChangeEvent],
    encoding: types.PositionEncodingKind,
) -> None:
    now = changed(text, *changes, encoding=encoding)
    for change in changes:
        text = replaced(text, change, encoding)
    assert now == text


@given(TEXT, CHANGES)
def test_as_many_changes_as_versions_are_one_for_each(
    text: str, changes: Sequence[types.TextDocumentContentChangeEvent]
) -> None:
    one_by_one, gathered = document_of(text), document_of(text)
    for number, change in enumerate(changes, 2):
        one_by_one.change(number, [change], "utf-16")
    gathered.change(1 + len(changes), changes, "utf-16")
    assert (gathered.content, gathered.version, gathered.previous_version) == (
        one_by_one.content,
        one_by_one.version,
        one_by_one.previous_version,
    )
    for version in range(1, gathered.version):
        assert gathered.text_at(version) == one_by_one.text_at(version)


@given(TEXT, CHANGES, st.integers(1, 12), st.integers(0, 12))
@example("\ufeffa\nb", [], 1, 2)
@example("\ufeff", [], 1, 1)
def test_some_lines_are_those_that_anchors_see(
    text: str, changes: Sequence[types.TextDocumentContentChangeEvent], start: int, end: int
) -> None:
    document = document_of(text)
    document.change(2, changes, "utf-16")
    lines = Text(document.content).lines
    assert document.lines(start, end) == lines[start - 1 : end]
    assert document.length == len(lines)


@pytest.mark.parametrize(
    ("text", "change", "after"),
    [
        ("a\rb\nc\nd\n", edit((1, 0), (1, 0), "x"), "a\rb\nxc\nd\n"),  # a CR alone
        ("a\r\nb\n", edit((0, 2), (0, 2), "x"), "a\rx\nb\n"),  # behind a CR that is shown
        ("a\r\nb\n", edit((0, 1), (0, 2), ""), "a\nb\n"),
        ("a\r\nb\r\n", edit((0, 9), (0, 9), "x"), "ax\r\nb\r\n"),
        ("a\r\n\rb", edit((1, 1), (1, 2), ""), "a\r\n\r"),
    ],
)
def test_lines_and_columns_are_those_of_editors_to_which_cr_is_a_character(
    text: str, change: types.TextDocumentContentChangePartial, after: str
) -> None:
    assert changed(text, change) == after


def test_a_text_that_was_handed_out_stays_as_it_was() -> None:
    document = document_of("one\n")
    text = document.text
    document.change(2, [edit((0, 0), (0, 0), "no ")], "utf-16")
    assert (text.content, document.text.content) == ("one\n", "no one\n")
    assert document.text is document.text


@pytest.mark.parametrize(
    ("before", "change", "after"),
    [
        ("a\nb\n", edit((1, 0), (1, 0), "new\n"), "a\nnew\nb\n"),
        ("a\nb\n", edit((0, 1), (0, 1), "\nnew"), "a\nnew\nb\n"),
        ("a\n\nb\n", edit((1, 0), (1, 0), "\n"), "a\n\n\nb\n"),
        ("a\nb", edit((1, 1), (1, 1), "\n"), "a\nb\n"),
        ("a\nb\n", edit((1, 1), (2, 0), ""), "a\nb"),
        ("a\nb\nc\n", edit((0, 0), (1, 0), ""), "b\nc\n"),
        ("a\nb\nc\n", edit((0, 1), (1, 1), ""), "a\nc\n"),
        ("a\nb\n", types.TextDocumentContentChangeWholeDocument("new\n"), "new\n"),
    ],
)
def test_lines_beside_an_edit_are_not_touched(
    before: str, change: types.TextDocumentContentChangeEvent, after: str
) -> None:
    assert changed(before, change) == after


@given(TEXT, st.integers(0, 30), st.sampled_from(ENCODINGS))
def test_columns_count_code_units(
    text: str, characters: int, encoding: types.PositionEncodingKind
) -> None:
    assert to_column(text, characters, encoding) == units(text[:characters], encoding)


@pytest.mark.parametrize(
    ("encoding", "inside", "after"),
    [("utf-8", (1, 2, 3), 4), ("utf-16", (1,), 2), ("utf-32", (), 1)],
)
def test_a_column_within_a_character_counts_as_before_it(
    encoding: str, inside: tuple[int, ...], after: int
) -> None:
    for column in inside:
        assert changed("😀b", edit((0, column), (0, column), "x"), encoding=encoding) == "x😀b"
    assert changed("😀b", edit((0, after), (0, after), "x"), encoding=encoding) == "😀xb"


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_column_beyond_the_line_is_its_end_and_a_line_beyond_the_text_is_the_texts(
    encoding: types.PositionEncodingKind,
) -> None:
    assert changed("a😀\r\nb", edit((0, 99), (0, 99), "x"), encoding=encoding) == "a😀x\r\nb"
    assert changed("a😀\r\nb", edit((9, 9), (9, 9), "x"), encoding=encoding) == "a😀\r\nbx"


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_lone_surrogates_are_counted(encoding: types.PositionEncodingKind) -> None:
    column = units("a\ud800b", encoding)
    assert (
        changed("a\ud800b\udcffc\n", edit((0, column), (1, 0), "\udfff"), encoding=encoding)
        == "a\ud800b\udfff"
    )


def test_a_range_that_ends_before_it_begins_only_inserts() -> None:
    assert changed("abc", edit((0, 2), (0, 1), "x")) == "abxc"


def test_changes_of_a_closed_document_are_ignored() -> None:
    documents = Documents()
    documents.change("file:///a", 1, [types.TextDocumentContentChangeWholeDocument("text")])
    assert documents.get("file:///a") is None
    documents.close("file:///a")
    assert documents.uris() == []


def test_a_version_that_is_not_given_is_counted() -> None:
    documents = Documents()
    documents.open("file:///a", 5, "")
    documents.change("file:///a", None, [])
    document = documents.get("file:///a")
    assert document is not None
    assert document.version == 6
