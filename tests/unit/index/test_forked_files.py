"""Two processes find, keep and cache the same as one, with git and without."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from tests.trails import Repository, TrailWriter
from vibes_lsp.history import git
from vibes_lsp.history.git import failure_count
from vibes_lsp.history.objects import GitObjects
from vibes_lsp.index import forked_work, kept_results
from vibes_lsp.index.forked_files import map_files
from vibes_lsp.index.forked_work import map_in_order
from vibes_lsp.index.live_risk import Scorer
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.index.trail import Trail
from vibes_lsp.reports.find import NO_FILTER, find_annotations
from vibes_lsp.risk.policy import Policy
from vibes_lsp.store.audit_dir import AuditDir

if TYPE_CHECKING:
    from vibes_lsp.model.members import Members

NAMES = [f"{folder}/file_{number:02}.py" for folder in ("a", "b") for number in range(20)]


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch, children: list[int]) -> list[int]:
    """Let this process fork beside the test runner's threads; return a list of its children."""
    monkeypatch.setattr(forked_work, "_can_fork", lambda: hasattr(os, "fork"))
    monkeypatch.setattr(kept_results, "MIN_RESULTS", 1)
    monkeypatch.setattr(kept_results, "RACY_NS", 0)
    return children


def lines(name: str) -> list[str]:
    return [f"value_{name[0]}{name[-5:-3]}_{number} = {number}" for number in range(30)]


def write(repository: Repository, name: str, some: list[str]) -> str:
    text = "".join(f"{line}\n" for line in some)
    repository.write(name, text)
    return text


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project in which text was edited, moved, removed, reviewed and committed."""
    root = tmp_path / "project"
    repository = Repository(root, start="2026-06-01T00:00:00Z")  # after the edits
    writer = TrailWriter(root)
    writer.environment()
    prompt = writer.prompt("Write it")
    ids = []
    for name in NAMES:
        text = write(repository, name, lines(name))
        ids += [writer.line(name, at, at + 5, text=text, prompt=prompt) for at in (2, 9, 20)]
    repository.commit("Begin")
    for number, name in enumerate(NAMES):
        now = lines(name)
        if number % 4 == 1:
            now[10] += "  # edited"
        if number % 4 == 2:  # moves to another file
            other = NAMES[number - 2]
            write(repository, other, [*lines(other), *now[1:7]])
            del now[1:7]
        if number % 8 == 3:
            now = ["# new", *now]
        if number % 4:
            write(repository, name, now)
    for each in ids[::7]:
        writer.review(each)
    repository.commit("Change")
    write(repository, NAMES[5], ["# not committed", *lines(NAMES[5])])
    return root


def search(root: Path, *, use_git: bool, use_cache: bool = True) -> list[Members]:
    trail = Trail(AuditDir(root / ".ai-audit"))
    trail.refresh()
    with ProjectLocator(trail, use_git=use_git, use_cache=use_cache) as locator:
        return [
            each.facts for each in find_annotations(locator, NO_FILTER, Scorer(trail, Policy()))
        ]


def cached(folder: Path) -> dict[str, object]:
    """Return what a cache folder has, decoded where only the order may differ."""
    found: dict[str, object] = {}
    for path in folder.rglob("*"):
        if path.is_file() and path.parent.name != "secret":
            data = path.read_bytes()
            is_large = path.parent.name == "large"
            found[path.name] = data if is_large else msgspec.msgpack.decode(data[32:])
    return found


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.parametrize("use_git", [True, False])
def test_two_processes_find_and_keep_what_one_does(
    project: Path,
    tmp_path: Path,
    forks: list[int],
    use_git: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "two"))
    two = search(project, use_git=use_git)
    assert len(forks) == 1 + use_git
    with monkeypatch.context() as patch:
        patch.setattr(forked_work, "_can_fork", lambda: False)
        patch.setenv("XDG_CACHE_HOME", str(tmp_path / "one"))
        assert search(project, use_git=use_git) == two
        assert search(project, use_git=use_git, use_cache=False) == two
    assert cached(tmp_path / "two") == cached(tmp_path / "one")
    assert {each["state"] for each in two} >= {"exact", "moved"}
    assert use_git == any("movedFrom" in each for each in two)
    forks.clear()
    assert search(project, use_git=use_git) == two
    assert not forks
    assert search(project, use_git=use_git, use_cache=False) == two
    assert len(forks) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_each_process_asks_its_own_git(tmp_path: Path, forks: list[int]) -> None:
    repository = Repository(tmp_path)
    blobs = []
    for number in range(8):
        repository.write("a.txt", f"{number}\n" * 2_000)
        repository.commit("Change")
        blobs.append(repository.git("rev-parse", "HEAD:a.txt").strip())
    with GitObjects(tmp_path) as objects:
        assert objects.contents(blobs[0]) == b"0\n" * 2_000  # git runs when this process forks
        found = list(map_in_order(objects.contents, blobs))
        assert forks
        assert found == [f"{number}\n".encode() * 2_000 for number in range(8)]
        assert objects.contents(blobs[0]) == b"0\n" * 2_000
        assert objects.missing_contents == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_failure_of_git_in_either_process_counts(tmp_path: Path, forks: list[int]) -> None:
    Repository(tmp_path).write("a.txt", "a\n")
    trail = Trail(AuditDir(tmp_path / ".ai-audit"))
    with ProjectLocator(trail, use_cache=True) as locator:
        before = failure_count()
        list(map_files(locator, lambda _: git.user_name(tmp_path / "absent"), range(4)))
        assert forks
        assert failure_count() == before + 4
