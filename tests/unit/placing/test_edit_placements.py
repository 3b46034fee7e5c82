"""One placement for an edit: its lines, its state, and what is verified of it."""

from __future__ import annotations

import pytest

from vibes_lsp.anchors.line_hashes import join_hashes
from vibes_lsp.anchors.location import LineKind, Method, State
from vibes_lsp.anchors.text import Text
from vibes_lsp.model.members import Members
from vibes_lsp.placing.edit_placements import EditLines, place_edits, place_function
from vibes_lsp.placing.hunk_records import LineOwner
from vibes_lsp.placing.line_owners import OwnedLine

AI, CLAIMED, EDITED = LineKind.AI, LineKind.CLAIMED, LineKind.EDITED
NOBODY = OwnedLine(LineKind.UNRECORDED, None, None)
HASHES = ("a" * 8, "b" * 8, "c" * 8)
EDIT = EditLines("one", ("one", "hunk"), HASHES, ((2, 4),))


def line(kind: LineKind, edit: str = "one") -> OwnedLine:
    return OwnedLine(kind, LineOwner(edit, edit, "a" * 8, is_sure=kind != CLAIMED), None)


@pytest.mark.parametrize(
    ("lines", "state", "ranges", "intact"),
    [
        ([NOBODY, *[line(AI)] * 3], State.EXACT, ((2, 4),), 3),
        ([*[line(AI)] * 3, NOBODY], State.MOVED, ((1, 3),), 3),
        ([NOBODY, line(AI), NOBODY, *[line(AI)] * 2], State.MOVED, ((2, 2), (4, 5)), 3),
        ([NOBODY, line(AI), line(EDITED), line(AI)], State.EDITED, ((2, 4),), 2),
        ([line(AI)], State.EDITED, ((1, 1),), 1),
        ([NOBODY, line(AI, "two")], State.LOST, (), 0),
        ([line(CLAIMED)], State.UNVERIFIED, ((1, 1),), 0),
    ],
)
def test_the_state_of_an_edit_follows_from_its_lines(
    lines: list[OwnedLine], state: State, ranges: tuple[tuple[int, int], ...], intact: int
) -> None:
    (placed,) = place_edits(lines, [EDIT])
    assert (placed.state, placed.owned_ranges, placed.intact) == (state, ranges, intact)
    assert placed.method == Method.LINE_HASHES
    assert placed.is_sure == (state != State.UNVERIFIED)


def test_an_edit_that_waits_is_placed_by_replay() -> None:
    waiting = EditLines("one", ("one",), HASHES, ((1, 3),), is_committed=False)
    (placed,) = place_edits([line(AI)] * 3, [waiting])
    assert (placed.state, placed.method) == (State.EXACT, Method.REPLAY)


def test_a_record_without_hashes_says_how_many_lines_are_intact_only_where_it_is_sure() -> None:
    other = EditLines("one", ("one",), (), ((1, 2),))
    (claimed,) = place_edits([line(CLAIMED)] * 2, [other])
    (sure,) = place_edits([line(AI)] * 2, [other])
    assert (claimed.state, claimed.intact) == (State.UNVERIFIED, None)
    assert (sure.state, sure.intact) == (State.EXACT, 2)


def test_a_function_follows_its_name_and_counts_the_lines_that_were_written() -> None:
    body = ["def total(values):", "    start = 0", "    return sum(values, start)"]
    record: Members = {
        "type": "function",
        "file_path": "a.py",
        "function_name": "total",
        "line_hashes": join_hashes(body),
        "anchor_hash": "0" * 64,
    }
    source = Text("\n".join(["import os", "", *body[:1], "    start = 1", *body[2:]]))
    located = place_function(record, source)
    assert (located.start, located.end, located.state, located.intact) == (3, 5, State.EDITED, 2)
    assert place_function(record, Text("x = 1\n")).state == State.LOST
