"""Git notes: found wherever git keeps the ref."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.git_ai_notes import REF, attach
from tests.trails import Repository
from vibes_lsp.git.notes import list_notes, oldest_first
from vibes_lsp.git.repository import Repository as Opened

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "project")
    made.write("a.py", "pass\n")
    made.commit("First")
    return made


@pytest.mark.parametrize("packed", [False, True])
def test_notes_are_read_when_the_ref_appears_changes_and_goes(
    repository: Repository, packed: bool
) -> None:
    opened = Opened(repository.path)
    assert list_notes(opened, REF) == {}
    head = repository.head()
    attach(repository, head, "one\n")
    if packed:
        repository.git("pack-refs", "--all")
    first = list_notes(opened, REF)
    assert list(first) == [head]
    attach(repository, head, "another\n")
    assert list(list_notes(opened, REF)) == [head]
    assert list_notes(opened, REF) != first
    repository.git("update-ref", "-d", REF)
    assert list_notes(opened, REF) == {}


def test_notes_are_found_in_another_work_tree(repository: Repository, tmp_path: Path) -> None:
    head = repository.head()
    attach(repository, head, "one\n")
    repository.git("worktree", "add", "--quiet", str(tmp_path / "tree"), "-b", "tree")
    assert list(list_notes(Opened(tmp_path / "tree"), REF)) == [head]


def test_what_is_no_note_of_a_commit_is_left_out(repository: Repository) -> None:
    head = repository.head()
    blob = repository.git("hash-object", "-w", "a.py")
    entries = {
        f"{head[:2]}/{head[2:]}": blob,  # as git divides many notes
        "README": blob,
        "g" * 40: blob,
        f"{'a' * 39}": blob,
    }
    for name, each in entries.items():
        repository.git("update-index", "--add", "--cacheinfo", f"100644,{each},{name}")
    tree = repository.git("write-tree")
    repository.git("update-ref", REF, repository.git("commit-tree", tree, "-m", "Notes"))
    assert list_notes(Opened(repository.path), REF).keys() == {head}


def test_commits_come_in_the_order_of_history(repository: Repository) -> None:
    commits = [repository.head(), *(repository.commit(f"{number}") for number in range(3))]
    repository.git("checkout", "--quiet", "--orphan", "elsewhere")
    elsewhere = repository.commit("Elsewhere")
    repository.switch("main")
    wanted = {*reversed(commits[1:]), elsewhere}
    assert oldest_first(Opened(repository.path), wanted) == commits[1:]
