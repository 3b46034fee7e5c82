"""The history of a project's files: versions, current paths, nested repositories."""

from __future__ import annotations

import hashlib
import sys
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.trails import Repository
from tests.trails.repository import START
from tests.unit.history.repositories import TEXT, commit_two_versions
from vibes_lsp.history.file_versions import FileVersions
from vibes_lsp.history.project_history import ProjectHistory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def history(repository: Repository) -> Iterator[ProjectHistory]:
    with ProjectHistory(repository.path) as opened:
        yield opened


def content_at(history: ProjectHistory, path: str, commit: str) -> bytes | None:
    version = history.version_at(path, commit)
    return history.contents(version) if version is not None else None


def rename(repository: Repository, old: str, new: str) -> None:
    (repository.path / new).parent.mkdir(parents=True, exist_ok=True)
    (repository.path / old).rename(repository.path / new)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_a_file_at_any_commit(repository: Repository, history: ProjectHistory) -> None:
    first, second, third = commit_two_versions(repository)
    assert [content_at(history, "a.py", each) for each in (first, second, third)] == [
        b"1\n",
        b"1\n",
        b"2\n",
    ]
    assert content_at(history, "a.py", second[:8].upper()) == b"1\n"
    assert content_at(history, "./a.py", first) == b"1\n"
    assert [
        history.version_at("a.py", each) for each in ("", "HEAD", "main", "0" * 40, "--all")
    ] == [None] * 5
    assert history.version_at("none.py", first) is None
    found = history.version_at("a.py", second[:8])
    assert found is not None
    assert (found.commit, found.moment) == (second, START + timedelta(minutes=1))


def test_a_file_at_a_commit_by_a_later_path(
    repository: Repository, history: ProjectHistory
) -> None:
    repository.write("a.py", TEXT)
    first = repository.commit("First")
    rename(repository, "a.py", "src/b.py")
    second = repository.commit("Renamed")
    assert [content_at(history, "src/b.py", each) for each in (first, second)] == [
        TEXT.encode()
    ] * 2
    found = history.version_at("src/b.py", first)
    assert found is not None
    assert found.path == "a.py"


def test_of_two_paths_at_a_commit_the_one_of_this_file_is_chosen(
    repository: Repository, history: ProjectHistory
) -> None:
    """The file was renamed twice, and its second path was another file's before."""
    repository.write("b.py", "quite another\n")
    repository.write("a.py", TEXT)
    first = repository.commit("First")
    (repository.path / "b.py").unlink()
    repository.commit("Without b")
    rename(repository, "a.py", "b.py")
    repository.commit("a to b")
    rename(repository, "b.py", "c.py")
    repository.commit("b to c")
    assert content_at(history, "c.py", first) == TEXT.encode()


def test_a_file_at_a_commit_that_is_no_ancestor_of_head(
    repository: Repository, history: ProjectHistory
) -> None:
    repository.write("a.py", "1\n")
    repository.commit("First")
    repository.write("a.py", "lost\n")
    lost = repository.commit("Lost")
    repository.git("reset", "--quiet", "--hard", "HEAD~1")
    assert content_at(history, "a.py", lost) == b"lost\n"


def test_results_follow_head(repository: Repository, history: ProjectHistory) -> None:
    assert history.head() is None
    assert history.versions("a.py") == FileVersions()
    repository.write("a.py", "1\n")
    first = repository.commit("First")
    assert history.head() is None, "it is read once"
    history.refresh_head()
    assert [each.commit for each in history.versions("a.py").versions] == [first]
    repository.write("a.py", "2\n")
    second = repository.commit("Second")
    history.refresh_head()
    assert [each.commit for each in history.versions("a.py").versions] == [second, first]
    assert history.head() == second
    repository.git("reset", "--quiet", "--hard", first)
    history.refresh_head()
    assert [each.commit for each in history.versions("a.py").versions] == [first]


def test_versions_are_read_once_while_head_stays(
    repository: Repository, history: ProjectHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("a.py", "1\n")
    commit = repository.commit("First")
    before = history.versions("a.py")
    monkeypatch.setattr("subprocess.Popen", None)
    assert history.versions("a.py") == before
    assert content_at(history, "a.py", commit) == b"1\n"


def test_a_project_in_a_folder_of_its_repository(repository: Repository) -> None:
    repository.write("other/a.py", TEXT)
    repository.write("packages/größe one/b.py", "b\n")
    first = repository.commit("First")
    rename(repository, "other/a.py", "packages/größe one/src/a.py")
    second = repository.commit("Moved in")
    repository.write("elsewhere.py", "x\n")
    repository.write("packages/größe one/new.py", "x\n")
    with ProjectHistory(repository.path / "packages/größe one") as history:
        found = history.versions("src/a.py").versions
        assert [(each.commit, each.path) for each in found] == [
            (second, "src/a.py"),
            (first, "../../other/a.py"),
        ]
        assert [history.contents(each) for each in found] == [TEXT.encode()] * 2
        assert content_at(history, "src/a.py", first) == TEXT.encode()
        assert content_at(history, "b.py", first) == b"b\n"
        assert history.version_at("../../elsewhere.py", second) is None
        assert history.current_paths(["src/a.py"]) == {"src/a.py": "src/a.py"}


def test_the_current_path_of_a_renamed_file(
    repository: Repository, history: ProjectHistory
) -> None:
    repository.write("a.py", TEXT)
    repository.write("deleted.py", "x\n")
    repository.write("stays.py", "y\n")
    repository.commit("First")
    rename(repository, "a.py", "b.py")
    (repository.path / "deleted.py").unlink()
    repository.commit("Second")
    rename(repository, "b.py", "src/c.py")
    repository.write("src/c.py", TEXT + "edited\n")
    repository.commit("Third")
    paths = ["a.py", "b.py", "src/c.py", "stays.py", "deleted.py", "none.py"]
    assert history.current_paths(paths) == dict(
        zip(paths[:4], ["src/c.py", "src/c.py", "src/c.py", "stays.py"], strict=True)
    )
    repository.git("mv", "src/c.py", "d.py")
    assert history.current_paths(["a.py"]) == {"a.py": "d.py"}, "staged renames count"


def test_a_file_in_a_submodule_has_the_submodules_history(
    repository: Repository, history: ProjectHistory, tmp_path: Path
) -> None:
    inner = Repository(tmp_path / "inner")
    inner.write("src/a.py", "1\n")
    first = inner.commit("First")
    repository.add_submodule(inner, "lib/sub")
    outer_first = repository.commit("Submodule")
    submodule = Repository(repository.path / "lib/sub")
    submodule.write("src/a.py", "2\n")
    second = submodule.commit("Second")
    outer_second = repository.commit("Later")
    path = "lib/sub/src/a.py"
    found = history.versions(path).versions
    assert [(each.commit, each.path) for each in found] == [(second, path), (first, path)]
    assert [history.contents(each) for each in found] == [b"2\n", b"1\n"]
    assert [content_at(history, path, each) for each in (first, second)] == [b"1\n", b"2\n"]
    assert [content_at(history, path, each) for each in (outer_first, outer_second)] == [
        b"1\n",
        b"2\n",
    ], "by the outer commit"
    assert history.version_at("lib/sub", outer_first) is None, "a submodule is not a file"
    assert history.current_paths([path]) == {path: path}


@pytest.mark.skipif(sys.platform == "win32", reason="has symbolic links")
def test_a_link_out_of_the_project_has_no_history(
    repository: Repository, history: ProjectHistory, tmp_path: Path
) -> None:
    other = Repository(tmp_path / "other")
    other.write("a.py", "secret\n")
    commit = other.commit("Other")
    repository.write("b.py", "x\n")
    (repository.path / "link").symlink_to(other.path)
    repository.commit("One")
    assert history.version_at("link/a.py", commit) is None
    assert history.versions("link/a.py").versions == ()
    assert history.version_at("../other/a.py", commit) is None
    assert history.version_at(str(other.path / "a.py"), commit) is None


def test_a_work_tree_of_its_own(repository: Repository, tmp_path: Path) -> None:
    repository.write("a.py", "1\n")
    first = repository.commit("First")
    repository.git("worktree", "add", "--quiet", "-b", "topic", str(tmp_path / "beside"))
    beside = Repository(tmp_path / "beside")
    beside.write("a.py", "2\n")
    second = beside.commit("Second")
    with ProjectHistory(beside.path) as history, ProjectHistory(repository.path) as main:
        assert (history.head(), main.head()) == (second, first)
        assert [each.commit for each in history.versions("a.py").versions] == [second, first]
        assert content_at(history, "a.py", first) == b"1\n"


def test_after_close_there_is_no_history(repository: Repository) -> None:
    repository.write("a.py", "1\n")
    commit = repository.commit("First")
    history = ProjectHistory(repository.path)
    version = history.version_at("a.py", commit)
    assert version is not None
    history.close()
    assert history.head() is None
    assert history.contents(version) is None
    assert history.version_at("a.py", commit) is None
    history.close()
