"""Kept results are used only by commands that display, and only if they are certainly right."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from tests.trails import Repository, TrailWriter
from vibes_lsp.index import kept_results
from vibes_lsp.index.kept_results import KeptResults
from vibes_lsp.index.live_risk import Scorer
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.reports.find import NO_FILTER, find_annotations
from vibes_lsp.risk.policy import Policy
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from vibes_lsp.model.members import Members

NAMES = ("a.py", "b.py", "c.py")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of kept results; few are worth keeping."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(kept_results, "MIN_RESULTS", 1)
    return tmp_path / "cache/vibes-lsp/large"


@pytest.fixture
def located(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the name of each file in which annotations are located."""
    names: list[str] = []
    locate = ProjectLocator.locate

    def noted(self: ProjectLocator, path: str, *rest: object) -> object:
        names.append(path)
        return locate(self, path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(ProjectLocator, "locate", noted)
    return names


def new_project(root: Path) -> TrailWriter:
    repository = Repository(root)
    writer = TrailWriter(root)
    writer.environment()
    prompt = writer.prompt("Write it")
    for name in NAMES:
        text = "".join(f"{name}_{number} = {number}\n" for number in range(9))
        repository.write(name, text)
        writer.line(name, 2, 5, text=text, prompt=prompt)
    repository.commit("Begin")
    return writer


def search(root: Path, *, use_cache: bool = True, use_git: bool = True) -> list[Members]:
    trail = Trail(AuditDir(root / ".ai-audit"))
    trail.refresh()
    with ProjectLocator(trail, use_git=use_git, use_cache=use_cache) as locator:
        return [
            each.facts for each in find_annotations(locator, NO_FILTER, Scorer(trail, Policy()))
        ]


@pytest.mark.parametrize("use_git", [True, False])
def test_files_that_did_not_change_are_located_once(
    tmp_path: Path, cache: Path, located: list[str], use_git: bool
) -> None:
    root = tmp_path / "project"
    writer = new_project(root)
    first = search(root, use_git=use_git)
    assert sorted(located) == list(NAMES)
    located.clear()
    assert search(root, use_git=use_git) == first
    assert not located
    (root / "b.py").write_text("# new\n" + (root / "b.py").read_text())
    search(root, use_git=use_git)
    assert located == ["b.py"]
    located.clear()
    writer.review(str(first[2]["annotationId"]))
    assert [each["review"] is None for each in search(root, use_git=use_git)] == [True, True, False]
    assert located == ["c.py"]
    assert len(list(cache.iterdir())) == 1


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("gone", [0, 10])
def test_of_very_many_files_results_are_kept_unless_most_are_gone(
    tmp_path: Path, located: list[str], monkeypatch: pytest.MonkeyPatch, gone: int
) -> None:
    monkeypatch.setattr(kept_results, "_MAX_NAMES", 2)
    root = tmp_path / "project"
    writer = new_project(root)
    for number in range(gone):
        writer.line(f"gone_{number}.py", 1, 4, text="".join(f"{number}.{n}\n" for n in range(4)))
    found = search(root)
    assert len(found) == 3
    located.clear()
    assert search(root) == found
    assert located == (list(NAMES) if gone else [])
    (root / "b.py").write_text("".join((root / "a.py").read_text().splitlines(True)[1:5]))
    (root / "a.py").write_text("x\n")
    assert search(root) == search(root, use_cache=False)


def test_a_commit_of_one_file_leaves_the_results_of_others(
    tmp_path: Path, cache: Path, located: list[str]
) -> None:
    root = tmp_path / "project"
    new_project(root)
    search(root)
    (root / "a.py").write_text("# new\n" + (root / "a.py").read_text())
    Repository(root, start="2026-03-01T00:00:00Z").commit("Edit")
    located.clear()
    found = search(root)
    assert located == ["a.py"]
    assert found == search(root, use_cache=False)
    assert list(cache.iterdir())


def flip(data: bytes) -> bytes:
    return data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]


def forge(data: bytes) -> bytes:
    """Change a result and correct the checksum."""
    content = data[32:].replace(b"a.py", b"x.py")
    return hashlib.sha256(content).digest() + content


def checked(data: bytes) -> bytes:
    return hashlib.sha256(data).digest() + data


@pytest.mark.parametrize(
    "damage",
    [
        flip,
        forge,
        lambda data: data[: len(data) // 2],
        lambda _: b"",
        lambda _: b"\0" * 100,
        lambda _: checked(b"\xc1"),
        lambda _: checked(b"\x90"),
        lambda _: checked(b"\x91" * 5_000),
    ],
)
def test_damaged_results_are_not_used(
    tmp_path: Path, cache: Path, damage: Callable[[bytes], bytes]
) -> None:
    root = tmp_path / "project"
    new_project(root)
    first = search(root)
    [file] = cache.iterdir()
    file.write_bytes(damage(file.read_bytes()))
    assert search(root) == first
    assert search(root) == first


def test_results_of_another_project_or_version_are_not_used(
    tmp_path: Path, cache: Path, located: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    new_project(one)
    search(one)
    [kept] = cache.iterdir()
    new_project(other)
    first = search(other)
    [file] = set(cache.iterdir()) - {kept}
    file.write_bytes(kept.read_bytes())
    located.clear()
    assert search(other) == first
    assert sorted(located) == list(NAMES)
    located.clear()
    monkeypatch.setattr(kept_results, "code_version", lambda _: "another")
    assert search(other) == first
    assert sorted(located) == list(NAMES)


def test_a_file_that_cannot_be_read_or_written_changes_nothing(tmp_path: Path, cache: Path) -> None:
    root = tmp_path / "project"
    new_project(root)
    first = search(root)
    [file] = cache.iterdir()
    file.unlink()
    file.mkdir()
    assert search(root) == first
    file.rmdir()
    cache.chmod(0o777)  # others could write there
    assert search(root) == first
    assert not list(cache.iterdir())


def test_commands_that_decide_neither_use_nor_keep_results(
    tmp_path: Path, cache: Path, located: list[str]
) -> None:
    root = tmp_path / "project"
    new_project(root)
    search(root)
    located.clear()
    search(root, use_cache=False)
    assert sorted(located) == list(NAMES)
    trail = Trail(AuditDir(root / ".ai-audit"))
    trail.refresh()
    with ProjectLocator(trail) as locator:
        assert not KeptResults(locator, "annotations", "").current(NAMES)
    assert len(list(cache.iterdir())) == 1


def test_few_results_are_not_kept(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_results, "MIN_RESULTS", 4)
    new_project(tmp_path / "project")
    search(tmp_path / "project")
    assert not cache.exists() or not list(cache.iterdir())
