"""What git's own diff of a commit or of the index adds and takes away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.git.repositories import open_git
from vibes_lsp.git.patches import FilePatch, PatchHunk, commit_patch, had_line, staged_patch

if TYPE_CHECKING:
    from tests.trails import Repository


def patch_of(repository: Repository, before: str | None, now: str | None) -> list[FilePatch]:
    """Return the patch of a commit that changes `a.py`, which is also staged before."""
    repository.write("kept.py", "kept\n")
    if before is not None:
        repository.write("a.py", before)
    parent = repository.commit("Before")
    if now is None:
        (repository.path / "a.py").unlink()
    else:
        repository.write("a.py", now)
    repository.git("add", "--all")
    git = open_git(repository)
    staged = staged_patch(git, parent, ["a.py", "kept.py", "gone.py"])
    found = commit_patch(git, parent, repository.commit("Now"))
    assert staged == found
    return found


@pytest.mark.parametrize(
    ("before", "now", "hunks"),
    [
        (None, "1\n2\n", [PatchHunk(0, [], 0, [b"1", b"2"])]),
        ("1\n2\n", None, [PatchHunk(0, [b"1", b"2"], 0, [])]),
        ("1\n2\n3\n", "1\nx\n3\n", [PatchHunk(1, [b"2"], 1, [b"x"])]),
        ("1\n2\n", "1\nx\ny\n2\n", [PatchHunk(1, [], 1, [b"x", b"y"])]),
        ("1\n2\n3\n", "1\n3\n", [PatchHunk(1, [b"2"], 1, [])]),
        ("1\n2", "1\n2\n", [PatchHunk(1, [b"2"], 1, [b"2"])]),
        ("1\n", "--- a\n+++ b\n", [PatchHunk(0, [b"1"], 0, [b"--- a", b"+++ b"])]),
        ("-- 1\n", "++ 1\n", [PatchHunk(0, [b"-- 1"], 0, [b"++ 1"])]),
        ("1\r\n", "1\r\n2\r\n", [PatchHunk(1, [], 1, [b"2\r"])]),
        (
            "1\n2\n3\n4\n",
            "0\n1\n2\n4\n5\n",
            [
                PatchHunk(0, [], 0, [b"0"]),
                PatchHunk(2, [b"3"], 3, []),
                PatchHunk(4, [], 4, [b"5"]),
            ],
        ),
    ],
)
def test_hunks_have_the_lines_and_their_numbers(
    repository: Repository, before: str | None, now: str | None, hunks: list[PatchHunk]
) -> None:
    assert patch_of(repository, before, now) == [FilePatch("a.py", hunks)]


@pytest.mark.parametrize("name", ["a b.py", 'a"b.py', "a\tb.py", "näme.py", "-a.py", "b/a.py"])
def test_any_name_of_a_file_is_read(repository: Repository, name: str) -> None:
    parent = repository.commit("Empty")
    repository.write(name, "1\n")
    repository.git("add", "--all")
    git = open_git(repository)
    expected = [FilePatch(name, [PatchHunk(0, [], 0, [b"1"])])]
    assert staged_patch(git, parent, [name]) == expected
    assert commit_patch(git, parent, repository.commit("Add")) == expected


def test_the_repository_has_no_say(repository: Repository) -> None:
    for setting, value in (
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.context", "9"),
        ("diff.interHunkContext", "9"),
        ("diff.renames", "copies"),
        ("diff.ignoreSubmodules", "none"),
        ("diff.suppressBlankEmpty", "true"),
        ("color.ui", "always"),
    ):
        repository.git("config", setting, value)
    repository.write(".gitattributes", "*.py -diff\n")
    hunks = [PatchHunk(0, [], 0, [b"0"]), PatchHunk(1, [], 2, [b""])]
    assert patch_of(repository, "1\n2\n", "0\n1\n\n2\n") == [FilePatch("a.py", hunks)]


def test_a_line_that_was_there_before_is_known(repository: Repository) -> None:
    repository.write("a.py", "first line\nsecond line\n")
    first = repository.commit("First")
    repository.write("a.py", "first line\n")
    second = repository.commit("Take it away")
    git = open_git(repository)
    assert had_line(git, [second], "a.py", "second line")
    assert had_line(git, [first], "a.py", "second line")
    assert not had_line(git, [second], "a.py", "third line")
    assert not had_line(git, [second], "b.py", "second line")
    assert not had_line(git, [], "a.py", "second line")
