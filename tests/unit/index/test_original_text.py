"""Original texts of annotations in a git history (R4, R14, R17), and text that moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.index.histories import (
    AFTER,
    BEFORE,
    EDITED,
    FILE,
    LINES,
    file_histories,
    file_history_of,
    kinds,
    only_location,
    placements_of,
)
from tests.unit.trail.trails import read_trail
from vibes_lsp.anchors.location import Method, State
from vibes_lsp.anchors.text import Text
from vibes_lsp.index.file_history import FileHistory
from vibes_lsp.index.locate_annotations import locate_annotations
from vibes_lsp.model.hashing import sha256
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.kept_texts import keep_text

if TYPE_CHECKING:
    from pathlib import Path

    from tests.trails import Repository, TrailWriter
    from vibes_lsp.history.project_history import ProjectHistory


def test_the_text_is_in_the_commit_that_brought_the_record(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
) -> None:
    repository.write("a.py", FILE)
    writer.line("a.py", 10, 19, text=FILE)
    repository.commit("made", date=AFTER)
    repository.write("a.py", EDITED)
    located = only_location(repository.path, history)
    assert (located.state, located.method, located.start, located.end) == (
        State.EDITED,
        Method.HISTORY,
        10,
        20,
    )
    assert (kinds(located), located.intact) == ("aahaaeaaaaa", 9)


def test_later_versions_are_compared_once_for_all_annotations(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
) -> None:
    texts = ["".join(f"# {line}\n" for line in range(number)) + FILE for number in range(80)]
    for number, text in enumerate(texts):
        repository.write("a.py", text)
        commit = repository.commit(f"version {number}")
        if number in (0, 20):
            writer.line(
                "a.py", 10 + number, 19 + number, text=text, commit=commit, timestamp=BEFORE
            )
    repository.write("a.py", texts[-1].replace("value_12 = ", "value_12: int = "))
    file_history = file_history_of(repository.path, history, "a.py")
    longer, shorter = sorted(
        (original.later for original in file_history.original_texts.values()), key=len, reverse=True
    )
    assert longer[-len(shorter) :] == shorter
    assert [text.content for text in longer[-32:]] == texts[-32:]
    assert 32 < len(shorter) < len(longer) < 70
    located = [each.located for each in placements_of(repository.path, history)]
    assert [(each.state, each.start, each.end, kinds(each)) for each in located] == [
        (State.EDITED, 89, 98, "aaeaaaaaaa")
    ] * 2


def test_the_text_is_in_the_recorded_commit_of_a_later_record(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
) -> None:
    repository.write("a.py", FILE)
    commit = repository.commit("made")
    repository.write("a.py", EDITED)
    repository.commit("edited", date=AFTER)
    writer.line("a.py", 10, 19, text=FILE, commit=commit)
    assert kinds(only_location(repository.path, history)) == "aahaaeaaaaa"


def test_the_text_is_found_by_the_file_hash_without_a_commit(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
) -> None:
    repository.write("a.py", "# first\n")
    repository.commit("begun")
    repository.write("a.py", FILE)
    repository.commit("made")
    repository.write("a.py", EDITED)
    repository.commit("edited")
    session = writer.session_start(timestamp=BEFORE)
    writer.line("a.py", 10, 19, text=FILE, session=session, timestamp="2026-03-01T10:00:00.000Z")
    located = only_location(repository.path, history)
    assert (located.method, kinds(located)) == (Method.HISTORY, "aahaaeaaaaa")


def test_lines_that_moved_before_the_commit_are_found_in_it(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
) -> None:
    writer.line("a.py", 10, 19, text=FILE)
    repository.write("a.py", "# above\n" * 5 + FILE)
    repository.commit("made", date=AFTER)
    repository.write("a.py", "# above\n" * 5 + EDITED)
    located = only_location(repository.path, history)
    assert (located.start, located.end, kinds(located)) == (15, 25, "aahaaeaaaaa")


def test_without_anchors_the_next_commit_is_used_and_nothing_is_sure(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
) -> None:
    repository.write("a.py", "# first\n")
    repository.commit("begun")
    writer.line("a.py", 10, 19)
    repository.write("a.py", FILE)
    repository.commit("made", date=AFTER)
    repository.write("a.py", "# above\n" + EDITED)
    located = only_location(repository.path, history)
    assert (located.state, located.method, located.start, located.end) == (
        State.UNVERIFIED,
        Method.HISTORY,
        11,
        21,
    )
    assert located.intact is None


def test_anchors_of_the_text_before_the_edit_prove_nothing(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
) -> None:
    repository.write("a.py", FILE)
    repository.commit("begun", date="2026-02-03T08:00:00+00:00")
    writer.line("a.py", 10, 19, text=FILE, action="modify")
    repository.write("a.py", "# above\n" + EDITED)
    repository.commit("made", date=AFTER)
    located = only_location(repository.path, history)
    assert (located.state, located.method, located.start) == (
        State.UNVERIFIED,
        Method.ANCHOR_BEFORE_EDIT,
        11,
    )


@pytest.mark.parametrize("is_tracked", [True, False], ids=["log-tracked", "log-ignored"])
def test_a_commit_in_the_same_second_is_after_the_edit(
    repository: Repository, writer: TrailWriter, history: ProjectHistory, *, is_tracked: bool
) -> None:
    if not is_tracked:
        repository.write(".gitignore", ".ai-audit/\n")
    repository.write("a.py", FILE)
    writer.line("a.py", 10, 19, text=FILE, timestamp="2026-02-03T11:00:00.700Z")
    repository.commit("made", date=AFTER)
    repository.write("a.py", FILE + "# more\n")
    repository.commit("made more", date=AFTER)
    assert only_location(repository.path, history).sure


def test_commits_after_the_records_commit_are_after_the_edit_by_any_clock(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
) -> None:
    repository.write("a.py", FILE)
    writer.line("a.py", 10, 19, text=FILE, timestamp="2026-02-03T13:00:00.000Z")
    repository.commit("made", date=AFTER)
    repository.write("a.py", FILE + "# more\n")
    repository.commit("made more", date="2026-02-03T12:00:00+00:00")
    assert only_location(repository.path, history).sure


def test_a_file_that_was_renamed_keeps_its_annotations(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
) -> None:
    repository.write("a.py", FILE)
    writer.line("a.py", 10, 19, text=FILE)
    repository.commit("made", date=AFTER)
    repository.git("mv", "a.py", "b.py")
    repository.commit("renamed", date="2026-02-03T12:00:00+00:00")
    repository.write("b.py", "# above\n" + FILE)
    (placement,) = placements_of(repository.path, history, "b.py")
    assert (placement.path, placement.moved_from) == ("b.py", "a.py")
    assert (placement.located.state, placement.located.start, placement.located.sure) == (
        State.MOVED,
        11,
        True,
    )


def test_a_function_that_moved_to_another_file_is_found_there(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
) -> None:
    repository.write("a.py", FILE)
    repository.write("b.py", "# nothing yet\n")
    writer.line("a.py", 10, 19, text=FILE)
    repository.commit("made", date="2026-02-03T10:30:00+00:00")
    repository.write("a.py", "".join([*LINES[:9], *LINES[19:]]))
    repository.write("b.py", "# nothing yet\n\n" + "".join(LINES[9:19]))
    (placement,) = placements_of(repository.path, history, "b.py")
    assert (placement.path, placement.moved_from, placement.located.state) == (
        "b.py",
        "a.py",
        State.MOVED,
    )
    assert (placement.located.start, placement.located.end) == (3, 12)
    assert [each.located.state for each in placements_of(repository.path, history, "a.py")] == [
        State.LOST
    ]


def function(name: str) -> list[str]:
    middle = [f"    {name}_{number} = compute_{name}(a + {number}, b)\n" for number in range(9)]
    return [f"def {name}(a, b):\n", *middle, f"    return {name}_8\n", "\n"]


def test_similar_lines_at_the_old_place_do_not_prevent_a_move(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
) -> None:
    one, other = function("alpha"), function("beta")
    text = "".join([*one, *other])
    repository.write("a.py", text)
    writer.line("a.py", 13, 23, text=text)
    repository.commit("made", date="2026-02-03T10:30:00+00:00")
    repository.write("a.py", "".join(one))
    repository.write("b.py", "# nothing yet\n\n" + "".join(other))
    (placement,) = placements_of(repository.path, history, "b.py")
    assert (placement.moved_from, placement.located.start, placement.located.sure) == (
        "a.py",
        3,
        True,
    )
    assert only_location(repository.path, history).state == State.LOST


def test_annotations_that_moved_in_are_located_separately(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
) -> None:
    first, second, third, moved = (function(name) for name in ("alpha", "beta", "gamma", "delta"))
    repository.write("a.py", "".join([*first, *moved]))
    text = "".join([*first, *second, *third])
    repository.write("b.py", text)
    writer.line("a.py", 13, 23, text="".join([*first, *moved]))
    writer.line("b.py", 1, 11, text=text)
    writer.line("b.py", 25, 35, text=text)
    repository.commit("made", date="2026-02-03T10:30:00+00:00")
    repository.write("a.py", "".join(first))
    repository.write("b.py", "".join([*first, *second, *third, *moved]))
    located = [each.located for each in placements_of(repository.path, history, "b.py")]
    assert [(each.start, each.sure) for each in located] == [(1, True), (25, True), (37, True)]
    repository.write("b.py", "".join([*moved, *first, *second, *third]))
    located = [each.located for each in placements_of(repository.path, history, "b.py")]
    assert [(each.start, each.sure) for each in located] == [(1, True), (13, True), (37, True)]


def test_an_edited_text_did_not_move_to_a_copy_in_another_file(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
) -> None:
    repository.write("a.py", FILE)
    writer.line("a.py", 10, 19, text=FILE)
    repository.commit("made", date="2026-02-03T10:30:00+00:00")
    repository.write("a.py", EDITED)
    repository.write("b.py", "# nothing yet\n\n" + "".join(LINES[9:19]))
    assert placements_of(repository.path, history, "b.py") == []
    assert only_location(repository.path, history).state == State.EDITED


def test_text_that_another_file_always_had_did_not_move_there(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
) -> None:
    repository.write("a.py", FILE)
    repository.write("b.py", "".join(LINES[5:25]))
    repository.commit("made", date="2026-02-03T09:30:00+00:00")
    writer.line("a.py", 10, 19, text=FILE)
    repository.write("a.py", "".join([*LINES[:9], *LINES[19:]]))
    assert placements_of(repository.path, history, "b.py") == []


def test_a_copy_in_another_file_is_no_move(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
) -> None:
    repository.write("a.py", FILE)
    writer.line("a.py", 10, 19, text=FILE)
    repository.commit("made", date=AFTER)
    repository.write("b.py", "".join(LINES[9:19]))
    assert placements_of(repository.path, history, "b.py") == []
    assert only_location(repository.path, history).state == State.EXACT


def test_without_a_repository_there_is_no_history(
    tmp_path: Path, writer: TrailWriter, history: ProjectHistory
) -> None:
    writer.line("a.py", 10, 19, text=FILE)
    (tmp_path / "a.py").write_text(EDITED, encoding="utf-8")
    trail = read_trail(tmp_path)
    file_history = file_histories(trail, history, {}).of("a.py", Text(EDITED))
    assert file_history == FileHistory()
    (placement,) = locate_annotations(trail, "a.py", Text(EDITED), file_history)
    assert (placement.located.state, placement.located.start, placement.located.intact) == (
        State.EDITED,
        10,
        None,
    )


def test_a_text_that_was_changed_before_its_commit_is_known_where_it_was_kept(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
) -> None:
    repository.write("a.py", "".join(LINES[:9]))
    repository.commit("before", date=BEFORE)
    writer.line("a.py", 10, 19, text=FILE)
    repository.write("a.py", EDITED)
    repository.commit("edited", date=AFTER)
    assert not only_location(repository.path, history).kinds
    keep_text(AuditDir(repository.path / ".ai-audit"), sha256(FILE.encode()), FILE.encode())
    located = only_location(repository.path, history)
    assert (located.state, located.start, located.end) == (State.EDITED, 10, 20)
    assert kinds(located) == "aahaaeaaaaa"
