"""Which annotations are back-filled or remapped, and which stay pending."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.trails import Repository
from tests.unit.recording.projects import new_project, session_origin
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.maintenance.backfill import backfill
from vibes_lsp.maintenance.remap import remap

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.recording.projects import Project

TEXT = "".join(f"value_{number} = compute({number})\n" for number in range(12))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path / "project")


@pytest.fixture
def repository(project: Project) -> Repository:
    return Repository(project.root, start="2026-02-03T11:00:00+00:00")


def test_a_repository_is_required(project: Project) -> None:
    for use_case in (backfill, remap):
        with pytest.raises(HistoryUnavailable, match="in no git repository"):
            use_case(project.recorder)


def test_before_the_first_commit_everything_is_pending(
    project: Project, repository: Repository
) -> None:
    assert repository.path == project.root
    project.recorder.annotate_lines("a.py", 4, 6, "create", session_origin(project.session()))
    result = backfill(project.recorder)
    assert (result.backfilled, len(result.pending)) == ((), 1)
    assert remap(project.recorder).remapped == ()


def test_lines_older_than_an_inferred_commit_are_pending(
    project: Project, repository: Repository
) -> None:
    """The log is not tracked, and the record was made after the commit that has its lines."""
    repository.write(".gitignore", ".ai-audit/\n")
    project.file("a.py", TEXT)
    repository.commit("With the lines", date="2026-02-03T09:00:00+00:00")
    project.recorder.annotate_lines("a.py", 2, 5, "create", session_origin(project.session()))
    project.file("a.py", TEXT + "another = 1\n")
    repository.commit("The first after the edit")
    repository.commit("One more")
    assert backfill(project.recorder).backfilled == ()


def test_lines_that_do_not_stand_as_their_hashes_say_are_pending(
    project: Project, repository: Repository
) -> None:
    """The first commit since the edit may be another one than the edit's."""
    repository.write(".gitignore", ".ai-audit/\n")
    project.file("a.py", TEXT)
    repository.commit("Before", date="2026-02-03T09:00:00+00:00")
    project.recorder.annotate_lines("a.py", 2, 5, "create", session_origin(project.session()))
    project.file("a.py", TEXT.replace("value_3 =", "result_3 ="))
    repository.commit("The first after the edit")
    repository.commit("One more")
    assert backfill(project.recorder).backfilled == ()


def test_an_ambiguous_copy_is_not_attributed(project: Project, repository: Repository) -> None:
    project.file("a.py", TEXT)
    project.recorder.annotate_lines("a.py", 2, 5, "create", session_origin(project.session()))
    lines = TEXT.splitlines(keepends=True)
    project.file("a.py", "".join([*lines[1:5], "x = 1\n", *lines[1:5]]))
    repository.commit("Twice")
    repository.commit("One more")
    assert backfill(project.recorder).backfilled == ()


def test_a_dry_run_writes_nothing_and_returns_the_same(
    project: Project, repository: Repository
) -> None:
    project.recorder.annotate_lines("a.py", 4, 6, "create", session_origin(project.session()))
    repository.commit("One")
    repository.commit("Two")
    before = project.written()
    would = backfill(project.recorder, dry_run=True)
    assert project.written() == before
    assert backfill(project.recorder) == would
    assert len(would.backfilled) == 1


def test_a_commit_in_sha256_objects(tmp_path: Path) -> None:
    project = new_project(tmp_path / "project")
    repository = Repository(project.root, start="2026-02-03T11:00:00+00:00", hashes="sha256")
    project.recorder.annotate_lines("a.py", 4, 6, "create", session_origin(project.session()))
    commit = repository.commit("One")
    repository.commit("Two")
    assert [record["commit_hash"] for record in backfill(project.recorder).records] == [commit]
    assert len(commit) == 64


def test_a_dry_run_does_not_use_up_its_request_id(project: Project, repository: Repository) -> None:
    project.file("b.py", TEXT)
    root = repository.commit("Begun")
    text = "# head\n" + TEXT.replace("value_3 ", "third ")
    project.file("b.py", text)
    project.recorder.annotate_lines("b.py", 4, 6, "create", session_origin(project.session()))
    repository.commit("The lines")
    repository.commit("More of it")
    assert len(backfill(project.recorder).backfilled) == 1
    repository.git("reset", "--quiet", "--soft", root)
    project.file("b.py", "# above\n" + text)
    repository.commit("Squashed")
    before = project.written()
    would = remap(project.recorder, dry_run=True, request_id="1")
    assert len(would.remapped) == 1
    assert project.written() == before
    assert remap(project.recorder, request_id="1") == would
    assert project.records()[-1]["metadata"] == {"reason": "rewrite"}
    assert remap(project.recorder, dry_run=True, request_id="1").remapped == ()


def test_an_annotation_of_another_branch_is_not_remapped(
    project: Project, repository: Repository
) -> None:
    """The log is not tracked: it has the records of all branches."""
    repository.write(".gitignore", ".ai-audit/\n")
    repository.commit("Begun", date="2026-02-03T09:00:00+00:00")
    repository.switch("topic", create=True)
    project.file("b.py", TEXT)
    project.recorder.annotate_lines("b.py", 2, 5, "create", session_origin(project.session()))
    repository.commit("On the branch")
    repository.commit("More of it")
    assert len(backfill(project.recorder).backfilled) == 1
    repository.switch("main")
    project.file("b.py", "# other\n" + TEXT)
    repository.commit("The same here")
    result = remap(project.recorder)
    assert (result.remapped, result.orphaned, len(result.unchanged)) == ((), (), 1)
