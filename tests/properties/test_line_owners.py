"""A line has one owner; what is not sure takes none from what is; of equals the last has it (R7)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.trails import anchors
from vibes_lsp.anchors.location import LineKind
from vibes_lsp.anchors.text import Text
from vibes_lsp.model.members import Members
from vibes_lsp.placing.placements import Placement
from vibes_lsp.placing.project_owners import KnownFile, place_file
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.records import LogRecord
from vibes_lsp.trail.trail import Trail

LINES: Final = (*(f"value_{number} = compute({number})" for number in range(8)), "    pass", "")
WITHOUT_HASHES: Final = ("anchored", "anchored", "bare", "unsure", "review", "delete")
TEXTS: Final = st.lists(st.sampled_from(LINES), min_size=2, max_size=10).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)


@st.composite
def recorded(draw: st.DrawFn, text: str, kinds: Sequence[str]) -> Members:
    """Draw the record of some lines of a text."""
    kind, count = draw(st.sampled_from(kinds)), text.count("\n")
    start = draw(st.integers(2 if kind == "bare" else 1, count))  # 1 may be a placeholder
    return record(kind, text, start, draw(st.integers(start, count)))


def record(kind: str, text: str, start: int, end: int) -> Members:
    """Return the record of some lines of a text."""
    members: Members = {
        "type": "line",
        "file_path": "a.py",
        "line_start": start,
        "line_end": end,
        "action": kind if kind in {"review", "delete"} else "create",
    }
    if kind != "bare":
        known = anchors(text, start, end)
        members["anchor_context"] = known.anchor_context
        members["anchor_hash"] = known.anchor_hash
        members["file_content_hash"] = known.file_content_hash
    if kind == "hashed":
        digests = (
            sha256(line.encode()).hexdigest()[:8] for line in text.splitlines()[start - 1 : end]
        )
        members["line_hashes"] = "".join(digests)
    if kind == "unsure":
        members["sure"] = False
    return members


@pytest.fixture(scope="module")
def empty() -> Iterator[Trail]:
    with tempfile.TemporaryDirectory() as folder:
        trail = Trail(AuditDir(Path(folder)))
        trail.refresh()
        yield trail
        trail.close()


def placed(trail: Trail, text: str, records: Mapping[int, Members]) -> list[Placement]:
    """Return where records are that were made one after the other."""
    lineages = []
    for number, members in records.items():
        moment = f"2026-02-03T10:00:{number:02}Z"
        record = LogRecord(number + 1, f"{number:064x}", {**members, "timestamp": moment})
        lineages.append(Lineage((record,), record))
    return place_file(trail, ("a.py",), Text(text), KnownFile(), pending=lineages)


def owners_in(placements: Sequence[Placement]) -> dict[int, tuple[int, LineKind]]:
    """Return the number of the record that owns each line, and what is known of the line."""
    owners: dict[int, tuple[int, LineKind]] = {}
    for placement in placements:
        for first, last in placement.owned_ranges:
            for line in range(first, last + 1):
                assert line not in owners, "a line has one owner"
                assert placement.located.start is not None
                kind = placement.located.kinds[line - placement.located.start]
                owners[line] = int(placement.current.id, 16), kind
    return owners


def owners_alone(
    trail: Trail, text: str, records: Sequence[Members]
) -> dict[int, dict[LineKind, list[int]]]:
    """Return which records own each line where no other one is, by what is known of the line."""
    alone: dict[int, dict[LineKind, list[int]]] = {}
    for number, members in enumerate(records):
        for line, (_, kind) in owners_in(placed(trail, text, {number: members})).items():
            alone.setdefault(line, {}).setdefault(kind, []).append(number)
    return alone


TWO: Final = f"{LINES[0]}\n{LINES[1]}\n"
PART: Final = f"{LINES[0]}\n" * 6 + f"{LINES[1]}\n"
"""A text of which the other one has less than half."""
# Records of other versions whose lines have no hashes are placed together: their order counts.
files = TEXTS.flatmap(
    lambda text: st.tuples(st.just(text), st.lists(recorded(text, WITHOUT_HASHES), max_size=6))
)
hashed = st.lists(TEXTS.flatmap(lambda text: recorded(text, ("hashed",))), max_size=4)


@given(files)
def test_a_line_belongs_to_the_last_of_the_best_evidence(
    empty: Trail, file: tuple[str, list[Members]]
) -> None:
    text, records = file
    owners = owners_in(placed(empty, text, dict(enumerate(records))))
    assert {line: number for line, (number, _) in owners.items()} == {
        line: known.get(LineKind.AI, known.get(LineKind.CLAIMED, []))[-1]
        for line, known in owners_alone(empty, text, records).items()
    }


@example((TWO, [record("anchored", TWO, 1, 1)]), [record("hashed", PART, 1, 7)])
@given(files, hashed)
def test_what_is_not_sure_takes_no_line_from_what_is(
    empty: Trail, file: tuple[str, list[Members]], edits: list[Members]
) -> None:
    text, records = file
    owners = owners_in(placed(empty, text, dict(enumerate([*records, *edits]))))
    for line, known in owners_alone(empty, text, records).items():
        assert LineKind.AI not in known or owners[line][1] != LineKind.CLAIMED
