"""Text that git had before an edit was not written by it, and is not claimed (R14, R15)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.placing.histories import (
    AFTER,
    BEFORE,
    EDITED,
    FILE,
    LINES,
    only_location,
    placements_of,
)
from vibes_lsp.anchors.location import LocatedRange, Method, State

if TYPE_CHECKING:
    from tests.trails import Repository, TrailWriter


def disproved(located: LocatedRange) -> bool:
    return (
        located.is_contradicted
        and not located.may_own
        and located.state == State.UNVERIFIED
        and located.older_commit is not None
    )


def test_a_match_in_any_older_version_proves_nothing_at_any_line(
    repository: Repository, writer: TrailWriter
) -> None:
    """The newest older version lacks the lines; others have them at another line."""
    repository.write("a.py", "# above\n" * 7 + FILE)
    repository.commit("begun", date="2026-01-02T08:00:00+00:00")
    repository.write("a.py", "# above\n" * 7 + EDITED)
    repository.commit("edited", date="2026-01-09T08:00:00+00:00")
    writer.line("a.py", 10, 19, text=FILE, action="modify")
    located = only_location(repository.path)
    assert disproved(located)
    assert located.is_contradicted
    assert located.older_commit is not None


def test_lines_that_moved_before_the_edit_are_still_older(
    repository: Repository, writer: TrailWriter
) -> None:
    repository.write("a.py", "# above\n\n" + FILE)
    repository.commit("begun", date="2026-01-02T08:00:00+00:00")
    writer.line("a.py", 10, 19, text=FILE, action="modify")
    assert disproved(only_location(repository.path))
    repository.write("a.py", "# above\n" * 3 + FILE)
    repository.commit("moved on", date=AFTER)
    located = only_location(repository.path)
    assert (disproved(located), located.start) == (True, 13)


@pytest.mark.parametrize("is_recorded", [True, False], ids=["commit-recorded", "no-commit"])
def test_a_commit_of_the_same_session_before_the_record_is_no_older_text(
    repository: Repository, writer: TrailWriter, *, is_recorded: bool
) -> None:
    session = writer.session_start(timestamp=BEFORE)
    repository.write("a.py", FILE)
    commit = repository.commit("made", date="2026-02-03T08:30:00+00:00")
    writer.line("a.py", 10, 19, text=FILE, session=session, commit=commit if is_recorded else None)
    assert only_location(repository.path).sure


def test_without_a_session_a_commit_some_minutes_before_the_record_is_no_older_text(
    repository: Repository, writer: TrailWriter
) -> None:
    repository.write("a.py", FILE)
    repository.commit("made", date="2026-02-03T09:58:00+00:00")
    writer.line("a.py", 10, 19, text=FILE)
    assert only_location(repository.path).sure


def test_the_recorded_commit_is_never_older_than_the_edit(
    repository: Repository, writer: TrailWriter
) -> None:
    repository.write("a.py", FILE)
    commit = repository.commit("made", date="2026-01-02T08:00:00+00:00")
    writer.line("a.py", 10, 19, text=FILE, commit=commit)
    writer.line("a.py", 21, 25, commit=commit)
    assert [each.located.is_contradicted for each in placements_of(repository.path)] == [
        False,
        False,
    ]


def test_a_commit_of_an_earlier_member_is_never_older_than_the_edit(
    repository: Repository, writer: TrailWriter
) -> None:
    repository.write("a.py", FILE)
    made = repository.commit("made", date="2026-01-02T08:00:00+00:00")
    repository.write("a.py", "# above\n" + FILE)
    rewritten = repository.commit("rewritten", date="2026-01-03T08:00:00+00:00")
    first = writer.line("a.py", 10, 19, text=FILE)
    writer.remap(
        writer.remap(first, commit=made), commit=rewritten, start=11, end=20, reason="rewrite"
    )
    assert only_location(repository.path).sure


def test_a_copy_of_older_lines_at_another_place_is_new(
    repository: Repository, writer: TrailWriter
) -> None:
    repository.write("a.py", FILE)
    repository.commit("begun", date="2026-01-02T08:00:00+00:00")
    copied = FILE + "# copied\n" + "".join(LINES[9:19])
    repository.write("a.py", copied)
    writer.line("a.py", 42, 51, text=copied)
    located = only_location(repository.path)
    assert (located.start, located.is_contradicted, located.may_own) == (42, False, True)


def test_a_review_is_not_compared_with_older_texts(
    repository: Repository, writer: TrailWriter
) -> None:
    repository.write("a.py", FILE)
    repository.commit("begun", date="2026-01-02T08:00:00+00:00")
    writer.line("a.py", 10, 19, text=FILE, action="review")
    assert not only_location(repository.path).is_contradicted


def test_older_lines_of_a_record_without_anchors_are_not_claimed(
    repository: Repository, writer: TrailWriter
) -> None:
    repository.write("a.py", FILE)
    repository.commit("begun", date="2026-01-02T08:00:00+00:00")
    session = writer.session_start()
    writer.line("a.py", 10, 19, session=session)
    writer.line("a.py", 41, 42, session=session)
    repository.write("a.py", FILE + "# the AI's\n# too\n")
    old, new = placements_of(repository.path)
    assert (old.located.method, disproved(old.located), old.owned_ranges) == (
        Method.OLDER_THAN_EDIT,
        True,
        (),
    )
    assert (new.located.is_contradicted, new.owned_ranges) == (False, ((41, 42),))
    repository.commit("made", date=AFTER)
    old, new = placements_of(repository.path)
    assert (old.located.method, old.owned_ranges) == (Method.OLDER_THAN_EDIT, ())
    assert (new.located.is_contradicted, new.owned_ranges) == (False, ((41, 42),))


def test_lines_of_another_branch_before_the_edit_are_older(
    repository: Repository, writer: TrailWriter
) -> None:
    repository.write("a.py", FILE)
    repository.commit("begun", date="2026-01-02T08:00:00+00:00")
    repository.git("switch", "--quiet", "-c", "side")
    repository.write("a.py", FILE + "# of the side\n" * 3)
    repository.commit("aside", date="2026-01-03T08:00:00+00:00")
    repository.git("switch", "--quiet", "main")
    repository.write("a.py", "# of main\n" + FILE)
    repository.commit("ahead", date="2026-01-04T08:00:00+00:00")
    writer.line("a.py", 1, 1)
    writer.line("a.py", 42, 44)
    repository.git("merge", "--quiet", "side", date=AFTER)
    assert [disproved(each.located) for each in placements_of(repository.path)] == [
        True,
        True,
    ]


def test_text_that_the_file_had_before_the_edit_did_not_move(
    repository: Repository, writer: TrailWriter
) -> None:
    repository.write("a.py", FILE)
    repository.commit("begun", date="2026-01-02T08:00:00+00:00")
    writer.line("a.py", 10, 19, text=FILE, action="modify")
    repository.write("a.py", "".join([*LINES[:9], *LINES[19:]]))
    repository.write("b.py", "# nothing yet\n\n" + "".join(LINES[9:19]))
    repository.commit("split", date=AFTER)
    assert placements_of(repository.path, "b.py") == []
