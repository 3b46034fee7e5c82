"""Whose the lines are that a commit brought, where several records may fit them."""

from __future__ import annotations

from msgspec import structs

from tests.unit.placing.waiting_edits import joined, lines_of
from vibes_lsp.anchors.create_anchors import Anchors
from vibes_lsp.anchors.line_hashes import join_hashes
from vibes_lsp.placing.commit_facts import Blob, exact_owners, placed_owners
from vibes_lsp.placing.edits import RecordedEdit, read_edit
from vibes_lsp.placing.hash_placement import HashedText, PlacedBlock, place_hashes

END = ["return", ""]


def record(name: str, lines: list[str]) -> RecordedEdit:
    edit = read_edit(
        {
            "type": "line",
            "annotation_id": name,
            "file_path": "a.py",
            "line_start": 1,
            "line_end": len(lines),
            "line_hashes": join_hashes(lines),
        }
    )
    assert edit is not None
    return edit


def owners(lines: list[str], *records: RecordedEdit) -> list[str]:
    found = placed_owners(records, Blob(joined(*lines).encode()), set(range(len(lines))))
    return [found[number].edit for number in range(len(lines))]


def test_a_block_that_stands_complete_comes_before_parts_of_others() -> None:
    first, second = lines_of(1, 2), lines_of(1, 6, "other")
    newest_first = record("two", [*second, *END]), record("one", [*first, *END])
    assert owners([*second, *first, *END], *newest_first) == ["two"] * 6 + ["one"] * 4


def test_of_complete_blocks_the_newest_owns_what_both_fit() -> None:
    lines = lines_of(1, 4)
    assert owners(lines, record("two", lines), record("one", lines)) == ["two"] * 4


def test_boilerplate_that_another_file_has_lost_is_nobodys() -> None:
    lines, blob = [*lines_of(1, 4), *END], Blob(joined(*lines_of(1, 4), *END).encode())
    brought = set(range(len(lines)))
    assert placed_owners([record("one", END)], blob, brought, moved={"one"}) == {}
    assert placed_owners([record("one", lines)], blob, brought, moved={"one"}).keys() == brought


def test_a_back_fill_owns_no_line_by_its_number() -> None:
    lines = lines_of(1, 4)
    blob = Blob(joined(*lines[:2], "a person's line", lines[3]).encode())
    anchors = Anchors(file_hash=blob.content)
    hunk = structs.replace(record("one", lines), anchors=anchors)
    back_fill = structs.replace(hunk, members={**hunk.members, "action": "rebase_remap"})
    assert exact_owners([hunk], blob).keys() == {0, 1, 2, 3}, "a formatter may have changed one"
    assert exact_owners([back_fill], blob) == {}
    assert placed_owners([back_fill], blob, {0, 1, 2, 3}).keys() == {0, 1, 3}


def test_equal_lines_are_placed_as_a_whole_file_and_nowhere_among_too_many() -> None:
    text = HashedText(["}"] * 3_000)
    everything = set(range(3_000))
    assert place_hashes(text.hashes, text, everything).lines.keys() == everything
    assert place_hashes(text.hashes[:1_500], text, everything) == PlacedBlock()
