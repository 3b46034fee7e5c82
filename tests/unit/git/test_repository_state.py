"""Changes of a repository are detected by file times; irrelevant ones are not reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.trails import Repository
from vibes_lsp.git.repository_state import RepositoryState
from vibes_lsp.store.git_folders import read_head


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


def test_head_is_read_without_git(repository: Repository, tmp_path: Path) -> None:
    first = repository.head()
    assert read_head(repository.path) == first
    repository.branch("other/deep")
    repository.git("pack-refs", "--all")
    assert read_head(repository.path) == first
    second = repository.commit("More")  # beside the packed ref of the same name
    assert read_head(repository.path) == second
    repository.git("symbolic-ref", "refs/heads/alias", "refs/heads/other/deep")
    repository.git("symbolic-ref", "HEAD", "refs/heads/alias")
    assert read_head(repository.path) == first
    repository.git("switch", "-q", "--detach", second)
    assert read_head(repository.path) == second
    linked = tmp_path / "linked"
    repository.git("worktree", "add", "-q", str(linked), "other/deep")
    assert read_head(linked) == first


@pytest.mark.parametrize(
    "head", ["", "ref: refs/heads/none", "ref: refs/../../a", "ref: refs/bisect/bad", "no hash"]
)
def test_what_only_git_can_tell_is_not_guessed(repository: Repository, head: str) -> None:
    (repository.path / ".git/refs/bisect").mkdir()
    (repository.path / ".git/refs/bisect/bad").write_text(repository.head())
    (repository.path / "a").write_text(repository.head())
    (repository.path / ".git/HEAD").write_text(f"{head}\n")
    assert read_head(repository.path) is None


def test_head_of_other_storage_is_left_to_git(repository: Repository, tmp_path: Path) -> None:
    (repository.path / ".git/reftable").mkdir()
    assert read_head(repository.path) is None
    assert read_head(tmp_path) is None
