"""Open documents: whatever the changes and the encoding, the text is what the client has."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from vibes_lsp.lsp.documents import Documents, apply_change, columns, line_starts, offset_at

ENCODINGS: Final = tuple(types.PositionEncodingKind)
TEXT: Final = st.text(
    st.one_of(st.sampled_from("\r\nab\t\x0b\x0c\x1c\x85\u2028\u2029\ufeffß漢😀👩\u200d"), st.characters(codec="utf-8")), max_size=30
)


def units(text: str, encoding: str) -> int:
    """Count code units, by a codec each."""
    codec, size = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}[encoding]
    return len(text.encode(codec)) // size


def lines_of(text: str) -> list[str]:
    """Split at the three ends of a line that LSP knows, character by character; each line keeps its end."""
    lines, line = [], ""
    for place, character in enumerate(text):
        line += character
        if character == "\n" or (character == "\r" and text[place + 1 : place + 2] != "\n"):
            lines.append(line)
            line = ""
    return [*lines, line]


def position_of(text: str, offset: int, encoding: str) -> types.Position:
    """Return where an offset is: the oracle goes from offsets to positions, the other way round."""
    line = column = start = 0
    for number, each in enumerate(lines_of(text)):
        if start <= offset:
            bare = each.rstrip("\r\n")
            line, column = number, units(bare[: offset - start], encoding)
        start += len(each)
    return types.Position(line, column)


def splits_an_end(text: str, offset: int) -> bool:
    return text[offset - 1 : offset + 1] == "\r\n"


@given(TEXT, st.data(), st.sampled_from(ENCODINGS))
def test_a_position_leads_back_to_its_offset(text: str, data: st.DataObject, encoding: types.PositionEncodingKind) -> None:
    offset = data.draw(st.integers(0, len(text)).filter(lambda each: not splits_an_end(text, each)))
    assert offset_at(text, line_starts(text), position_of(text, offset, encoding), encoding) == offset


@given(TEXT)
def test_lines_begin_where_lsp_says(text: str) -> None:
    lines = lines_of(text)
    assert line_starts(text) == [sum(map(len, lines[:number])) for number in range(len(lines))]


@given(TEXT, st.lists(st.tuples(TEXT, st.integers(0, 40), st.integers(0, 40)), max_size=5), st.sampled_from(ENCODINGS))
def test_changes_in_a_row_are_as_if_the_strings_were_changed(
    text: str, edits: list[tuple[str, int, int]], encoding: types.PositionEncodingKind
) -> None:
    documents = Documents()
    documents.encoding = encoding
    documents.opened("file:///a", 1, text)
    changes: list[types.TextDocumentContentChangeEvent] = []
    for new, one, other in edits:
        begin, end = sorted(min(each, len(text)) for each in (one, other))
        begin, end = (each - splits_an_end(text, each) for each in (begin, end))
        places = types.Range(position_of(text, begin, encoding), position_of(text, end, encoding))
        changes.append(types.TextDocumentContentChangePartial(places, new))
        text = text[:begin] + new + text[end:]
    documents.changed("file:///a", 2, changes)
    document = documents.get("file:///a")
    assert document is not None
    assert (document.content, document.version) == (text, 2)


POSITIONS: Final = st.builds(types.Position, st.integers(0, 9), st.integers(0, 99))


@given(TEXT, TEXT, POSITIONS, POSITIONS, st.sampled_from(ENCODINGS))
def test_any_range_changes_something_between_a_beginning_and_an_end(
    text: str, new: str, start: types.Position, end: types.Position, encoding: types.PositionEncodingKind
) -> None:
    changed = apply_change(text, types.TextDocumentContentChangePartial(types.Range(start, end), new), encoding)
    assert any(text[:cut] + new == changed[: cut + len(new)] and text.endswith(changed[cut + len(new) :]) for cut in range(len(text) + 1))


@given(TEXT, st.integers(0, 30), st.sampled_from(ENCODINGS))
def test_columns_count_code_units(text: str, characters: int, encoding: types.PositionEncodingKind) -> None:
    assert columns(text, characters, encoding) == units(text[:characters], encoding)


@pytest.mark.parametrize(("encoding", "inside"), [("utf-8", (1, 2, 3)), ("utf-16", (1,))])
def test_a_column_within_a_character_counts_as_before_it(encoding: str, inside: tuple[int, ...]) -> None:
    for column in inside:
        assert offset_at("😀b", [0], types.Position(0, column), encoding) == 0
    assert offset_at("😀b", [0], types.Position(0, inside[-1] + 1), encoding) == 1


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_column_beyond_the_line_is_its_end_and_a_line_beyond_the_text_is_the_texts(encoding: types.PositionEncodingKind) -> None:
    text = "a😀\r\nb"
    starts = line_starts(text)
    assert offset_at(text, starts, types.Position(0, 99), encoding) == 2
    assert offset_at(text, starts, types.Position(9, 9), encoding) == len(text)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_lone_surrogates_are_no_obstacle(encoding: types.PositionEncodingKind) -> None:
    text = "a\ud800b\udcffc\n"
    change = types.TextDocumentContentChangePartial(types.Range(types.Position(1, 0), types.Position(1, 0)), "\udfff")
    assert apply_change(text, change, encoding) == text + "\udfff"


def test_a_whole_text_replaces_everything() -> None:
    assert apply_change("old", types.TextDocumentContentChangeWholeDocument("new"), "utf-16") == "new"


def test_a_range_that_ends_before_it_begins_only_inserts() -> None:
    places = types.Range(types.Position(0, 2), types.Position(0, 1))
    assert apply_change("abc", types.TextDocumentContentChangePartial(places, "x"), "utf-16") == "abxc"


def test_changes_of_what_is_not_open_are_passed_over() -> None:
    documents = Documents()
    documents.changed("file:///a", 1, [types.TextDocumentContentChangeWholeDocument("text")])
    assert documents.get("file:///a") is None
    documents.closed("file:///a")
    assert documents.uris() == []


def test_a_version_that_is_not_given_is_counted() -> None:
    documents = Documents()
    documents.opened("file:///a", 5, "")
    documents.changed("file:///a", None, [])
    document = documents.get("file:///a")
    assert document is not None
    assert document.version == 6
