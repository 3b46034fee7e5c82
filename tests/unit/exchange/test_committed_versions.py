"""Which lines of a file a commit introduced: none that git had before at the same place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.trails import Repository
from vibes_lsp.exchange.committed_versions import CommittedVersion, CommittedVersions
from vibes_lsp.git.repository import Repository as Opened

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "project")


def version(repository: Repository, path: str = "a.py", folder: str = "") -> CommittedVersion:
    """Return a file in HEAD."""
    with CommittedVersions(Opened(repository.path), repository.path / folder) as versions:
        commit = versions.commit(repository.head())
        assert commit is not None
        found = versions.version(path, commit)
        assert found is not None
        return found


def new_lines(found: CommittedVersion) -> list[int]:
    return [
        line
        for is_new, start, end in found.runs(1, len(found.text.lines))
        if is_new
        for line in range(start, end + 1)
    ]


def test_only_what_no_parent_has_is_new(repository: Repository) -> None:
    repository.write("a.py", "one\ntwo\nthree\n")
    repository.commit("First")
    assert version(repository).is_new
    assert new_lines(version(repository)) == [1, 2, 3]
    repository.write("a.py", "zero\none\n2\nthree\n")
    repository.commit("Second")
    assert new_lines(version(repository)) == [1, 3]


def test_a_copy_of_a_line_is_new_only_beside_a_line_that_certainly_is(
    repository: Repository,
) -> None:
    repository.write("a.py", "start\n\nmiddle\n\nend\n")
    repository.commit("First")
    repository.write("a.py", "start\n\nmiddle\n\nnew\n\nend\n")
    repository.commit("Second")
    found = version(repository)
    assert new_lines(found)[-1] in {5, 6}
    assert [is_new for is_new, _, _ in found.runs(2, 2)] == [False]  # a blank line alone
    assert [is_new for is_new, _, _ in found.runs(5, 6)] == [True]


def test_a_rename_introduces_only_what_it_changes(repository: Repository) -> None:
    lines = [f"line {number}\n" for number in range(20)]
    repository.write("a.py", "".join(lines))
    repository.commit("First")
    repository.git("mv", "a.py", "b.py")
    repository.write("b.py", "".join([*lines, "more\n"]))
    repository.commit("Renamed")
    assert new_lines(version(repository, "b.py")) == [21]


def test_a_merge_introduces_only_what_neither_parent_has(repository: Repository) -> None:
    repository.write("a.py", "one\ntwo\n")
    repository.commit("First")
    repository.branch("side")
    repository.write("a.py", "main\none\ntwo\n")
    repository.commit("Main")
    repository.switch("side")
    repository.write("a.py", "one\ntwo\nside\n")
    repository.commit("Side")
    repository.switch("main")
    repository.merge("side")
    assert new_lines(version(repository)) == []


def test_without_its_parents_a_commit_proves_nothing(
    repository: Repository, tmp_path: Path
) -> None:
    repository.write("a.py", "one\n")
    repository.commit("First")
    repository.write("a.py", "one\ntwo\n")
    repository.commit("Second")
    clone = tmp_path / "clone"
    repository.git("clone", "--quiet", "--depth", "1", repository.path.as_uri(), str(clone))
    found = version(Repository(clone))
    assert found.new_lines is None
    assert new_lines(found) == []


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("sub/a.py", "a.py"),
        ("./sub//a.py", "a.py"),
        ("a.py", None),
        ("sub", None),
        ("sub/../../a.py", None),
        ("/etc/passwd", None),
        ("sub/\udcff.py", None),
        ("sub/a\0.py", None),
    ],
)
def test_paths_are_relative_to_the_project(
    repository: Repository, name: str, path: str | None
) -> None:
    repository.write("sub/a.py", "one\n")
    repository.commit("First")
    with CommittedVersions(Opened(repository.path), repository.path / "sub") as versions:
        assert versions.project_path(name) == path
    assert version(repository, "a.py", "sub").text.lines == ["one"]
