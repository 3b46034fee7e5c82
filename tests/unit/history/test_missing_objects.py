"""A repository that lacks objects: results without them are still returned."""

from __future__ import annotations

from tests.trails import Repository
from tests.trails.repository import START
from tests.unit.history.repositories import resolver_for
from vibes_lsp.history.project_history import ProjectHistory


def test_a_missing_object_affects_only_its_version(repository: Repository) -> None:
    texts = [f"{number}\n" for number in range(3)]
    commits = []
    for text in texts:
        repository.write("a.py", text)
        commits.append(repository.commit("One more"))
    remove(repository, f"{commits[1]}:a.py")
    with ProjectHistory(repository.path) as history:
        found = history.versions("a.py").versions
        assert [each.commit for each in found] == commits[::-1]
        assert [history.contents(each) for each in found] == [b"2\n", None, b"0\n"]


def test_a_missing_commit_ends_history(repository: Repository) -> None:
    commits = []
    for number in range(3):
        repository.write("a.py", f"{number}\n")
        commits.append(repository.commit("One more"))
    remove(repository, commits[0])
    resolver = resolver_for(repository)
    with ProjectHistory(repository.path) as history:
        assert history.version_at("a.py", commits[0]) is None
        assert history.version_at("a.py", commits[1]) is not None
        assert resolver.by_path({"a.py": [START]}) == {}


def test_a_missing_tree_is_tolerated(repository: Repository) -> None:
    repository.write("src/a.py", "1\n")
    first = repository.commit("First")
    repository.write("src/a.py", "2\n")
    second = repository.commit("Second")
    remove(repository, f"{first}:src")
    with ProjectHistory(repository.path) as history:
        assert history.version_at("src/a.py", first) is None
        assert history.version_at("src/a.py", second) is not None


def remove(repository: Repository, revision: str) -> None:
    name = repository.git("rev-parse", revision)
    (repository.path / ".git/objects" / name[:2] / name[2:]).unlink()
