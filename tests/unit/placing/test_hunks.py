"""Which records a commit gets: the lines of waiting edits that it brings, once (R29, R32)."""

from __future__ import annotations

from tests.unit.placing.waiting_edits import Waiting, committed, joined, lines_of
from vibes_lsp.anchors.line_hashes import join_hashes, line_hash
from vibes_lsp.anchors.text import Text
from vibes_lsp.model.hashing import annotation_id, sha256
from vibes_lsp.model.members import Members
from vibes_lsp.model.validation import record_problems
from vibes_lsp.placing.edits import logged_lines
from vibes_lsp.placing.hash_placement import HashedText
from vibes_lsp.placing.hunks import (
    FileAtCommit,
    WrittenHunks,
    deletion_enters,
    hunks,
    late_hunks,
    other_records,
)
from vibes_lsp.placing.standing import CandidateEdits

BLOCK = lines_of(1, 8)
PERSON = lines_of(1, 4, "person")


def ranges(records: list[Members]) -> list[tuple[object, object]]:
    return [(record["line_start"], record["line_end"]) for record in records]


def written(
    waiting: Waiting, content: str, new: set[int], replacing: frozenset[int] = frozenset()
) -> list[Members]:
    return hunks(committed(content, new, replacing=replacing), waiting.of(), WrittenHunks())


def test_an_edit_that_is_committed_as_it_was_recorded_keeps_its_record() -> None:
    waiting = Waiting()
    edit = waiting.record(joined(*BLOCK), 1, 8)
    assert written(waiting, joined(*BLOCK), set(range(1, 9))) == [edit.members]


def test_an_edit_that_moved_in_its_file_gets_a_record_that_names_it() -> None:
    waiting = Waiting()
    edit = waiting.record(joined(*BLOCK), 1, 8)
    content = joined(PERSON[0], *BLOCK)
    (record,) = written(waiting, content, set(range(1, 10)))
    assert (record["line_start"], record["line_end"]) == (2, 9)
    assert record["edit"] == edit.id
    assert record["annotation_id"] == annotation_id(record) != edit.id
    assert record["file_content_hash"] == sha256(content.encode())
    assert record["line_hashes"] == join_hashes(BLOCK)
    assert not record_problems(record)


def test_a_persons_lines_within_a_block_are_not_in_its_records() -> None:
    waiting = Waiting()
    waiting.record(joined(*BLOCK), 1, 8)
    content = joined(*BLOCK[:3], *PERSON, *BLOCK[3:])
    assert ranges(written(waiting, content, set(range(1, 13)))) == [(1, 3), (8, 12)]


def test_only_lines_that_no_parent_has_are_written() -> None:
    waiting = Waiting()
    waiting.record(joined(*BLOCK), 1, 8)
    assert ranges(written(waiting, joined(*BLOCK), {3, 4, 7})) == [(3, 4), (7, 7)]


def test_a_part_that_is_staged_is_sure_if_the_edit_stands_on_disk() -> None:
    waiting = Waiting()
    waiting.record(joined(*BLOCK), 1, 8)
    file = committed(joined(*BLOCK[:3]), {1, 2, 3})
    (claimed,) = hunks(file, waiting.of(), WrittenHunks())
    assert claimed["sure"] is False
    (sure,) = hunks(file, waiting.of(), WrittenHunks(), HashedText([*BLOCK, *PERSON]))
    assert ranges([sure]) == [(1, 3)]
    assert "sure" not in sure


def test_lines_that_the_log_has_are_not_written_again() -> None:
    waiting = Waiting()
    waiting.record(joined(*BLOCK), 1, 8)
    first = written(waiting, joined(*BLOCK[:4]), {1, 2, 3, 4})
    logged = logged_lines(first)
    file = committed(joined(*BLOCK), set(range(1, 9)))
    assert ranges(hunks(file, waiting.of(logged=logged), WrittenHunks())) == [(5, 8)]


def test_the_same_lines_are_written_again_as_the_same_bytes() -> None:
    waiting = Waiting()
    waiting.record(joined(*BLOCK), 1, 8)
    known = WrittenHunks()
    (first,) = hunks(committed(joined(PERSON[0], *BLOCK), set(range(1, 10))), waiting.of(), known)
    (second,) = hunks(committed(joined(*PERSON, *BLOCK), set(range(1, 13))), waiting.of(), known)
    assert second == first


def test_a_hunk_that_replaces_lines_of_the_parent_modifies() -> None:
    waiting = Waiting()
    waiting.record(joined(*BLOCK), 1, 8)
    records = written(waiting, joined(*BLOCK), {1, 2, 7, 8}, replacing=frozenset({1, 2}))
    assert [record["action"] for record in records] == ["modify", "create"]


def test_a_later_edit_owns_the_lines_that_it_wrote_again() -> None:
    waiting = Waiting()
    first = waiting.record(joined(*BLOCK), 1, 8)
    content = joined(*BLOCK[:4], *lines_of(1, 2, "later"), *BLOCK[6:])
    second = waiting.record(content, 5, 6)
    records = written(waiting, content, set(range(1, 9)))
    assert ranges(records) == [(1, 4), (5, 6), (7, 8)]
    assert [record.get("edit", record["annotation_id"]) for record in records] == [
        first.id,
        second.id,
        first.id,
    ]


def test_what_stands_of_a_block_that_lost_less_than_half_is_sure() -> None:
    waiting = Waiting()
    waiting.record(joined(*BLOCK), 1, 8)
    content = joined(*BLOCK[:4], *PERSON)
    (record,) = written(waiting, content, set(range(1, 9)))
    assert (record["line_start"], record["line_end"], record.get("sure")) == (1, 4, None)


def test_what_stands_of_a_block_that_lost_more_than_half_is_a_claim() -> None:
    waiting = Waiting()
    waiting.record(joined(*BLOCK), 1, 8)
    (record,) = written(waiting, joined(*BLOCK[:3], *PERSON), set(range(1, 8)))
    assert (record["line_start"], record["line_end"], record["sure"]) == (1, 3, False)
    assert not record_problems(record)


def test_one_equal_line_of_a_block_is_chance() -> None:
    waiting = Waiting()
    waiting.record(joined(*BLOCK), 1, 8)
    assert written(waiting, joined(BLOCK[0], *PERSON), set(range(1, 6))) == []


def test_a_block_whose_long_lines_are_repeated_elsewhere_is_written_between_its_neighbours() -> (
    None
):
    waiting = Waiting()
    waiting.record(joined(PERSON[0], *BLOCK, PERSON[1]), 2, 9)
    content = joined(PERSON[0], *BLOCK, PERSON[1], *BLOCK)
    (record,) = written(waiting, content, set(range(1, 19)))
    assert (record["line_start"], record["line_end"], record.get("sure")) == (2, 9, None)


def test_boilerplate_that_a_person_kept_of_a_block_is_not_written() -> None:
    waiting = Waiting()
    waiting.record(joined("def f():", *BLOCK, "}"), 1, 10)
    assert written(waiting, joined("def f():", *PERSON, "}"), set(range(1, 7))) == []


def test_a_block_of_boilerplate_is_written_where_it_stands_whole_between_its_neighbours() -> None:
    waiting = Waiting()
    waiting.record(joined(PERSON[0], "else:", "    x = 1", PERSON[1]), 2, 3)
    content = joined(PERSON[0], "else:", "    x = 1", PERSON[1], PERSON[2])
    (record,) = written(waiting, content, {2, 3})
    assert (record["line_start"], record["line_end"], record.get("sure")) == (2, 3, None)


def test_a_block_that_was_thrown_away_is_not_written() -> None:
    waiting = Waiting()
    waiting.record(joined(*BLOCK), 1, 8)
    assert written(waiting, joined(*PERSON), {1, 2, 3, 4}) == []


def test_a_block_that_a_person_copied_is_a_claim() -> None:
    waiting = Waiting()
    waiting.record(joined(*BLOCK), 1, 8)
    content = joined(*BLOCK, PERSON[0], *BLOCK)
    records = written(waiting, content, set(range(1, 18)))
    assert records
    assert all(record["sure"] is False for record in records)


def test_an_edit_that_was_stashed_in_between_is_found_again() -> None:
    waiting = Waiting()
    stashed = waiting.record(joined(PERSON[0], *BLOCK), 2, 9)
    waiting.record(joined(PERSON[0], *lines_of(1, 3, "other")), 2, 4)
    content = joined(PERSON[0], *lines_of(1, 3, "other"), *BLOCK)
    records = written(waiting, content, set(range(2, 13)))
    assert ranges(records) == [(2, 4), (5, 12)]
    assert records[1]["edit"] == stashed.id


def test_an_edit_without_a_snapshot_is_found_by_its_hashes() -> None:
    waiting = Waiting()
    waiting.record(joined(*BLOCK), 1, 8)
    waiting.texts.clear()
    assert ranges(written(waiting, joined(PERSON[0], *BLOCK), set(range(1, 10)))) == [(2, 9)]


def test_a_formatted_block_keeps_its_hashes() -> None:
    waiting = Waiting()
    edit = waiting.record(joined("call_it(first_value, second_value)", *BLOCK), 1, 9)
    content = joined("call_it(", "    first_value,", "    second_value,", ")", *BLOCK)
    (record,) = written(waiting, content, set(range(1, 13)))
    assert record["line_hashes"] == edit.hashes[0] * 4 + join_hashes(BLOCK)


def test_an_edit_that_left_its_file_is_written_where_it_is() -> None:
    waiting = Waiting()
    edit = waiting.record(joined(*BLOCK), 1, 8, path="b.py")
    edits = CandidateEdits((), moved=[edit], snapshots=waiting.texts.get)
    content = joined(*PERSON, *BLOCK)
    (record,) = hunks(committed(content, set(range(1, 13))), edits, WrittenHunks())
    assert (record["file_path"], record["line_start"], record["edit"]) == ("a.py", 5, edit.id)


def test_an_edit_of_another_work_tree_is_taken_where_it_stands_whole() -> None:
    waiting = Waiting()
    edit = waiting.record(joined(*BLOCK), 1, 8)
    edits = CandidateEdits((), foreign=[edit], snapshots=waiting.texts.get)
    whole = committed(joined(PERSON[0], *BLOCK), set(range(1, 10)))
    part = committed(joined(PERSON[0], *BLOCK[:6]), set(range(1, 8)))
    assert ranges(hunks(whole, edits, WrittenHunks())) == [(2, 9)]
    assert hunks(part, edits, WrittenHunks()) == []


def test_late_lines_are_written_as_lines_of_the_commit_that_brought_them() -> None:
    waiting = Waiting()
    edit = waiting.record(joined(*BLOCK), 1, 8)
    then = committed(joined(*BLOCK), set(range(1, 9)))
    file = FileAtCommit(then.path, then.text, then.content, then.new, commit="c" * 40)
    head = HashedText(Text(joined(*PERSON, *BLOCK)).lines)
    origins = [*[("d" * 40, "a.py", number) for number in range(4)]] + [
        ("c" * 40, "a.py", number) for number in range(8)
    ]
    (record,) = late_hunks(
        head,
        origins,
        waiting.of(),
        lambda commit, _: file if commit == file.commit else None,
    )
    assert record["commit_hash"] == "c" * 40
    assert (record["line_start"], record["line_end"], record["edit"]) == (1, 8, edit.id)
    assert record["file_content_hash"] == file.content


def test_a_deletion_enters_when_the_parent_has_a_line_that_the_commit_lacks() -> None:
    waiting = Waiting()
    edit = waiting.record(joined(*BLOCK), 1, 3, action="delete")
    parent = HashedText(BLOCK)
    now = {line_hash(line) for line in BLOCK[3:]}
    assert deletion_enters(edit, parent, now)
    assert not deletion_enters(edit, parent, {line_hash(line) for line in BLOCK})
    assert not deletion_enters(edit, HashedText(PERSON), now)


def test_lines_that_the_commit_moves_to_another_file_are_not_deleted() -> None:
    waiting = Waiting()
    edit = waiting.record(joined(*BLOCK), 1, 8, action="delete")
    moved = {line_hash(line) for line in BLOCK}
    assert not deletion_enters(edit, HashedText(BLOCK), set(), moved)


def test_a_deletion_brings_no_lines() -> None:
    waiting = Waiting()
    waiting.record(joined(*BLOCK), 1, 8, action="delete")
    file = committed(joined(*BLOCK), set(range(1, 9)))
    assert hunks(file, waiting.of(), WrittenHunks()) == []
    assert other_records(file, waiting.edits) == []


def test_a_claim_without_hashes_goes_with_the_first_commit_of_its_file() -> None:
    waiting = Waiting()
    edit = waiting.record(joined(*BLOCK), 1, 8, line_hashes="", evidence="compared")
    file = committed(joined(*PERSON), {1})
    assert hunks(file, waiting.of(), WrittenHunks()) == []
    assert other_records(file, waiting.edits) == [edit.members]


def test_a_function_goes_with_the_commit_that_has_it_with_a_line_that_was_written() -> None:
    source = joined("def total(values):", "    subtotal = sum(values) * 3", "    return subtotal")
    waiting = Waiting()
    edit = waiting.record(source, 1, 3, type="function", function_name="total")
    other = joined("def total():", "    # nothing of it stands here", "    return 2")
    assert other_records(committed(source, {1}), [edit]) == [edit.members]
    assert other_records(committed(other, {1}), [edit]) == []
    assert other_records(committed(joined(*PERSON), {1}), [edit]) == []
