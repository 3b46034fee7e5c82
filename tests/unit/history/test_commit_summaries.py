"""Which files commits changed, and what they revert."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.history.repositories import open_git
from vibes_lsp.history.commit_summaries import CommitSummary, commit_summaries

if TYPE_CHECKING:
    from tests.trails import Repository


def test_commits_are_summarised_at_once(repository: Repository) -> None:
    repository.write("a.py", "1\n")
    first = repository.commit("First")
    repository.write("a.py", "2\n")
    repository.write("b c.py", "1\n")
    second = repository.commit("Second")
    assert commit_summaries(open_git(repository), [second, first]) == {
        first: CommitSummary(frozenset({"a.py"}), None),
        second: CommitSummary(frozenset({"a.py", "b c.py"}), None),
    }


def test_a_revert_names_its_commit(repository: Repository) -> None:
    repository.write("a.py", "1\n")
    first = repository.commit("First")
    repository.git("revert", "--no-edit", "HEAD")
    head = repository.git("rev-parse", "HEAD")
    assert commit_summaries(open_git(repository), [head])[head].reverted == first


def test_names_and_messages_cannot_be_taken_for_commits(repository: Repository) -> None:
    hostile = "\x01" + "a" * 40
    repository.write(hostile, "1\n")
    head = repository.commit(f"Subject\n\n{hostile}\n\n:100644 100644 a b M")
    assert commit_summaries(open_git(repository), [head]) == {
        head: CommitSummary(frozenset({hostile}), None)
    }


def test_a_merge_has_no_files(repository: Repository) -> None:
    repository.write("a.py", "1\n")
    repository.commit("First")
    repository.switch("other", create=True)
    repository.write("b.py", "1\n")
    repository.commit("Other")
    repository.switch("main")
    repository.write("c.py", "1\n")
    repository.commit("Main")
    head = repository.merge("other")
    assert commit_summaries(open_git(repository), [head]) == {
        head: CommitSummary(frozenset(), None)
    }


def test_nothing_is_asked_of_no_commit(repository: Repository) -> None:
    repository.commit("First")
    assert commit_summaries(open_git(repository), []) == {}
