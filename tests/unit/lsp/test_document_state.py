"""Placements are those in the current text; keys need no trail, and the client is told what it was not answered."""

from __future__ import annotations

from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from tests.trails import TrailWriter
from vibes_lsp.anchors.location import LineKind, State
from vibes_lsp.lsp.protocol.open_documents import Document, Documents
from vibes_lsp.lsp.state.projects import Projects
from vibes_lsp.lsp.state.snapshots import TrailSnapshot
from vibes_lsp.placing.placements import Placement

TEXT: Final = "".join(f"value_{number} = compute({number})\n" for number in range(1, 13))
Lines = tuple[int | None, int | None, State]


def wrote(writer: TrailWriter, start: int, end: int, text: str = TEXT) -> str:
    """Record an edit with the hashes of its lines."""
    lines = text.splitlines()[start - 1 : end]
    hashes = "".join(sha256(line.encode()).hexdigest()[:8] for line in lines)
    return writer.line("a.py", start, end, text=text, line_hashes=hashes)


class Open:
    """A document of a project, open and answered about."""

    def __init__(self, writer: TrailWriter, text: str = TEXT) -> None:
        self.writer = writer
        self.uri = (writer.root / "a.py").as_uri()
        self.documents = Documents()
        self.projects = Projects(self.documents)
        self.documents.open(self.uri, 1, text)
        self.placed()

    @property
    def document(self) -> Document:
        document = self.documents.get(self.uri)
        assert document is not None
        return document

    def placed(self) -> tuple[Placement, ...]:
        snapshot = self.projects.snapshot(self.uri)
        assert snapshot is not None
        return snapshot.placements

    def lines(self) -> list[Lines]:
        return [
            (each.located.start, each.located.end, each.located.state) for each in self.placed()
        ]

    def replace(self, line: int, removed: int, text: str) -> None:
        """Replace whole lines from a 1-based one on."""
        places = types.Range(types.Position(line - 1, 0), types.Position(line - 1 + removed, 0))
        self.documents.change(
            self.uri, None, [types.TextDocumentContentChangePartial(places, text)]
        )

    def type(self, line: int, text: str = "x") -> None:
        """Type at the beginning of a 1-based line."""
        self.replace(line, 0, text)

    def pause(self) -> bool:
        """Look again, as in the pause after typing; return whether answers are others now."""
        before = self.projects.last_snapshot(self.uri)
        assert before is not None
        return before.placements != self.placed()


@pytest.fixture
def writer(tmp_path: Path) -> TrailWriter:
    writer = TrailWriter(tmp_path)
    writer.config()
    writer.environment()
    (tmp_path / "a.py").write_text(TEXT, encoding="utf-8")
    return writer


@pytest.fixture
def opened(writer: TrailWriter) -> Open:
    wrote(writer, 4, 7)
    return Open(writer)


def test_an_unchanged_document_is_not_located_again(opened: Open) -> None:
    before = opened.projects.snapshot(opened.uri)
    assert opened.projects.snapshot(opened.uri) is before
    opened.type(1)
    assert opened.projects.snapshot(opened.uri) is not before


def test_the_client_is_not_told_what_was_answered_already(opened: Open) -> None:
    opened.type(1, "new = 1\n")
    assert opened.lines() == [(5, 8, State.MOVED)]
    assert not opened.pause()


def test_a_record_of_the_text_before_an_edit_is_not_taken_for_one_of_this_text(
    writer: TrailWriter,
) -> None:
    opened = Open(writer)
    writer.config(prism={"enabled": True})
    assert opened.lines() == []
    opened.type(5, "new = 1\n")
    assert opened.lines() == []
    writer.line("a.py", 6, 8, text=TEXT)
    assert opened.lines() == [(7, 9, State.MOVED)]


def test_the_client_is_told_of_text_pasted_elsewhere(opened: Open) -> None:
    block = "".join(TEXT.splitlines(keepends=True)[3:7])
    opened.replace(4, 4, "")
    assert opened.lines() == [(None, None, State.LOST)]
    opened.replace(9, 0, block)
    assert opened.pause(), "the client was not told yet"
    assert opened.lines() == [(9, 12, State.MOVED)]


def test_the_client_is_told_of_a_move_it_did_not_ask_about(opened: Open) -> None:
    opened.type(1, "new = 1\n")
    assert opened.pause()
    assert opened.lines() == [(5, 8, State.MOVED)]


def test_nothing_is_kept_of_a_closed_document(opened: Open) -> None:
    assert opened.projects.last_snapshot(opened.uri) is not None
    opened.documents.close(opened.uri)
    opened.projects.discard(opened.uri)
    assert opened.projects.last_snapshot(opened.uri) is None


def test_a_record_of_another_file_ends_what_was_answered(opened: Open) -> None:
    """It can change a score here: by its session, or as a review."""
    before = opened.projects.snapshot(opened.uri)
    assert opened.projects.snapshot(opened.uri) is before
    opened.writer.line("b.py", 1, 2, text=TEXT)
    after = opened.projects.snapshot(opened.uri)
    assert after is not None
    assert after is not before
    assert after.placements == opened.placed()


def test_a_document_that_is_opened_again_is_another(opened: Open) -> None:
    opened.type(1, "new = 1\n")
    opened.documents.open(opened.uri, 1, f"one\ntwo\n{TEXT}")
    assert opened.lines() == [(6, 9, State.MOVED)]


def test_an_edited_range_is_known_line_by_line(opened: Open) -> None:
    opened.type(4)
    opened.replace(6, 0, "of = 'a person'\n")
    (placement,) = opened.placed()
    located = placement.located
    assert (located.state, located.intact) == (State.EDITED, 3)
    assert placement.owned_ranges == ((5, 5), (7, 8))
    assert [kind.value for kind in located.kinds] == ["ai", "unrecorded", "ai", "ai"]


@pytest.mark.parametrize("has_hashes", [True, False])
def test_a_key_in_a_line_takes_it_away_without_a_look_at_the_trail(
    writer: TrailWriter, monkeypatch: pytest.MonkeyPatch, has_hashes: bool
) -> None:
    record = partial(wrote, writer) if has_hashes else partial(writer.line, "a.py", text=TEXT)
    record(4, 7)
    opened = Open(writer)
    with monkeypatch.context() as patch:
        patch.setattr(TrailSnapshot, "place", None)
        opened.type(5)
        assert opened.lines() == [(4, 7, State.EDITED)]
        (placement,) = opened.placed()
        assert placement.owned_ranges == (((4, 4), (6, 7)) if has_hashes else ((4, 7),))
        assert (LineKind.AI in placement.located.kinds) is has_hashes, "else it is a claim"
    opened.replace(5, 1, "value_5 = compute(5)\n")
    assert opened.lines() == [(4, 7, State.EXACT)], "undone"


def test_it_is_still_known_when_the_trail_changes(opened: Open) -> None:
    opened.type(4)
    opened.replace(6, 0, "of = 'a person'\n")
    opened.writer.line("a.py", 10, 12, text=TEXT)
    assert opened.lines() == [(5, 8, State.EDITED), (11, 13, State.MOVED)]


def test_a_record_made_while_typing_is_placed_at_once(opened: Open) -> None:
    opened.type(1, "new = 1\n")
    opened.documents.set_typing(opened.uri, now=True)
    opened.writer.line("a.py", 10, 12, text=TEXT)
    opened.projects.outdated_documents()  # as after every command that records, and when the client saw the log change
    assert opened.lines() == [(5, 8, State.MOVED), (11, 13, State.MOVED)]


def test_undoing_is_exact(opened: Open) -> None:
    opened.type(4)
    opened.lines()
    opened.replace(4, 1, "value_4 = compute(4)\n")
    assert opened.lines() == [(4, 7, State.EXACT)]


def test_undoing_is_exact_without_hashes(writer: TrailWriter) -> None:
    writer.line("a.py", 4, 7, text=TEXT)
    opened = Open(writer)
    opened.replace(7, 0, "of = 'a person'\n")
    opened.lines()
    opened.replace(7, 1, "")
    assert opened.lines() == [(4, 7, State.EXACT)]


def test_what_has_only_its_recorded_lines_stays_where_the_edits_took_it(
    writer: TrailWriter,
) -> None:
    writer.line("a.py", 2, 3, text=None)
    writer.line("a.py", 9, 9, action="delete", text=TEXT)
    opened = Open(writer)
    opened.type(1, "new = 1\n")
    expected = [(3, 4, State.UNVERIFIED), (10, 10, State.UNVERIFIED)]
    assert opened.lines() == expected


def test_a_last_line_that_goes_with_its_line_end(writer: TrailWriter) -> None:
    text = "one = 1\ntwo = 2\n\n"
    writer.line("a.py", 3, 3, text=text)
    opened = Open(writer, text)
    opened.documents.change(
        opened.uri, None, [types.TextDocumentContentChangeWholeDocument("one = 1\ntwo = 2\n")]
    )
    assert opened.lines() == [(None, None, State.LOST)]


def test_an_edit_inside_another_one_keeps_its_lines(writer: TrailWriter) -> None:
    wrote(writer, 2, 9)
    wrote(writer, 4, 7)
    opened = Open(writer)
    assert [each.owned_ranges for each in opened.placed()] == [((2, 3), (8, 9)), ((4, 7),)]
    opened.replace(6, 2, "")
    assert [each.owned_ranges for each in opened.placed()] == [((2, 3), (6, 7)), ((4, 5),)]


EDITS: Final = st.lists(
    st.tuples(st.integers(1, 14), st.integers(0, 5), st.integers(0, 3)), max_size=6
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> TrailWriter:
    writer = TrailWriter(tmp_path_factory.mktemp("project"))
    writer.config()
    writer.environment()
    wrote(writer, 4, 7)
    wrote(writer, 2, 3)
    wrote(writer, 10, 12)
    return writer


@given(edits=EDITS)
def test_any_edits_that_are_undone_lead_back_to_exact(
    shared: TrailWriter, edits: list[tuple[int, int, int]]
) -> None:
    opened = Open(shared)
    undone = []
    for number, (place, removed, inserted) in enumerate(edits):
        before = opened.document.content.splitlines(keepends=True)
        line = min(place, len(before) + 1)
        old = before[line - 1 : line - 1 + removed]
        opened.replace(
            line, len(old), "".join(f"typed_{number}_{each} = 1\n" for each in range(inserted))
        )
        undone.append((line, inserted, "".join(old)))
        assert all(
            start is None or end is None or 1 <= start <= end <= opened.document.length
            for start, end, _ in opened.lines()
        )
    for line, inserted, old_text in reversed(undone):
        opened.replace(line, inserted, old_text)
    assert opened.document.content == TEXT
    assert opened.lines() == [(2, 3, State.EXACT), (4, 7, State.EXACT), (10, 12, State.EXACT)]


@given(edits=EDITS)
def test_what_is_said_while_typing_is_what_is_said_once_it_is_saved(
    shared: TrailWriter, edits: list[tuple[int, int, int]]
) -> None:
    opened = Open(shared)
    for number, (line, removed, inserted) in enumerate(edits):
        opened.replace(
            min(line, opened.document.length + 1),
            removed,
            "".join(f"typed_{number}_{each} = 1\n" for each in range(inserted)),
        )
        opened.placed()
    at_once = opened.placed()
    opened.documents.save(opened.uri)
    assert opened.placed() == at_once


@given(edits=EDITS)
def test_what_is_called_exact_or_moved_is_the_recorded_text(
    shared: TrailWriter, edits: list[tuple[int, int, int]]
) -> None:
    opened = Open(shared)
    texts = {(each.located.start, each.located.end): each.current.id for each in opened.placed()}
    recorded = {
        identifier: TEXT.splitlines()[(start or 0) - 1 : end]
        for (start, end), identifier in texts.items()
    }
    for number, (line, removed, inserted) in enumerate(edits):
        opened.replace(
            min(line, opened.document.length + 1),
            removed,
            "".join(f"typed_{number}_{each} = 1\n" for each in range(inserted)),
        )
        now = opened.document.content.splitlines()
        for each in opened.placed():
            if each.located.state in (State.EXACT, State.MOVED):
                lines = [line for start, end in each.owned_ranges for line in now[start - 1 : end]]
                assert lines == recorded[each.current.id]
