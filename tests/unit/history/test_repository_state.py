"""Changes of a repository are detected by file times; irrelevant ones are not reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.trails import Repository
from vibes_lsp.history.repository_state import RepositoryState


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path / "project")
    repository.write("src/a.py", "one = 1\n")
    repository.commit("Begin")
    return repository


@pytest.fixture
def state(repository: Repository) -> RepositoryState:
    state = RepositoryState(repository.path / "src")
    assert not state.refresh()
    return state


def test_no_change_is_reported_without_one(repository: Repository, state: RepositoryState) -> None:
    repository.write("src/a.py", "two = 2\n")
    assert not state.refresh()


def test_a_commit(repository: Repository, state: RepositoryState) -> None:
    repository.commit("More")
    assert state.refresh()
    assert not state.refresh()


def test_a_commit_whose_branch_was_packed(repository: Repository, state: RepositoryState) -> None:
    repository.git("pack-refs", "--all")
    state.refresh()
    repository.git("commit", "--quiet", "--allow-empty", "--message", "More")
    assert state.refresh()


def test_another_branch_at_the_same_commit(repository: Repository, state: RepositoryState) -> None:
    repository.switch("topic", create=True)
    assert state.refresh()


def test_a_detached_head(repository: Repository, state: RepositoryState) -> None:
    repository.git("checkout", "--quiet", "--detach")
    assert state.refresh()


def test_a_rename_that_is_staged(repository: Repository, state: RepositoryState) -> None:
    repository.git("mv", "src/a.py", "src/b.py")
    assert state.refresh()


def test_a_commit_in_another_work_tree_of_the_repository(repository: Repository) -> None:
    other = Repository(repository.path.parent / "other")
    repository.git("worktree", "add", "--quiet", "--force", "-b", "topic", str(other.path / "tree"))
    state = RepositoryState(other.path / "tree/src")
    state.refresh()
    Repository(other.path / "tree").git("commit", "--quiet", "--allow-empty", "--message", "More")
    assert state.refresh()


def test_a_repository_created_and_deleted(tmp_path: Path) -> None:
    state = RepositoryState(tmp_path)
    assert not state.refresh()
    repository = Repository(tmp_path)
    assert state.refresh()
    (repository.path / ".git").rename(tmp_path / "gone")
    assert state.refresh()
