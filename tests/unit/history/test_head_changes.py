"""Files that no commit between two HEADs touched have the same history at both."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.trails import Repository
from tests.trails.repository import START
from tests.unit.history.repositories import TEXT, open_git
from tests.unit.history.test_file_walks import LATER, PATHS, SINCE, STEPS, Story
from vibes_lsp.history.blame import blame_file
from vibes_lsp.history.file_walks import FileWalks
from vibes_lsp.history.head_changes import HeadChange, head_change


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path / "project")
    repository.write("a.py", TEXT)
    repository.write("b.py", TEXT)
    repository.commit("Begin")
    return repository


def change(repository: Repository, before: str, now: str = "") -> HeadChange | None:
    return head_change(open_git(repository), before, now or repository.head())


def test_commits_in_a_line(repository: Repository) -> None:
    before = repository.head()
    assert change(repository, before) == HeadChange()
    repository.write("a.py", "1\n")
    first = repository.commit("One")
    repository.git("mv", "b.py", "\x01 c d.py")
    second = repository.commit("Rename")
    paths = frozenset({"a.py", "b.py", "\x01 c d.py"})
    assert change(repository, before) == HeadChange(
        paths, frozenset({first, second}), START + timedelta(minutes=1)
    )
    assert change(repository, second, before) == HeadChange(
        paths, frozenset({first, second}), START + timedelta(minutes=1)
    )


def test_what_an_amend_took_away_counts(repository: Repository) -> None:
    repository.write("a.py", "1\n")
    before = repository.commit("One")
    repository.git("reset", "-q", "--hard", "HEAD^")
    repository.write("b.py", "1\n")
    after = repository.commit("Other")
    assert change(repository, before) == HeadChange(
        frozenset({"a.py", "b.py"}), frozenset({before, after}), START + timedelta(minutes=1)
    )


def test_a_merge_or_another_root_is_not_compared(repository: Repository) -> None:
    before = repository.head()
    repository.switch("side", create=True)
    repository.write("c.py", "1\n")
    repository.commit("Side")
    repository.switch("main")
    repository.write("d.py", "1\n")
    repository.commit("Main")
    repository.merge("side")
    assert change(repository, before) is None
    repository.git("switch", "-q", "--orphan", "new")
    repository.commit("Root")
    assert change(repository, before) is None
    assert change(repository, "0" * 40) is None
    assert change(repository, "--all") is None


@pytest.mark.slow
@settings(
    max_examples=25,
    phases=[Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=STEPS)
def test_untouched_files_have_the_same_history(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, bool]]
) -> None:
    story = Story(tmp_path_factory.mktemp("heads") / "project")
    git = open_git(story.repository)
    before, known, blamed = "", dict[str, object](), dict[str, object]()
    for number, (step, which, _) in enumerate(steps):
        story.take(number, step, which)
        now = story.repository.head()
        walks = FileWalks(git)
        walks.set_head(now, frozenset())
        found: dict[str, object] = {
            path: (walks.of(path).changes, blame_file(git, path, now, SINCE)) for path in PATHS
        }
        late: dict[str, object] = {path: blame_file(git, path, now, LATER) for path in PATHS}
        differs = head_change(git, before, now)
        if differs is not None:
            for path in found.keys() - differs.paths:
                assert found[path] == known[path]
                if differs.oldest is None or differs.oldest >= LATER:
                    assert late[path] == blamed[path]
        before, known, blamed = now, found, late
