"""Revisions, files at a revision, ancestry; and results without git."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.trails import Repository
from tests.unit.git.repositories import commits_by_log, commits_by_path, open_git
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.objects import GitObjects
from vibes_lsp.git.process import run_git
from vibes_lsp.git.repository import open_repository

if TYPE_CHECKING:
    from pathlib import Path


def test_a_repository_is_found_from_any_folder_in_it(repository: Repository) -> None:
    repository.write("größe/deep/a.py", "x\n")
    found = open_repository(repository.path / "größe/deep")
    assert found is not None
    assert found.root.resolve() == repository.path.resolve()


def test_a_folder_outside_any_repository_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert open_repository(tmp_path) is None
    assert open_repository(tmp_path / "none") is None


def test_a_repository_in_the_environment_is_ignored(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A git hook sets these variables for its own repository."""
    other = Repository(tmp_path / "other")
    commit = repository.commit("Here")
    other.commit("There")
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.path))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.path / "index"))
    assert open_git(repository).head() == commit


def test_before_the_first_commit_there_is_no_head(repository: Repository) -> None:
    found = open_git(repository)
    assert found.head() is None
    assert found.nearest_ancestor(["ab" * 20]) is None
    with pytest.raises(HistoryUnavailable, match="'HEAD' names no commit here"):
        found.resolve("HEAD")


def test_revisions_are_resolved_to_whole_hashes(repository: Repository) -> None:
    first = repository.commit("First", "2026-02-03T10:00:00+02:00")
    second = repository.commit("Second")
    repository.git("tag", "--annotate", "v1", "--message", "One", first)
    found = open_git(repository)
    assert found.head() == second
    assert [found.resolve(name) for name in ("HEAD", "main", "HEAD~1", "v1", first[:8])] == [
        second,
        second,
        first,
        first,
        first,
    ]
    assert found.commit_time(first) == datetime(2026, 2, 3, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    "revision", ["none", "", "--all", "-h", "HEAD:a.py", "HEAD^{tree}", "0" * 40, "a b", "HEAD~9"]
)
def test_a_revision_that_names_no_commit(repository: Repository, revision: str) -> None:
    repository.write("a.py", "x\n")
    repository.commit("One")
    with pytest.raises(HistoryUnavailable, match="names no commit here"):
        open_git(repository).resolve(revision)


def test_a_name_of_a_branch_may_have_unicode_line_ends(repository: Repository) -> None:
    head = repository.commit("First")
    repository.git("branch", "topic/a\u2028b\x85c")
    git = open_git(repository)
    assert git.resolve("topic/a\u2028b\x85c") == head
    with pytest.raises(HistoryUnavailable):
        git.resolve("topic")


def test_a_file_at_a_commit(repository: Repository) -> None:
    path = repository.write("größe und maß/a b.py", b"one\r\n\xff\n")
    first = repository.commit("First")
    path.write_bytes(b"two\n")
    second = repository.commit("Second")
    path.unlink()
    third = repository.commit("Third")
    found = open_git(repository)
    assert [
        found.read_file_below(commit, path.parent, path.name) for commit in (first, second, third)
    ] == [
        b"one\r\n\xff\n",
        b"two\n",
        None,
    ]
    assert found.read_file_below(first, path.parent.parent, path.parent.name) is None
    assert found.read_file_below("0" * 40, path.parent, path.name) is None


def test_the_nearest_ancestor_of_head(repository: Repository) -> None:
    first, second = repository.commit("First"), repository.commit("Second")
    repository.switch("topic", create=True)
    topic = repository.commit("Topic")
    repository.switch("main")
    third = repository.commit("Third")
    found = open_git(repository)
    assert found.nearest_ancestor([first, second]) == second
    assert found.nearest_ancestor([second, first]) == second
    assert found.nearest_ancestor([topic, first]) == first
    assert found.nearest_ancestor([first[:7], third[:7]]) == third[:7]
    assert found.nearest_ancestor([topic]) is None
    assert found.nearest_ancestor(["", "ab" * 20]) is None
    assert found.nearest_ancestor([]) is None


def test_tracked_files_are_named_from_the_folder(repository: Repository) -> None:
    repository.write("src/größe.py", "x\n")
    repository.write("src/a b.py", "x\n")
    repository.write("c.py", "x\n")
    repository.commit("One")
    repository.write("src/untracked.py", "x\n")
    found = open_git(repository)
    assert found.tracked_files(repository.path / "src") == {"größe.py", "a b.py"}
    assert found.tracked_files(repository.path) == {"src/größe.py", "src/a b.py", "c.py"}


def test_what_git_ignores(repository: Repository) -> None:
    repository.write(".gitignore", "*.log\nbuild/\n")
    found = open_git(repository)
    assert found.is_ignored(repository.path / "a.log")
    assert found.is_ignored(repository.path / "build/x")
    assert not found.is_ignored(repository.path / "a.py")


def test_without_git(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = repository.commit("One")
    found = open_git(repository)
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert open_repository(repository.path) is None
    assert found.head() is None
    assert found.nearest_ancestor([commit]) is None
    assert found.read_file_below(commit, repository.path, "a.py") is None
    assert not found.is_ignored(repository.path / "a.py")
    assert commits_by_log(found, repository.path / "log", [commit]) == {}
    assert commits_by_path(found, repository.path, {"a.py": []}) == {}
    with pytest.raises(HistoryUnavailable, match="git could not be run") as caught:
        found.tracked_files(repository.path)
    assert caught.value.hint


def test_a_failure_says_which_command_failed_and_why(repository: Repository) -> None:
    repository.commit("One")
    with pytest.raises(HistoryUnavailable, match=r"^git rev-parse failed: fatal: .*'HEAD~5'"):
        run_git(repository.path, "-c", "tag.gpgSign=false", "rev-parse", "HEAD~5")


def test_files_larger_than_the_reader_takes_are_read(repository: Repository) -> None:
    path = repository.write("a.txt", "one\ntwo\n" * 1000)
    commit = repository.commit("First")
    found = open_repository(repository.path)
    assert found is not None
    lines = found.read_lines_below(commit, repository.path, "a.txt")
    assert list(lines) == [b"one\n", b"two\n"] * 1000
    assert found.has_file_below(commit, repository.path, "a.txt")
    assert not found.has_file_below(commit, repository.path, "b.txt")
    small = GitObjects(repository.path, limit=1000)
    object.__setattr__(found, "objects", small)
    assert found.read_file_below(commit, path.parent, path.name) == b"one\ntwo\n" * 1000
    small.close()


def test_a_damaged_file_is_a_failure(repository: Repository) -> None:
    path = repository.write("a.txt", "one\ntwo\n")
    commit = repository.commit("First")
    name = repository.git("rev-parse", "HEAD:a.txt")
    blob = repository.path / ".git/objects" / name[:2] / name[2:]
    blob.chmod(0o644)
    blob.write_bytes(blob.read_bytes()[:-6])
    found = open_repository(repository.path)
    assert found is not None
    with pytest.raises(HistoryUnavailable):
        found.read_file_below(commit, path.parent, path.name)
    blob.unlink()
    with pytest.raises(HistoryUnavailable):
        found.read_file_below(commit, path.parent, path.name)


@pytest.mark.skipif(sys.platform == "win32", reason="has symbolic links")
def test_a_path_that_git_refuses_leaves_the_others_ignored(repository: Repository) -> None:
    repository.write(".gitignore", "*.log\n!kept.log\n")
    repository.write("folder/a", "")
    (repository.path / "link").symlink_to("folder")
    found = open_repository(repository.path)
    assert found is not None
    names = ("a.log", "link/a.log", "kept.log", "größe\n.log")
    paths = [repository.path / name for name in names]
    assert found.ignored(paths) == {paths[0]: True, paths[3]: True}
    (repository.path / ".git/info").mkdir(exist_ok=True)
    (repository.path / ".git/info/exclude").write_text("*.own\n")
    own = repository.path / "a.own"
    assert found.ignored([own, paths[0]]) == {own: False, paths[0]: True}
    unusable = repository.path / "\ud800.own"
    assert found.ignored([own, unusable]) == {own: False}, "no file can have this name"


def test_steps_from_head_and_from_refs(repository: Repository) -> None:
    first = repository.commit("First")
    repository.switch("topic", create=True)
    second = repository.commit("Second")
    repository.switch("main")
    third = repository.commit("Third")
    merge = repository.merge("topic")
    found = open_repository(repository.path)
    assert found is not None
    names = ("HEAD", "@", "main", "HEAD~", "HEAD^2", "main~2", f"{merge}^^", "topic^{commit}")
    assert [found.resolve(name) for name in names] == [
        *(merge, merge, merge, third, second, first, first, second)
    ]
    for name in ("HEAD~9", "HEAD^3", "none", f"{'0' * 40}~1"):
        with pytest.raises(HistoryUnavailable):
            found.resolve(name)
