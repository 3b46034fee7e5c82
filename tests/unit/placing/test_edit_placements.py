"""One placement for an edit: its lines, its state, and what is verified of it."""

from __future__ import annotations

from typing import Final, TypeAlias

import pytest

from vibes_lsp.anchors.line_hashes import join_hashes
from vibes_lsp.anchors.location import LineKind, Method, State
from vibes_lsp.anchors.text import Text
from vibes_lsp.git.line_origins import LineOrigin
from vibes_lsp.model.members import Members
from vibes_lsp.placing.edit_placements import place_annotations, place_deletion, place_function
from vibes_lsp.placing.edits import LineOwner, moment_of
from vibes_lsp.placing.line_owners import TextOwners
from vibes_lsp.placing.placements import Placement
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.records import LogRecord

AI, CLAIMED, EDITED = LineKind.AI, LineKind.CLAIMED, LineKind.EDITED
ORIGIN = LineOrigin("c" * 40, "a.py", 0, moment_of({}))
OwnedLine: TypeAlias = tuple[LineKind, LineOwner | None, LineOrigin | None]
NOBODY: Final[OwnedLine] = LineKind.UNRECORDED, None, ORIGIN
HASHES = "a" * 8 + "b" * 8 + "c" * 8


def lineage(identifier: str = "one", *, row: int = 1, **members: object) -> Lineage:
    known: Members = {
        "type": "line",
        "file_path": "a.py",
        "line_start": 2,
        "line_end": 4,
        "action": "create",
        "timestamp": f"2026-01-01T00:00:{row:02}.000Z",
        "line_hashes": HASHES,
    }
    record = LogRecord(row, identifier, {**known, **members})  # type: ignore[dict-item]
    return Lineage((record,), record)


EDIT = lineage()


def line(kind: LineKind, record: str = "one", *, is_committed: bool = True) -> OwnedLine:
    owner = LineOwner(record, record, "a" * 8, is_sure=kind != CLAIMED)
    return kind, owner, ORIGIN if is_committed else None


def place(lines: list[OwnedLine], *edits: Lineage) -> list[Placement]:
    text = Text("".join(f"line {number}\n" for number, _ in enumerate(lines)))
    owned = TextOwners(
        [kind for kind, _, _ in lines],
        [owner for _, owner, _ in lines],
        [origin for _, _, origin in lines],
    )
    return place_annotations("a.py", text, owned, edits)


@pytest.mark.parametrize(
    ("lines", "state", "ranges", "intact"),
    [
        ([NOBODY, *[line(AI)] * 3], State.EXACT, ((2, 4),), 3),
        ([*[line(AI)] * 3, NOBODY], State.MOVED, ((1, 3),), 3),
        ([NOBODY, line(AI), NOBODY, *[line(AI)] * 2], State.MOVED, ((2, 2), (4, 5)), 3),
        ([NOBODY, line(AI), line(EDITED), line(AI)], State.EDITED, ((2, 4),), 2),
        ([*[line(AI)] * 3, line(EDITED)], State.EDITED, ((1, 4),), 3),
        ([line(AI)], State.EDITED, ((1, 1),), 1),
        ([NOBODY, line(AI, "two")], State.LOST, (), 0),
        ([line(CLAIMED)], State.UNVERIFIED, ((1, 1),), 0),
    ],
)
def test_the_state_of_an_edit_follows_from_its_lines(
    lines: list[OwnedLine], state: State, ranges: tuple[tuple[int, int], ...], intact: int
) -> None:
    (placed,) = place(lines, EDIT)
    assert (placed.located.state, placed.owned_ranges, placed.located.intact) == (
        state,
        ranges,
        intact,
    )
    assert placed.located.method == Method.LINE_HASHES


def test_the_lines_of_others_within_an_edit_are_not_its_own() -> None:
    (placed,) = place([line(AI), NOBODY, line(CLAIMED)], EDIT)
    assert placed.located.kinds == (AI, LineKind.UNRECORDED, CLAIMED)


def test_an_edit_that_waits_is_placed_by_replay() -> None:
    (placed,) = place([NOBODY, *[line(AI, is_committed=False)] * 3], EDIT)
    assert (placed.located.state, placed.located.method) == (State.EXACT, Method.REPLAY)


def test_a_record_without_hashes_says_how_many_lines_are_intact_only_where_it_is_sure() -> None:
    other = lineage(line_start=1, line_end=2, line_hashes=None)
    (claimed,) = place([line(CLAIMED)] * 2, other)
    (sure,) = place([line(AI)] * 2, other)
    assert (claimed.located.state, claimed.located.intact) == (State.UNVERIFIED, None)
    assert (sure.located.state, sure.located.intact) == (State.EXACT, 2)


def test_the_hunks_of_an_edit_are_one_placement() -> None:
    hunks = [
        LogRecord(
            row,
            name,
            {
                **EDIT.first.members,
                "edit": "one",
                "line_start": row,
                "line_end": row,
                "line_hashes": name * 8,
            },
        )
        for row, name in ((1, "a"), (3, "b"))
    ]
    (placed,) = place([line(AI, "a"), NOBODY, line(AI, "b")], Lineage(tuple(hunks), hunks[1]))
    assert (placed.located.state, placed.owned_ranges) == (State.EXACT, ((1, 1), (3, 3)))


def test_a_lost_edit_names_the_later_one_that_wrote_the_whole_file() -> None:
    later = lineage("two", row=2, line_start=1, line_end=3)
    whole, lost = place([line(AI, "two")] * 3, EDIT, later)
    assert (whole.lineage, lost.lineage) == (later, EDIT)
    assert lost.replaced_by == "two"


def test_an_edit_that_another_one_covers_owns_what_git_gives_to_it() -> None:
    record = EDIT.first
    covered = Lineage((record,), record, superseded_by=("two",))
    (placed,) = place([line(AI)], covered)
    assert not placed.is_history
    (lost,) = place([NOBODY], covered)
    assert lost.is_history


def test_a_deletion_is_where_its_lines_were() -> None:
    after = Text("one\ntwo\nfive\n")
    deletion = lineage(
        action="delete", line_start=3, line_end=4, anchor_hash="0" * 64, file_content_hash="f" * 64
    )
    now = Text("zero\none\ntwo\nfive\n")
    located = place_deletion(deletion, now, {"f" * 64: after}.get)
    assert (located.start, located.end) == (4, 4)
    assert place_deletion(deletion, now, lambda _: None).start == 3


def test_a_function_follows_its_name_and_counts_the_lines_that_were_written() -> None:
    body = ["def total(values):", "    start = 0", "    return sum(values, start)"]
    members: Members = {
        "type": "function",
        "file_path": "a.py",
        "function_name": "total",
        "line_hashes": join_hashes(body),
    }
    record = LogRecord(1, "one", members)
    source = Text("\n".join(["import os", "", *body[:1], "    start = 1", *body[2:]]))
    located = place_function(record, "0" * 64, source)
    assert (located.start, located.end, located.state, located.intact) == (3, 5, State.EDITED, 2)
    assert place_function(record, "0" * 64, Text("x = 1\n")).state == State.LOST
