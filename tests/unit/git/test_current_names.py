"""The names that renamed files have now."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.trails import Repository
from tests.unit.git.repositories import TEXT, open_git
from vibes_lsp.git.current_names import current_names
from vibes_lsp.git.repository import open_repository

if TYPE_CHECKING:
    from pathlib import Path


def rename(repository: Repository, old: str, new: str) -> None:
    (repository.path / new).parent.mkdir(parents=True, exist_ok=True)
    (repository.path / old).rename(repository.path / new)


def test_a_file_is_followed_through_its_renames(repository: Repository) -> None:
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
    names = ["a.py", "b.py", "src/c.py", "stays.py", "deleted.py", "none.py"]
    assert current_names(open_git(repository), names) == dict(
        zip(names[:4], ["src/c.py", "src/c.py", "src/c.py", "stays.py"], strict=True)
    )
    repository.git("mv", "src/c.py", "d.py")
    assert current_names(open_git(repository), ["a.py"]) == {"a.py": "d.py"}, "staged renames count"


def test_the_last_rename_of_a_name_counts(repository: Repository) -> None:
    """The name was given to another file, which was renamed too."""
    repository.write("a.py", TEXT)
    repository.commit("First")
    rename(repository, "a.py", "b.py")
    repository.commit("Renamed")
    repository.write("a.py", "quite another\n" * 20)
    repository.commit("Again")
    rename(repository, "a.py", "c.py")
    repository.commit("Renamed again")
    assert current_names(open_git(repository), ["a.py"]) == {"a.py": "c.py"}


def test_a_folder_that_has_the_former_name_is_not_the_file(repository: Repository) -> None:
    repository.write("tool", TEXT)
    repository.commit("First")
    repository.git("mv", "tool", "renamed")
    (repository.path / "tool").mkdir()
    repository.git("mv", "renamed", "tool/main")
    repository.commit("Second")
    assert current_names(open_git(repository), ["tool"]) == {"tool": "tool/main"}


def test_a_rename_on_a_merged_branch_is_followed(repository: Repository) -> None:
    repository.write("a.py", TEXT)
    repository.commit("First")
    repository.switch("topic", create=True)
    rename(repository, "a.py", "b.py")
    repository.commit("Renamed")
    repository.switch("main")
    repository.write("other.py", "x\n")
    repository.commit("Other")
    repository.merge("topic")
    assert current_names(open_git(repository), ["a.py"]) == {"a.py": "b.py"}


def test_names_that_change_in_a_circle_have_an_end(repository: Repository) -> None:
    repository.write("a.py", TEXT)
    repository.commit("First")
    for old, new in (("a.py", "b.py"), ("b.py", "a.py")):
        rename(repository, old, new)
        repository.commit("Renamed")
    (repository.path / "a.py").unlink()
    repository.commit("Gone")
    assert current_names(open_git(repository), ["a.py", "b.py"]) == {}


@pytest.mark.parametrize("path", ["../a.py", "/a.py", "a\0b", "\ud800", "", "."])
def test_a_name_that_no_file_can_have_hides_no_other(repository: Repository, path: str) -> None:
    repository.write("a.py", TEXT)
    repository.commit("First")
    rename(repository, "a.py", "b.py")
    repository.commit("Renamed")
    assert current_names(open_git(repository), [path, "a.py"]) == {"a.py": "b.py"}


def test_more_names_than_a_command_line_holds(repository: Repository) -> None:
    names = [f"{'long name ' * 20}{number}.py" for number in range(300)]
    for number, name in enumerate(names):
        repository.write(name, TEXT + f"{number}\n" * 9)
    repository.commit("First")
    for name in names[::2]:
        rename(repository, name, f"new/{name}")
    for name in names[1::2]:
        (repository.path / name).unlink()
    repository.commit("Second")
    found = current_names(open_git(repository), names)
    assert {name: found.get(name) for name in names[::2]} == {
        name: f"new/{name}" for name in names[::2]
    }


def test_results_follow_head(repository: Repository) -> None:
    git = open_git(repository)
    assert current_names(git, ["a.py"]) == {}
    repository.write("a.py", TEXT)
    first = repository.commit("First")
    assert current_names(git, ["a.py"]) == {"a.py": "a.py"}
    rename(repository, "a.py", "b.py")
    repository.commit("Renamed")
    assert current_names(git, ["a.py"]) == {"a.py": "b.py"}
    repository.git("reset", "--quiet", "--hard", first)
    assert current_names(git, ["a.py"]) == {"a.py": "a.py"}
    git.close()


def test_a_partial_clone_compares_no_contents(repository: Repository, tmp_path: Path) -> None:
    repository.write("a.py", TEXT)
    repository.write("c.py", TEXT * 2)
    repository.commit("First")
    rename(repository, "a.py", "b.py")
    (repository.path / "c.py").unlink()
    repository.write("d.py", TEXT * 2 + "edited\n")
    repository.commit("By the same content, and by similar content")
    repository.write("b.py", "another\n")
    repository.write("d.py", "another one\n")
    repository.commit("Neither is checked out")
    repository.git("config", "uploadpack.allowFilter", "true")
    url, clone = repository.path.as_uri(), tmp_path / "clone"
    repository.git("clone", "--quiet", "--filter=blob:none", url, str(clone))
    packs = set((clone / ".git/objects").rglob("*"))
    git = open_repository(clone)
    assert git is not None
    assert current_names(git, ["a.py", "c.py"]) == {"a.py": "b.py"}, "what to compare is missing"
    assert set((clone / ".git/objects").rglob("*")) == packs
    git.close()
