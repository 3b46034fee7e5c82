"""A repository that lacks objects: results without them are still returned."""

from __future__ import annotations

import pytest

from tests.trails import Repository
from tests.trails.repository import START
from tests.unit.git.repositories import open_git, resolver_for
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.current_names import current_names
from vibes_lsp.git.file_changes import file_changes, last_changes
from vibes_lsp.git.line_origins import line_origins


def test_a_missing_object_affects_only_its_version(repository: Repository) -> None:
    texts = [f"{number}\n" for number in range(3)]
    commits = []
    for text in texts:
        repository.write("a.py", text)
        commits.append(repository.commit("One more"))
    remove(repository, f"{commits[1]}:a.py")
    git = open_git(repository)
    found = list(file_changes(git, ["HEAD"], ["a.py"]))
    assert [change.commit for change in found] == commits[::-1]
    assert [git.objects.contents(change.blob) for change in found] == [b"2\n", None, b"0\n"]
    with pytest.raises(HistoryUnavailable):
        line_origins(git, "a.py", commits[2])
    git.close()


def test_a_missing_commit_ends_history(repository: Repository) -> None:
    commits = []
    for number in range(3):
        repository.write("a.py", f"{number}\n")
        commits.append(repository.commit("One more"))
    remove(repository, commits[0])
    assert resolver_for(repository).by_path({"a.py": [START]}) == {}
    git = open_git(repository)
    assert current_names(git, ["b.py"]) == {}
    with pytest.raises(HistoryUnavailable):
        last_changes(git, commits[2], None)
    git.close()


def remove(repository: Repository, revision: str) -> None:
    name = repository.git("rev-parse", revision)
    (repository.path / ".git/objects" / name[:2] / name[2:]).unlink()
