"""Missing or incomplete git history gives fewer results, no failure and no fetch."""

from __future__ import annotations

import shutil
import sys
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.trails import Repository, TrailWriter
from tests.trails.repository import START
from tests.unit.history.repositories import TEXT, resolver_for
from tests.unit.trail.trails import ENVIRONMENT
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history import git
from vibes_lsp.history.commit_resolution import CommitMethod, CommitResolver
from vibes_lsp.history.objects import GitObjects
from vibes_lsp.history.project_history import ProjectHistory
from vibes_lsp.history.repository import open_repository

if TYPE_CHECKING:
    from pathlib import Path


def commit_annotations(repository: Repository, count: int) -> tuple[list[str], list[str]]:
    """Commit versions of `a.py`, each with an annotation; return their ids and the commits."""
    writer = TrailWriter(repository.path)
    ids, commits = [], []
    for number in range(count):
        repository.write("a.py", f"{number}\n")
        ids.append(writer.line("a.py", 1, 1, environment=ENVIRONMENT))
        commits.append(repository.commit(f"Commit {number}"))
    return ids, commits


def assert_no_history(history: ProjectHistory, commit: str) -> None:
    assert history.head() is None
    found = history.versions("a.py")
    assert (found.versions, found.names) == ((), ())
    assert history.version_at("a.py", commit) is None
    assert history.current_paths(["a.py"]) == {}


def test_without_git(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("a.py", "1\n")
    commit = repository.commit("One")
    with ProjectHistory(repository.path) as opened, GitObjects(repository.path) as blobs:
        version = opened.version_at("a.py", commit)
        assert version is not None
        (tmp_path / "bin").mkdir()
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))
        with ProjectHistory(repository.path) as never_opened:
            assert_no_history(never_opened, commit)
            assert never_opened.contents(version) is None
        assert blobs.contents(version.blob) is None
        assert opened.versions("b.py").versions == ()


def test_without_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "project").mkdir()
    with ProjectHistory(tmp_path / "project") as history:
        assert_no_history(history, "ab" * 20)
        repository = Repository(tmp_path / "project")
        repository.write("a.py", "1\n")
        commit = repository.commit("One")
        assert history.head() == commit, "a repository created later is found"
    with ProjectHistory(tmp_path / "none") as history:
        assert_no_history(history, "ab" * 20)


def test_before_the_first_commit(repository: Repository) -> None:
    repository.write("a.py", "1\n")
    with ProjectHistory(repository.path) as history:
        assert_no_history(history, "ab" * 20)


def test_a_folder_that_only_looks_like_a_repository(tmp_path: Path) -> None:
    (tmp_path / "project/.git").mkdir(parents=True)
    with ProjectHistory(tmp_path / "project") as history:
        assert_no_history(history, "ab" * 20)
    (tmp_path / "other").mkdir()
    (tmp_path / "other/.git").write_text("gitdir: /nowhere\n")
    with ProjectHistory(tmp_path / "other") as history:
        assert_no_history(history, "ab" * 20)


def test_a_repository_in_the_environment_is_ignored(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Repository(tmp_path / "other")
    other.write("a.py", "there\n")
    there = other.commit("There")
    repository.write("a.py", "here\n")
    here = repository.commit("Here")
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.path))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.path / ".git/index"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other.path / ".git/objects"))
    monkeypatch.setenv("GIT_LITERAL_PATHSPECS", "1")
    with ProjectHistory(repository.path) as history:
        assert history.head() == here
        assert [each.commit for each in history.versions("a.py").versions] == [here]
        assert history.version_at("a.py", there) is None


def test_the_boundary_of_a_shallow_clone(repository: Repository, tmp_path: Path) -> None:
    ids, commits = commit_annotations(repository, 4)
    repository.git(
        "clone", "--quiet", "--depth", "2", repository.path.as_uri(), str(tmp_path / "clone")
    )
    clone = open_repository(tmp_path / "clone")
    assert clone is not None
    assert clone.shallow_boundary() == {commits[2]}
    resolver = CommitResolver(
        clone, tmp_path / "clone", tmp_path / "clone/.ai-audit/annotations.jsonl"
    )
    edits = [START + timedelta(minutes=number) for number in range(4)]
    with ProjectHistory(tmp_path / "clone") as history:
        found = history.versions("a.py")
        assert [each.commit for each in found.versions] == [commits[3], commits[2]]
        assert [history.version_at("a.py", commit) is not None for commit in commits] == [
            False,
            False,
            True,
            True,
        ]
        resolved = resolver.by_log(ids)
        assert [resolved[each].commit for each in ids] == [commits[2]] * 3 + [commits[3]]
        assert [resolved[each].method for each in ids] == [CommitMethod.INFERRED] * 3 + [
            CommitMethod.LOG
        ], "the boundary is not the first commit"
        assert {
            moment: each.commit for (_, moment), each in resolver.by_path({"a.py": edits}).items()
        } == {edits[3]: commits[3]}
        Repository(tmp_path / "clone").git("fetch", "--quiet", "--unshallow")
        history.refresh_head()
        assert clone.shallow_boundary() == frozenset()
        assert [resolver.by_log(ids)[each].commit for each in ids] == commits
        assert len(resolver.by_path({"a.py": edits})) == 4
        assert len(history.versions("a.py").versions) == 4


def partial_clone(repository: Repository, path: Path, *options: str) -> Repository:
    repository.git("config", "uploadpack.allowFilter", "true")
    repository.git("config", "uploadpack.allowAnySHA1InWant", "true")
    repository.git(
        "clone", "--quiet", "--filter=blob:none", *options, repository.path.as_uri(), str(path)
    )
    return Repository(path)


def test_a_partial_clone_fetches_nothing(repository: Repository, tmp_path: Path) -> None:
    repository.write("a.py", TEXT)
    first = repository.commit("First")
    (repository.path / "a.py").rename(repository.path / "b.py")
    second = repository.commit("Second, by the same content")
    repository.write("b.py", TEXT + "edited\n")
    third = repository.commit("Third")
    (repository.path / "b.py").unlink()
    repository.write("c.py", TEXT + "edited more\n")
    fourth = repository.commit("Fourth, by similar content")
    clone = partial_clone(repository, tmp_path / "clone")
    packs = set((clone.path / ".git/objects").rglob("*"))
    with ProjectHistory(clone.path) as history:
        version = history.version_at("b.py", third)
        assert version is not None
        assert history.contents(version) is None
        assert [each.commit for each in history.versions("b.py").versions] == [third, second, first]
        assert [each.commit for each in history.versions("c.py").versions] == [fourth], (
            "the contents to compare are missing"
        )
        assert history.current_paths(["a.py"]) == {}
    assert set((clone.path / ".git/objects").rglob("*")) == packs
    clone.git("cat-file", "-p", f"{third}:b.py")
    assert set((clone.path / ".git/objects").rglob("*")) != packs, "git alone fetches it"


def test_an_error_in_a_partial_clone_says_what_to_fetch(
    repository: Repository, tmp_path: Path
) -> None:
    repository.write("a.py", "one\n")
    first = repository.commit("first")
    repository.write("a.py", "two\n")
    repository.commit("second")
    clone = partial_clone(repository, tmp_path / "clone")
    with pytest.raises(HistoryUnavailable, match="partial clone") as raised:
        git.run_git(clone.path, "show", f"{first}:a.py")
    assert raised.value.hint == "fetch them: git fetch --refetch --no-filter"
    with pytest.raises(HistoryUnavailable) as raised:
        git.run_git(clone.path, "rev-parse", "--verify", "no-such-branch")
    assert "partial" not in raised.value.message


@pytest.mark.skipif(sys.platform == "win32", reason="runs a shell script")
def test_a_partial_clone_starts_no_fetch_program(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even in git without `GIT_NO_LAZY_FETCH` and with a protocol allowed by the repository."""
    writer = TrailWriter(repository.path)
    ids = []
    for number in range(2):
        repository.write("a.py", f"{number}\n")
        ids.append(writer.line("a.py", 1, 1, environment=ENVIRONMENT))
        repository.commit(f"Commit {number}")
    clone = partial_clone(repository, tmp_path / "clone")
    mark = tmp_path / "was-run"
    clone.git("config", "remote.origin.url", f"ext::touch {mark}")
    clone.git("config", "protocol.ext.allow", "always")
    monkeypatch.setitem(git._FIXED_VARIABLES, "GIT_NO_LAZY_FETCH", "0")
    with ProjectHistory(clone.path) as history:
        found = history.versions("a.py").versions
        assert [history.contents(version) for version in found] == [b"1\n", None]
    opened = open_repository(clone.path)
    assert opened is not None
    CommitResolver(opened, clone.path, clone.path / ".ai-audit/annotations.jsonl").by_log(ids)
    assert not mark.exists()
    with pytest.raises(RuntimeError):
        clone.git("cat-file", "-p", "HEAD~1:a.py")
    assert mark.exists(), "git alone runs it: the trap works"


def test_a_repository_with_sha_256_names(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "project", hashes="sha256")
    writer = TrailWriter(repository.path)
    repository.write("src/a.py", TEXT)
    one = writer.line("src/a.py", 1, 1, environment=ENVIRONMENT)
    first = repository.commit("First")
    (repository.path / "src/a.py").rename(repository.path / "b.py")
    second = repository.commit("Second")
    assert len(first) == 64
    resolver = resolver_for(repository)
    assert resolver.by_log([one])[one].commit == first
    assert resolver.by_path({"src/a.py": [START]})["src/a.py", START].commit == first
    with ProjectHistory(repository.path) as history, GitObjects(repository.path) as blobs:
        assert history.head() == second
        assert [(each.commit, each.path) for each in history.versions("b.py").versions] == [
            (second, "b.py"),
            (first, "src/a.py"),
        ]
        found = history.version_at("b.py", first[:12])
        assert found is not None
        assert (
            history.contents(found)
            == blobs.contents(f"{first}:src/a.py")
            == blobs.contents(found.blob)
            == TEXT.encode()
        )
        assert history.current_paths(["src/a.py"]) == {"src/a.py": "b.py"}


@pytest.mark.parametrize("way", ["replaced", "grafted"])
def test_replacement_objects_and_grafts_are_ignored(repository: Repository, way: str) -> None:
    ids, commits = commit_annotations(repository, 3)
    edits = {"a.py": [START]}
    if way == "replaced":
        repository.git(
            "replace",
            commits[2],
            repository.git("commit-tree", "-m", "Another history", f"{commits[2]}^{{tree}}"),
        )
        repository.git(
            "replace",
            repository.git("rev-parse", f"{commits[1]}:a.py"),
            repository.git("rev-parse", "HEAD:a.py"),
        )
    else:
        (repository.path / ".git/info").mkdir(exist_ok=True)
        (repository.path / ".git/info/grafts").write_text(f"{commits[2]}\n")
    assert repository.git("rev-list", "--count", "HEAD") == "1", "git itself uses it"
    resolver = resolver_for(repository)
    with ProjectHistory(repository.path) as history:
        assert [each.commit for each in history.versions("a.py").versions] == commits[::-1]
        assert [history.contents(each) for each in history.versions("a.py").versions] == [
            b"2\n",
            b"1\n",
            b"0\n",
        ]
    assert [resolver.by_log(ids)[each].commit for each in ids] == commits
    assert resolver.by_path(edits)["a.py", START].commit == commits[0]


def test_a_deleted_repository_has_no_history(repository: Repository) -> None:
    repository.write("a.py", "1\n")
    commit = repository.commit("One")
    with ProjectHistory(repository.path) as history:
        version = history.version_at("a.py", commit)
        assert version is not None
        shutil.rmtree(repository.path)
        assert history.versions("b.py").versions == ()
        assert history.version_at("b.py", commit) is None


def test_a_work_tree_configured_elsewhere(repository: Repository, tmp_path: Path) -> None:
    repository.write("a.py", "1\n")
    commit = repository.commit("One")
    (tmp_path / "elsewhere").mkdir()
    repository.git("config", "core.worktree", str(tmp_path / "elsewhere"))
    with ProjectHistory(repository.path) as history:
        assert_no_history(history, commit)
