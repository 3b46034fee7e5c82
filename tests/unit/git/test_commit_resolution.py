"""Which commit brought a record that names none (R4, R17)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.trails import OMIT, Repository, TrailWriter
from tests.trails.repository import START
from tests.unit.git.repositories import (
    commit_two_versions,
    commits_by_log,
    commits_by_path,
    open_git,
)
from tests.unit.trail.trails import ENVIRONMENT
from vibes_lsp.git.commit_resolution import CommitMethod, ResolvedCommit

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@pytest.fixture
def writer(repository: Repository) -> TrailWriter:
    writer = TrailWriter(repository.path)
    writer.housekeeping()
    return writer


def annotate(writer: TrailWriter, path: str = "a.py", **members: object) -> str:
    return writer.line(path, 1, 2, environment=ENVIRONMENT, **members)  # type: ignore[arg-type]


def by_log(writer: TrailWriter, repository: Repository, wanted: Sequence[str]) -> dict[str, str]:
    found = commits_by_log(open_git(repository), writer.files.log, wanted)
    assert all(each.method is CommitMethod.LOG for each in found.values())
    return {identifier: each.commit for identifier, each in found.items()}


def test_a_record_belongs_to_the_oldest_commit_whose_log_has_it(
    repository: Repository, writer: TrailWriter
) -> None:
    expected: dict[str, str] = {}
    for number in range(3):
        ones = [annotate(writer), annotate(writer)]
        commit = repository.commit(f"Commit {number}")
        expected |= dict.fromkeys(ones, commit)
    pending = annotate(writer)
    assert by_log(writer, repository, [*expected, pending]) == expected


def test_only_requested_records_are_returned(repository: Repository, writer: TrailWriter) -> None:
    one, _ = annotate(writer), annotate(writer)
    commit = repository.commit("Both")
    assert by_log(writer, repository, [one]) == {one: commit}
    assert by_log(writer, repository, []) == {}


def test_a_record_without_an_id_is_identified_by_its_content(
    repository: Repository, writer: TrailWriter
) -> None:
    computed = annotate(writer, annotation_id=OMIT)
    commit = repository.commit("One")
    assert by_log(writer, repository, [computed]) == {computed: commit}


def test_a_merged_record_belongs_to_the_commit_of_its_branch(
    repository: Repository, writer: TrailWriter
) -> None:
    annotate(writer)
    repository.commit("Start")
    repository.switch("topic", create=True)
    theirs = annotate(writer, "topic.py")
    topic = repository.commit("Topic")
    repository.switch("main")
    ours = annotate(writer, "main.py")
    main = repository.commit("Main")
    assert by_log(writer, repository, [ours, theirs]) == {ours: main}, (
        "no ancestor of HEAD has the other one"
    )
    repository.merge("topic")
    assert by_log(writer, repository, [ours, theirs]) == {ours: main, theirs: topic}


def test_a_record_added_by_a_merge_commit(repository: Repository, writer: TrailWriter) -> None:
    annotate(writer)
    repository.commit("Start")
    repository.switch("topic", create=True)
    annotate(writer, "topic.py")
    repository.commit("Topic")
    repository.switch("main")
    repository.git("merge", "--no-ff", "--no-commit", "topic")
    in_merge = annotate(writer, "merge.py")
    merge = repository.commit("Merge, with an edit of its own")
    assert by_log(writer, repository, [in_merge]) == {in_merge: merge}


def test_the_records_of_an_amended_commit_belong_to_the_new_commit(
    repository: Repository, writer: TrailWriter
) -> None:
    annotate(writer)
    repository.commit("Start")
    one = annotate(writer)
    before = repository.commit("One")
    repository.git(
        "commit",
        "--quiet",
        "--amend",
        "--message",
        "One, reworded",
        date="2026-03-01T00:00:00+00:00",
    )
    after = repository.head()
    assert after != before
    assert by_log(writer, repository, [one]) == {one: after}


def test_a_record_removed_and_added_again_belongs_to_the_first_commit(
    repository: Repository, writer: TrailWriter
) -> None:
    one = annotate(writer)
    log = writer.files.log.read_bytes()
    first = repository.commit("In")
    writer.files.log.write_bytes(b"")
    repository.commit("Out")
    writer.files.log.write_bytes(log)
    repository.commit("In again")
    assert by_log(writer, repository, [one]) == {one: first}


def test_a_log_that_git_considers_binary_is_read(
    repository: Repository, writer: TrailWriter
) -> None:
    writer.files.write(".gitattributes", b"annotations.jsonl -diff merge=union\n")
    one = annotate(writer)
    commit = repository.commit("One")
    assert by_log(writer, repository, [one]) == {one: commit}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("log.showRoot", "false"),
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("color.ui", "always"),
        ("color.diff", "always"),
        ("log.follow", "true"),
        ("diff.context", "20"),
        ("diff.wordRegex", "."),
        ("diff.renames", "copies"),
        ("log.diffMerges", "off"),
        ("format.pretty", "oneline"),
        ("core.quotePath", "true"),
        ("log.decorate", "full"),
        ("diff.orderFile", "no-such-file"),
        ("diff.indentHeuristic", "false"),
        ("diff.algorithm", "patience"),
        ("diff.colorMoved", "zebra"),
        ("diff.relative", "true"),
        ("core.commentChar", "+"),
        ("log.date", "relative"),
        ("i18n.logOutputEncoding", "utf-16"),
        ("diff.ignoreSubmodules", "all"),
        ("diff.interHunkContext", "9"),
        ("diff.statGraphWidth", "1"),
    ],
)
def test_git_settings_do_not_change_the_result(
    repository: Repository, writer: TrailWriter, name: str, value: str
) -> None:
    first = annotate(writer)
    root = repository.commit("Root")
    second = annotate(writer)
    repository.write("größe.py", "x\n")
    head = repository.commit("Second")
    repository.git("config", name, value)
    assert by_log(writer, repository, [first, second]) == {first: root, second: head}
    found = commits_by_path(open_git(repository), repository.path, {"größe.py": [START]})
    assert {path: each.commit for (path, _), each in found.items()} == {"größe.py": head}


def test_without_a_commit_nothing_is_resolved(repository: Repository, writer: TrailWriter) -> None:
    one = annotate(writer)
    assert by_log(writer, repository, [one]) == {}
    assert commits_by_path(open_git(repository), repository.path, {"a.py": [START]}) == {}


def test_a_log_outside_the_repository_has_no_commits(
    repository: Repository, tmp_path: Path
) -> None:
    outside = TrailWriter(tmp_path / "elsewhere")
    one = annotate(outside)
    repository.commit("Start")
    assert commits_by_log(open_git(repository), outside.files.log, [one]) == {}
    assert commits_by_path(open_git(repository), tmp_path / "elsewhere", {"a.py": [START]}) == {}


def test_malformed_lines_of_a_log_are_skipped(repository: Repository, writer: TrailWriter) -> None:
    writer.raw_log(b"<<<<<<< HEAD\n{broken\n\xff\xfe\n[]\n")
    one = annotate(writer)
    commit = repository.commit("One")
    assert by_log(writer, repository, [one]) == {one: commit}


def test_a_project_in_a_folder_of_its_repository(repository: Repository) -> None:
    project = repository.path / "packages/größe one"
    writer = TrailWriter(project)
    one = annotate(writer, "src/a b.py")
    repository.write("packages/größe one/src/a b.py", "x\n")
    commit = repository.commit("One")
    repository.write("src/a b.py", "of another project\n")
    repository.commit("Other")
    assert by_log(writer, repository, [one]) == {one: commit}
    found = commits_by_path(open_git(repository), project, {"src/a b.py": [START]})
    assert found == {("src/a b.py", START): ResolvedCommit(commit, CommitMethod.INFERRED)}


def inferred(repository: Repository, path: str, *minutes: float) -> list[str | None]:
    moments = [START + timedelta(minutes=each) for each in minutes]
    found = commits_by_path(open_git(repository), repository.path, {path: moments})
    return [found[path, moment].commit if (path, moment) in found else None for moment in moments]


def test_an_edit_belongs_to_the_next_commit_that_changes_its_file(repository: Repository) -> None:
    first, _, third = commit_two_versions(repository)
    assert inferred(repository, "a.py", -1, 0, 0.5, 1, 2, 2.1) == [
        first,
        first,
        third,
        third,
        third,
        None,
    ]
    assert inferred(repository, "none.py", 0) == [None]


def test_an_edit_within_the_second_of_its_commit_belongs_to_it(repository: Repository) -> None:
    """Commits have whole seconds only."""
    repository.write("a.py", "1\n")
    first = repository.commit("First")
    assert inferred(repository, "a.py", 0.9 / 60) == [first]


@pytest.mark.parametrize(
    "path",
    ["a b.py", "größe/ß.py", 'with"quote.py', "tab\there.py", "-dash.py", "[x].py", ":(top).py"],
)
def test_names_of_any_characters(repository: Repository, path: str) -> None:
    repository.write(path, "x\n")
    commit = repository.commit("One")
    assert inferred(repository, path, -1) == [commit]


def test_all_spellings_of_a_path_are_one_file(repository: Repository) -> None:
    repository.write("src/a.py", "x\n")
    commit = repository.commit("One")
    spellings = ["src/a.py", "./src/a.py", "src\\a.py", "src//a.py"]
    found = commits_by_path(
        open_git(repository), repository.path, {path: [START] for path in spellings}
    )
    assert found == {
        (path, START): ResolvedCommit(commit, CommitMethod.INFERRED) for path in spellings
    }


def test_a_file_of_a_merged_branch(repository: Repository) -> None:
    repository.commit("Start")
    repository.switch("topic", create=True)
    repository.write("a.py", "1\n")
    topic = repository.commit("Topic")
    repository.switch("main")
    repository.commit("Main")
    repository.merge("topic")
    assert inferred(repository, "a.py", 0.5) == [topic]
