"""What git had before an edit was not written by it, and nothing is claimed there (R14, R15); what an honest tool commits first, it wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.index.histories import AFTER, BEFORE, EDITED, FILE, LINES, only, placed
from vibes_lsp.anchors.location import LocatedRange, Method, State

if TYPE_CHECKING:
    from tests.trails import Repository, TrailWriter
    from vibes_lsp.history.project_history import ProjectHistory


def disproved(located: LocatedRange) -> bool:
    return (
        located.is_contradicted
        and not located.may_own
        and located.state == State.UNVERIFIED
        and located.older_commit is not None
    )


def test_a_text_of_any_version_before_the_edit_proves_nothing_wherever_its_lines_were(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
) -> None:
    """The newest version before the edit has the lines no more, and the older ones never had them at the recorded line."""
    repository.write("a.py", "# above\n" * 7 + FILE)
    repository.commit("begun", date="2026-01-02T08:00:00+00:00")
    repository.write("a.py", "# above\n" * 7 + EDITED)
    repository.commit("edited", date="2026-01-09T08:00:00+00:00")
    writer.line("a.py", 10, 19, text=FILE, action="modify")
    located = only(repository.path, history)
    assert disproved(located)
    assert located.method == Method.ANCHOR_BEFORE_EDIT
    assert located.older_commit is not None
    assert located.older_commit.moment.isoformat() == "2026-01-02T08:00:00+00:00"


def test_lines_that_moved_before_the_edit_are_as_old_where_they_stand(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
) -> None:
    repository.write("a.py", "# above\n\n" + FILE)
    repository.commit("begun", date="2026-01-02T08:00:00+00:00")
    writer.line("a.py", 10, 19, text=FILE, action="modify")
    assert disproved(only(repository.path, history))
    repository.write("a.py", "# above\n" * 3 + FILE)
    repository.commit("moved on", date=AFTER)
    located = only(repository.path, history)
    assert (disproved(located), located.start) == (True, 13)


@pytest.mark.parametrize("is_recorded", [True, False], ids=["commit-recorded", "no-commit"])
def test_a_tool_that_commits_and_then_records_anchored_what_it_wrote(
    repository: Repository, writer: TrailWriter, history: ProjectHistory, *, is_recorded: bool
) -> None:
    session = writer.session_start(timestamp=BEFORE)
    repository.write("a.py", FILE)
    commit = repository.commit("made", date="2026-02-03T08:30:00+00:00")
    writer.line("a.py", 10, 19, text=FILE, session=session, commit=commit if is_recorded else None)
    assert only(repository.path, history).sure


def test_without_a_session_a_commit_some_minutes_before_its_record_may_be_that_of_the_edit(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
) -> None:
    repository.write("a.py", FILE)
    repository.commit("made", date="2026-02-03T09:58:00+00:00")
    writer.line("a.py", 10, 19, text=FILE)
    assert only(repository.path, history).sure


def test_its_own_commit_is_never_before_an_edit_whenever_that_was_recorded(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
) -> None:
    repository.write("a.py", FILE)
    commit = repository.commit("made", date="2026-01-02T08:00:00+00:00")
    writer.line("a.py", 10, 19, text=FILE, commit=commit)
    writer.line("a.py", 21, 25, commit=commit)
    assert [each.located.is_contradicted for each in placed(repository.path, history)] == [
        False,
        False,
    ]


def test_a_commit_that_an_earlier_record_of_the_lineage_names_is_its_own_too(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
) -> None:
    repository.write("a.py", FILE)
    made = repository.commit("made", date="2026-01-02T08:00:00+00:00")
    repository.write("a.py", "# above\n" + FILE)
    rewritten = repository.commit("rewritten", date="2026-01-03T08:00:00+00:00")
    first = writer.line("a.py", 10, 19, text=FILE)
    writer.remap(
        writer.remap(first, commit=made), commit=rewritten, start=11, end=20, reason="rewrite"
    )
    assert only(repository.path, history).sure


def test_a_copy_of_lines_that_git_had_elsewhere_is_new(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
) -> None:
    repository.write("a.py", FILE)
    repository.commit("begun", date="2026-01-02T08:00:00+00:00")
    copied = FILE + "# copied\n" + "".join(LINES[9:19])
    repository.write("a.py", copied)
    writer.line("a.py", 42, 51, text=copied)
    located = only(repository.path, history)
    assert (located.start, located.is_contradicted, located.may_own) == (42, False, True)


def test_a_review_changes_no_lines_and_so_none_are_before_it(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
) -> None:
    repository.write("a.py", FILE)
    repository.commit("begun", date="2026-01-02T08:00:00+00:00")
    writer.line("a.py", 10, 19, text=FILE, action="review")
    assert not only(repository.path, history).is_contradicted


def test_lines_without_anchors_that_are_older_than_their_record_are_claimed_by_nobody(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
) -> None:
    repository.write("a.py", FILE)
    repository.commit("begun", date="2026-01-02T08:00:00+00:00")
    session = writer.session_start()
    writer.line("a.py", 10, 19, session=session)
    writer.line("a.py", 41, 42, session=session)
    repository.write("a.py", FILE + "# the AI's\n# too\n")
    old, new = placed(repository.path, history)
    assert (old.located.method, disproved(old.located), old.owned_ranges) == (
        Method.OLDER_THAN_EDIT,
        True,
        (),
    )
    assert (new.located.is_contradicted, new.owned_ranges) == (False, ((41, 42),))
    repository.commit("made", date=AFTER)
    old, new = placed(repository.path, history)
    assert (old.located.method, old.owned_ranges) == (Method.OLDER_THAN_EDIT, ())
    assert (new.located.is_contradicted, new.owned_ranges) == (False, ((41, 42),))


def test_lines_that_another_branch_brought_before_the_edit_are_older_too(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
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
    assert [disproved(each.located) for each in placed(repository.path, history)] == [
        True,
        True,
    ]


def test_what_its_own_file_had_before_the_edit_is_not_found_in_another(
    repository: Repository, writer: TrailWriter, history: ProjectHistory
) -> None:
    repository.write("a.py", FILE)
    repository.commit("begun", date="2026-01-02T08:00:00+00:00")
    writer.line("a.py", 10, 19, text=FILE, action="modify")
    repository.write("a.py", "".join([*LINES[:9], *LINES[19:]]))
    repository.write("b.py", "# nothing yet\n\n" + "".join(LINES[9:19]))
    repository.commit("split", date=AFTER)
    assert placed(repository.path, history, "b.py") == []
