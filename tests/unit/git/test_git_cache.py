"""The cache of git's answers: same results, invalidated by another repository, HEAD or clone."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.trails import Repository
from tests.unit.git.repositories import TEXT
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git import git_cache as kept
from vibes_lsp.git.commit_resolution import CommitResolver
from vibes_lsp.git.current_names import current_names
from vibes_lsp.git.file_changes import last_changes
from vibes_lsp.git.git_cache import GitCache
from vibes_lsp.git.line_origins import line_origins
from vibes_lsp.git.repository import Repository as Opened
from vibes_lsp.git.repository import open_repository

PATHS = ("a.py", "b.py", "src/c.py", "gone.py", "never.py")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/vibes-lsp"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path / "project")
    for name in ("a.py", "b.py", "gone.py"):
        repository.write(name, TEXT + name)
    repository.commit("First")
    repository.write("a.py", TEXT + "more\n")
    repository.git("mv", "b.py", "src.py")
    repository.git("rm", "-q", "gone.py")
    repository.commit("Second")
    (repository.path / "src").mkdir()
    repository.git("mv", "src.py", "src/c.py")
    repository.commit("Third")
    return repository


def answers(path: Path, *, use_cache: bool) -> list[object]:
    repository = open_repository(path)
    assert repository is not None
    if use_cache:
        repository.cache.use_saved(repository.root)
    commits = CommitResolver(repository, path, path / "a.py")
    head = repository.head() or ""
    try:
        return [
            [blame(repository, name, head) for name in PATHS],
            current_names(repository, PATHS),
            commits.reachable([head, "abcdef1", head[:9]]),
            commits.by_log(["an id"]),
        ]
    finally:
        repository.close()


def blame(repository: Opened, name: str, head: str) -> object:
    try:
        return line_origins(repository, name, head)
    except HistoryUnavailable:
        return None


def git_commands(monkeypatch: pytest.MonkeyPatch, path: Path) -> list[str]:
    """Return the git commands that the results take."""
    asked: list[str] = []
    start = subprocess.Popen.__init__

    def counted(self: Any, arguments: list[str], *more: Any, **named: Any) -> None:
        asked.append(
            next(each for each in arguments[1:] if not each.startswith("-") and "=" not in each)
        )
        start(self, arguments, *more, **named)

    with monkeypatch.context() as patched:
        patched.setattr(subprocess.Popen, "__init__", counted)
        answers(path, use_cache=True)
    return asked


def test_results_are_the_same_with_and_without_the_cache(
    repository: Repository, cache: Path
) -> None:
    plain = answers(repository.path, use_cache=False)
    assert not cache.exists()
    assert [answers(repository.path, use_cache=True) for _ in range(3)] == [plain] * 3
    assert len(list(cache.iterdir())) == 1


def test_cached_facts_are_not_requested_again(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = git_commands(monkeypatch, repository.path)
    again = git_commands(monkeypatch, repository.path)
    assert {"log", "blame", "diff-tree", "rev-list"} <= set(first)
    assert {"log", "diff-tree"}.isdisjoint(again)
    assert again.count("blame") == 3, "of files that HEAD does not have"


def test_another_head_has_its_own_facts(repository: Repository) -> None:
    before = answers(repository.path, use_cache=True)
    repository.write("a.py", TEXT + "and more\n")
    repository.git("mv", "src/c.py", "d.py")
    repository.commit("Fourth")
    after = answers(repository.path, use_cache=True)
    assert after == answers(repository.path, use_cache=False) != before
    repository.git("reset", "-q", "--hard", "HEAD~1")
    assert answers(repository.path, use_cache=True) == before


def test_a_staged_rename_is_seen_though_head_stays(repository: Repository) -> None:
    answers(repository.path, use_cache=True)
    repository.git("mv", "a.py", "e.py")
    assert answers(repository.path, use_cache=True)[1] == {
        "a.py": "e.py",
        "b.py": "src/c.py",
        "src/c.py": "src/c.py",
    }


def test_facts_of_another_repository_at_the_same_path_are_ignored(
    repository: Repository, tmp_path: Path, cache: Path
) -> None:
    """Its objects may be forged, so object names prove nothing."""
    answers(repository.path, use_cache=True)
    head = repository.head()
    assert GitCache(repository.path).get(f"name  {head} gone.py", str) == ""
    shutil.copytree(repository.path, tmp_path / "other")
    shutil.rmtree(repository.path)
    (tmp_path / "other").rename(repository.path)
    assert GitCache(repository.path).get(f"name  {head} gone.py", str) is None
    moved = repository.path.rename(tmp_path / "moved")
    assert GitCache(moved).get("without", bytes) is None
    assert len(list(cache.iterdir())) == 1


def test_a_deepened_clone_has_its_own_facts(repository: Repository, tmp_path: Path) -> None:
    shallow = tmp_path / "shallow"
    repository.git("clone", "-q", "--depth", "1", f"file://{repository.path}", str(shallow))
    cut = answers(shallow, use_cache=True)
    assert cut == answers(shallow, use_cache=False)
    (shallow / ".git/shallow").unlink()
    source = repository.path / ".git/objects"
    (shallow / ".git/objects/info/alternates").write_text(f"{source}\n")
    assert answers(shallow, use_cache=True) == answers(shallow, use_cache=False) != cut


def test_results_with_missing_objects_are_not_cached(repository: Repository) -> None:
    blob = repository.git("rev-parse", "HEAD~1:src.py")
    tree = repository.git("rev-parse", "HEAD~2^{tree}")
    hidden = [repository.path / ".git/objects" / each[:2] / each[2:] for each in (blob, tree)]
    for file in hidden:
        file.chmod(0o600)
        file.rename(file.with_suffix(".hidden"))
    poor = answers(repository.path, use_cache=True)
    assert poor == answers(repository.path, use_cache=False)
    for file in hidden:
        file.with_suffix(".hidden").rename(file)
    assert (
        answers(repository.path, use_cache=True)
        == answers(repository.path, use_cache=False)
        != poor
    )


@pytest.mark.parametrize("content", [b"", b"\x00", b"SQLite format 3\x00", os.urandom(5_000)])
def test_a_broken_database_is_ignored_and_made_again(
    repository: Repository, cache: Path, content: bytes
) -> None:
    plain = answers(repository.path, use_cache=True)
    (file,) = (cache / "git").glob("*.db")
    file.write_bytes(content)
    for _ in range(3):
        assert answers(repository.path, use_cache=True) == plain
    assert GitCache(repository.path).get(f"name  {repository.head()} gone.py", str) is not None


def test_a_database_that_breaks_while_it_is_open_costs_only_time(
    repository: Repository, cache: Path
) -> None:
    answers(repository.path, use_cache=True)
    facts = GitCache(repository.path)
    assert facts.get(f"name  {repository.head()} gone.py", str) is not None
    (file,) = (cache / "git").glob("*.db")
    file.write_bytes(os.urandom(file.stat().st_size))
    assert facts.get("unknown", int) is None
    facts.put("known", 1)
    assert facts.get("known", int) == 1


def test_a_database_that_another_program_writes_to_is_not_waited_for(
    repository: Repository, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = answers(repository.path, use_cache=True)
    (file,) = (cache / "git").glob("*.db")
    monkeypatch.setenv("VIBES_PATIENCE", "unlimited,git-facts=0")
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        facts = GitCache(repository.path)
        facts.put("mine", 1)
        assert facts.get("mine", int) == 1
        assert answers(repository.path, use_cache=True) == plain
    assert GitCache(repository.path).get("mine", int) is None


def test_without_a_folder_facts_are_kept_in_memory(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    facts = GitCache(repository.path)
    facts.put("a", 1)
    assert (facts.get("a", int), facts.get("a", str)) == (1, None)
    assert GitCache(repository.path).get("a", int) is None


def test_facts_are_saved_by_two_programs(repository: Repository) -> None:
    one, other = GitCache(repository.path), GitCache(repository.path)
    one.put("one", 1)
    other.put("other", 2)
    assert [each.get(key, int) for each in (one, other) for key in ("one", "other")] == [1, 2] * 2


def test_changed_code_invalidates_the_cache(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(repository.path, use_cache=True)
    monkeypatch.setattr(kept, "__version__", "other")
    assert GitCache(repository.path).get(f"name  {repository.head()} gone.py", str) is None


def test_paths_that_are_not_utf_8_are_not_cached(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "project")
    name = os.fsdecode(b"\xff.py")
    try:
        repository.write(name, TEXT)
    except OSError:
        pytest.skip("this file system holds no such name")
    repository.commit("First")
    commit = repository.head()
    for _ in range(2):
        opened = open_repository(repository.path)
        assert opened is not None
        opened.cache.use_saved(opened.root)
        (origin, *_) = line_origins(opened, name, commit)
        assert origin is not None
        assert origin.path == name
        assert current_names(opened, [name, "\ud800.py"]) == {name: name}
        assert last_changes(opened, commit, None) == {name: (commit, True)}
        opened.close()


def test_the_older_half_of_too_many_facts_is_dropped(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "_MAX_BYTES", 200_000)
    monkeypatch.setattr(kept, "_MAX_VALUE", 50_000)
    facts = GitCache(repository.path)
    for number in range(10):
        facts.put(f"fact {number}", os.urandom(40_000))
    facts.put("large", os.urandom(60_000))
    facts.close()
    again = GitCache(repository.path)
    known = [again.get(f"fact {number}", bytes) is not None for number in range(10)]
    assert known == sorted(known)
    assert (known[0], known[-1]) == (False, True)
    assert again.get("large", bytes) is None


def test_facts_in_memory_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_MAX_MEMORY_PAGES", 16)
    facts = GitCache()
    for number in range(10):
        facts.put(f"fact {number}", os.urandom(20_000))
    known = [number for number in range(10) if facts.get(f"fact {number}", bytes)]
    assert 9 in known
    assert 0 not in known
