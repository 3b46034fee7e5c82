"""Which files commits changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.git.repositories import open_git
from vibes_lsp.git.file_changes import files_of_commits

if TYPE_CHECKING:
    from tests.trails import Repository


def test_many_commits_are_asked_about_at_once(repository: Repository) -> None:
    repository.write("a.py", "1\n")
    first = repository.commit("First")
    repository.write("a.py", "2\n")
    repository.write("b c.py", "1\n")
    second = repository.commit("Second")
    assert files_of_commits(open_git(repository), [second, first]) == {
        first: {"a.py"},
        second: {"a.py", "b c.py"},
    }


def test_names_and_messages_cannot_be_taken_for_commits(repository: Repository) -> None:
    hostile = "\x01" + "a" * 40
    repository.write(hostile, "1\n")
    head = repository.commit(f"Subject\n\n{hostile}\n\n:100644 100644 a b M")
    assert files_of_commits(open_git(repository), [head]) == {head: {hostile}}


def test_a_merge_has_the_files_that_differ_from_a_parent(repository: Repository) -> None:
    repository.write("a.py", "1\n")
    repository.commit("First")
    repository.switch("other", create=True)
    repository.write("b.py", "1\n")
    repository.commit("Other")
    repository.switch("main")
    repository.write("c.py", "1\n")
    repository.commit("Main")
    head = repository.merge("other")
    assert files_of_commits(open_git(repository), [head]) == {head: {"b.py", "c.py"}}


def test_nothing_is_asked_of_no_commit(repository: Repository) -> None:
    repository.commit("First")
    assert files_of_commits(open_git(repository), []) == {}
