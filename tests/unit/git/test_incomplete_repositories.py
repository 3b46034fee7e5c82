"""Missing or incomplete git history gives fewer results, no failure and no fetch."""

from __future__ import annotations

import shutil
import sys
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.trails import Repository, TrailWriter
from tests.trails.repository import START
from tests.unit.git.repositories import TEXT, open_git, resolver_for
from tests.unit.trail.trails import ENVIRONMENT
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git import process
from vibes_lsp.git.commit_resolution import CommitMethod, CommitResolver
from vibes_lsp.git.current_names import current_names
from vibes_lsp.git.file_changes import commits_by_file, file_changes, last_changes
from vibes_lsp.git.line_origins import line_origins
from vibes_lsp.git.log_additions import ids_added
from vibes_lsp.git.patches import commit_patch
from vibes_lsp.git.repository import Repository as Git
from vibes_lsp.git.repository import open_repository

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


def assert_no_history(folder: Path) -> None:
    git = open_repository(folder)
    if git is not None:
        assert git.head() is None
        assert current_names(git, ["a.py"]) == {}
        git.close()


def test_without_git(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("a.py", "1\n")
    commit = repository.commit("One")
    git = open_git(repository)
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert open_repository(repository.path) is None
    assert git.head() is None
    assert git.objects.contents(f"{commit}:a.py") is None
    assert current_names(git, ["a.py"]) == {}
    with pytest.raises(HistoryUnavailable):
        line_origins(git, "a.py", commit)


def test_without_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "project").mkdir()
    assert open_repository(tmp_path / "project") is None
    assert open_repository(tmp_path / "none") is None


def test_before_the_first_commit(repository: Repository) -> None:
    repository.write("a.py", "1\n")
    assert_no_history(repository.path)


def test_a_folder_that_only_looks_like_a_repository(tmp_path: Path) -> None:
    (tmp_path / "project/.git").mkdir(parents=True)
    assert_no_history(tmp_path / "project")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/.git").write_text("gitdir: /nowhere\n")
    assert_no_history(tmp_path / "other")


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
    git = open_git(repository)
    assert git.head() == here
    assert [change.commit for change in file_changes(git, ["HEAD"], ["a.py"])] == [here]
    assert brought_by(git, "a.py", here) == [here]
    assert git.objects.contents(f"{there}:a.py") is None
    git.close()


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
    assert brought_by(clone, "a.py", commits[3]) == [commits[3]]
    assert brought_by(clone, "a.py", commits[2]) == [commits[2]], "the boundary made all it has"
    resolved = resolver.by_log(ids)
    assert [resolved[identifier].commit for identifier in ids] == [commits[2]] * 3 + [commits[3]]
    assert [resolved[identifier].method for identifier in ids] == [CommitMethod.INFERRED] * 3 + [
        CommitMethod.LOG
    ], "the boundary is not the first commit"
    assert {
        moment: found.commit for (_, moment), found in resolver.by_path({"a.py": edits}).items()
    } == {edits[3]: commits[3]}
    Repository(tmp_path / "clone").git("fetch", "--quiet", "--unshallow")
    assert clone.shallow_boundary() == frozenset()
    assert [resolver.by_log(ids)[identifier].commit for identifier in ids] == commits
    assert len(resolver.by_path({"a.py": edits})) == 4
    clone.close()


def brought_by(git: Git, path: str, commit: str) -> list[str | None]:
    """Return the commits that blame gives the lines of a file to."""
    return [origin and origin.commit for origin in line_origins(git, path, commit)]


def partial_clone(repository: Repository, path: Path, *options: str) -> Repository:
    repository.git("config", "uploadpack.allowFilter", "true")
    repository.git("config", "uploadpack.allowAnySHA1InWant", "true")
    repository.git(
        "clone", "--quiet", "--filter=blob:none", *options, repository.path.as_uri(), str(path)
    )
    return Repository(path)


def test_a_partial_clone_fetches_nothing(repository: Repository, tmp_path: Path) -> None:
    repository.write("a.py", TEXT)
    repository.commit("First")
    (repository.path / "a.py").rename(repository.path / "b.py")
    second = repository.commit("Second, by the same content")
    repository.write("b.py", TEXT + "edited\n")
    third = repository.commit("Third")
    (repository.path / "b.py").unlink()
    repository.write("c.py", TEXT + "edited more\n")
    fourth = repository.commit("Fourth, by similar content")
    clone = partial_clone(repository, tmp_path / "clone")
    packs = set((clone.path / ".git/objects").rglob("*"))
    git = open_git(clone)
    assert git.objects.contents(f"{third}:b.py") is None
    with pytest.raises(HistoryUnavailable):
        line_origins(git, "c.py", fourth)
    with pytest.raises(HistoryUnavailable):
        commit_patch(git, third, fourth)
    assert current_names(git, ["b.py"]) == {}, "the contents to compare are missing"
    assert last_changes(git, fourth, None)["c.py"] == (fourth, False)
    assert {"a.py", "b.py"} <= commits_by_file(git, [second]).keys()
    assert set((clone.path / ".git/objects").rglob("*")) == packs
    clone.git("cat-file", "-p", f"{third}:b.py")
    assert set((clone.path / ".git/objects").rglob("*")) != packs, "git alone fetches it"
    git.close()


@pytest.mark.parametrize("lacking", ["blob:none", "tree:0"])
def test_a_file_that_a_partial_clone_lacks_is_no_absent_one(
    repository: Repository, tmp_path: Path, lacking: str
) -> None:
    repository.write("src/a.py", "one\n")
    first = repository.commit("first")
    repository.write("src/a.py", "two\n")
    repository.commit("second")
    clone = partial_clone(repository, tmp_path / "clone", f"--filter={lacking}")
    git = open_git(clone)
    with pytest.raises(HistoryUnavailable, match=r"cannot read|partial clone"):
        git.read_file_below(first, clone.path / "src", "a.py")
    with pytest.raises(HistoryUnavailable, match=r"cannot read|partial clone"):
        list(git.read_lines_below(first, clone.path / "src", "a.py"))
    git.close()


def test_an_error_in_a_partial_clone_says_what_to_fetch(
    repository: Repository, tmp_path: Path
) -> None:
    repository.write("a.py", "one\n")
    first = repository.commit("first")
    repository.write("a.py", "two\n")
    repository.commit("second")
    clone = partial_clone(repository, tmp_path / "clone")
    with pytest.raises(HistoryUnavailable, match="partial clone") as raised:
        process.run_git(clone.path, "show", f"{first}:a.py")
    assert raised.value.hint == "fetch the objects: git fetch --refetch --no-filter"
    with pytest.raises(HistoryUnavailable) as raised:
        process.run_git(clone.path, "rev-parse", "--verify", "no-such-branch")
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
    monkeypatch.setitem(process._FIXED_VARIABLES, "GIT_NO_LAZY_FETCH", "0")
    opened = open_git(clone)
    head, before = clone.head(), clone.git("rev-parse", "HEAD~1")
    assert [opened.objects.contents(f"{commit}:a.py") for commit in (head, before)] == [
        b"1\n",
        None,
    ]
    log = clone.path / ".ai-audit/annotations.jsonl"
    CommitResolver(opened, clone.path, log).by_log(ids)
    for ask in (
        lambda: line_origins(opened, "a.py", head),
        lambda: ids_added(opened, [head], ".ai-audit/annotations.jsonl"),
        lambda: commit_patch(opened, before, head),
    ):
        with pytest.raises(HistoryUnavailable):
            ask()
    opened.close()
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
    git = open_git(repository)
    assert git.head() == second
    assert set(brought_by(git, "b.py", second)) == {first}
    assert git.objects.contents(f"{first}:src/a.py") == TEXT.encode()
    assert current_names(git, ["src/a.py"]) == {"src/a.py": "b.py"}
    assert last_changes(git, second, None)["b.py"] == (second, False)
    git.close()


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
    git = open_git(repository)
    changes = list(file_changes(git, ["HEAD"], ["a.py"]))
    assert [change.commit for change in changes] == commits[::-1]
    assert [git.objects.contents(change.blob) for change in changes] == [b"2\n", b"1\n", b"0\n"]
    assert brought_by(git, "a.py", commits[2]) == [commits[2]]
    git.close()
    assert [resolver.by_log(ids)[each].commit for each in ids] == commits
    assert resolver.by_path(edits)["a.py", START].commit == commits[0]


def test_a_deleted_repository_has_no_history(repository: Repository) -> None:
    repository.write("a.py", "1\n")
    commit = repository.commit("One")
    git = open_git(repository)
    assert git.head() == commit
    shutil.rmtree(repository.path)
    assert current_names(git, ["b.py"]) == {}
    with pytest.raises(HistoryUnavailable):
        line_origins(git, "b.py", commit)
    git.close()


def test_a_work_tree_configured_elsewhere(repository: Repository, tmp_path: Path) -> None:
    repository.write("a.py", "1\n")
    repository.commit("One")
    (tmp_path / "elsewhere").mkdir()
    repository.git("config", "core.worktree", str(tmp_path / "elsewhere"))
    found = open_repository(repository.path)
    assert found is None or found.root == tmp_path / "elsewhere"


def test_a_work_tree_of_its_own(repository: Repository, tmp_path: Path) -> None:
    repository.write("a.py", "1\n")
    first = repository.commit("First")
    repository.git("worktree", "add", "--quiet", "-b", "topic", str(tmp_path / "beside"))
    beside = Repository(tmp_path / "beside")
    beside.write("a.py", "2\n")
    second = beside.commit("Second")
    git, main = open_git(beside), open_git(repository)
    assert (git.head(), main.head()) == (second, first)
    assert brought_by(git, "a.py", second) == [second]
    assert git.objects.contents(f"{first}:a.py") == b"1\n"
    git.close()
    main.close()
