"""Git's blame says which line of which commit a line is, whatever the repository prefers (R31)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from tests.trails import Repository
from tests.trails.repository import START
from tests.unit.git.repositories import open_git
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.line_origins import LineOrigin, line_origins

if TYPE_CHECKING:
    from pathlib import Path


def lines(*values: str) -> str:
    return "".join(f"{value}\n" for value in values)


def places(found: list[LineOrigin | None]) -> list[tuple[str, str, int] | None]:
    return [None if origin is None else origin[:3] for origin in found]


def test_each_line_comes_from_a_line_of_a_commit(repository: Repository) -> None:
    repository.write("a.py", lines("one", "two"))
    first = repository.commit("First")
    repository.write("a.py", lines("zero", "one", "two"))
    second = repository.commit("Second")
    assert line_origins(open_git(repository), "a.py", second) == [
        LineOrigin(second, "a.py", 0, START + timedelta(minutes=1)),
        LineOrigin(first, "a.py", 0, START),
        LineOrigin(first, "a.py", 1, START),
    ]


def test_a_renamed_file_has_its_path_of_then(repository: Repository) -> None:
    names = "old name.py", 'new "näme".py'
    repository.write(names[0], lines("one", "two", "three"))
    first = repository.commit("First")
    (repository.path / names[0]).rename(repository.path / names[1])
    second = repository.commit("Rename")
    found = line_origins(open_git(repository), names[1], second)
    assert places(found) == [(first, names[0], number) for number in range(3)]


@pytest.mark.parametrize("name", ['a"b.py', "a\tb.py", "a\nb.py", "a\\b.py", "-a.py", ":a.py"])
def test_any_name_of_a_file_is_read(repository: Repository, name: str) -> None:
    repository.write(name, lines("one"))
    first = repository.commit("First")
    assert places(line_origins(open_git(repository), name, first)) == [(first, name, 0)]


def test_lines_of_commits_before_a_time_have_no_origin(repository: Repository) -> None:
    repository.write("a.py", lines("one"))
    repository.commit("First")
    repository.write("a.py", lines("one", "two"))
    second = repository.commit("Second")
    found = line_origins(open_git(repository), "a.py", second, since=START + timedelta(seconds=30))
    assert places(found) == [None, (second, "a.py", 1)]


def test_lines_of_excluded_commits_have_no_origin(repository: Repository) -> None:
    repository.write("a.py", lines("one"))
    first = repository.commit("First")
    repository.write("a.py", lines("one", "two"))
    second = repository.commit("Second")
    found = line_origins(open_git(repository), "a.py", second, excluded=[first])
    assert places(found) == [None, (second, "a.py", 1)]


@pytest.mark.parametrize("since", [None, datetime.fromtimestamp(0, START.tzinfo)])
def test_lines_of_a_root_commit_have_an_origin(
    repository: Repository, since: datetime | None
) -> None:
    repository.write("a.py", lines("one"))
    first = repository.commit("First")
    found = line_origins(open_git(repository), "a.py", first, since=since)
    assert places(found) == [(first, "a.py", 0)]


def test_lines_of_a_shallow_boundary_come_from_it(repository: Repository, tmp_path: Path) -> None:
    for number in range(3):
        repository.write("a.py", lines(*(f"line {line}" for line in range(number + 1))))
        repository.commit("Grow")
    clone = tmp_path / "clone"
    repository.git("clone", "--quiet", "--depth=2", repository.path.as_uri(), str(clone))
    git = open_git(Repository(clone))
    head = repository.head()
    boundary = repository.git("rev-parse", "HEAD^")
    assert git.shallow_boundary() == {boundary}
    assert places(line_origins(git, "a.py", head)) == [
        (boundary, "a.py", 0),
        (boundary, "a.py", 1),
        (head, "a.py", 2),
    ]


def test_the_repository_has_no_say(repository: Repository) -> None:
    repository.write("a.py", lines("one = 1", "two = 2"))
    first = repository.commit("First")
    repository.write("a.py", lines("one  = 1", "two = 2"))
    second = repository.commit("Format")
    repository.write(".git-blame-ignore-revs", second + "\n")
    for setting, value in (
        ("blame.ignoreRevsFile", ".git-blame-ignore-revs"),
        ("blame.markIgnoredLines", "true"),
        ("blame.showRoot", "false"),
        ("diff.algorithm", "patience"),
    ):
        repository.git("config", setting, value)
    repository.git("replace", second, first)
    found = line_origins(open_git(repository), "a.py", second)
    assert places(found) == [(second, "a.py", 0), (first, "a.py", 1)]


def test_a_commit_that_changed_only_white_space_can_be_seen_through(
    repository: Repository,
) -> None:
    repository.write("a.py", lines("one = 1"))
    first = repository.commit("First")
    repository.write("a.py", lines("    one = 1"))
    second = repository.commit("Indent")
    git = open_git(repository)
    assert places(line_origins(git, "a.py", second)) == [(second, "a.py", 0)]
    spaced = line_origins(git, "a.py", second, ignore_space=True)
    ignored = line_origins(git, "a.py", second, ignored=[second])
    assert places(spaced) == places(ignored) == [(first, "a.py", 0)]


@pytest.mark.parametrize("hashes", ["sha1", "sha256"])
def test_both_kinds_of_hashes_are_read(tmp_path: Path, hashes: str) -> None:
    repository = Repository(tmp_path / "other", hashes=hashes)
    repository.write("a.py", lines("one"))
    first = repository.commit("First")
    assert places(line_origins(open_git(repository), "a.py", first)) == [(first, "a.py", 0)]


def test_an_empty_file_has_no_lines(repository: Repository) -> None:
    repository.write("a.py", "")
    assert line_origins(open_git(repository), "a.py", repository.commit("First")) == []


def test_a_file_that_is_not_there_is_no_answer(repository: Repository) -> None:
    first = repository.commit("First")
    with pytest.raises(HistoryUnavailable):
        line_origins(open_git(repository), "a.py", first)
