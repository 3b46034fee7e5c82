"""Blame of a file starts at the last commit on the way of first parents that changed it."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.trails import Repository
from tests.trails.repository import START
from tests.unit.git.repositories import TEXT, open_git
from vibes_lsp.git import file_changes
from vibes_lsp.git.file_changes import last_changes
from vibes_lsp.git.line_origins import LineOrigin, line_origins

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PATHS = ("a.py", "b.py", "c.py", "d.py")
SINCE = START - timedelta(days=1)
LATER = START + timedelta(minutes=4)
"""Older than some commits of a story, and newer than others."""

KINDS = (
    *("edit", "edit", "copy", "rename", "remove", "topic", "main", "merge"),
    *("amend", "reset", "rebase", "revert", "pack"),
)
STEPS = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 3)), max_size=14)
"""What happens, and where."""


@settings(
    max_examples=25,
    phases=[Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=STEPS)
def test_blame_from_there_is_blame_from_head(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    story = Story(tmp_path_factory.mktemp("walks") / "project")
    for number, (step, which) in enumerate([*steps, ("edit", 0)]):
        story.take(number, step, which)
    check(story)


def test_a_merge_decides_which_parent_lines_are_from(story: Story) -> None:
    """Both branches have the same text in the end, on one of them by two further commits."""
    for number in range(2):
        story.take(number, "revert", 0)
    check(story)
    story.take(3, "topic", 0)
    story.take(4, "merge", 0)
    assert story.repository.git("rev-list", "--count", "--merges", "HEAD") == "1"
    check(story)


def test_a_commit_of_other_files_leaves_it_as_it_was(story: Story) -> None:
    git, before = open_git(story.repository), story.repository.head()
    story.repository.write("other.py", TEXT)
    after = story.repository.commit("Another file")
    known = last_changes(git, before, None)
    assert last_changes(git, after, None) == {**known, "other.py": (after, True)}
    git.close()


@pytest.mark.parametrize("is_removed", [False, True])
def test_only_a_file_that_replaces_none_is_whole(story: Story, *, is_removed: bool) -> None:
    story.repository.write("new.py", TEXT)
    if is_removed:
        (story.repository.path / "a.py").unlink()
    head = story.repository.commit("A new file")
    git = open_git(story.repository)
    assert last_changes(git, head, None)["new.py"] == (head, not is_removed)
    git.close()


def test_a_file_that_a_merge_brings_is_not_whole(story: Story) -> None:
    story.take(0, "topic", 0)
    story.take(1, "edit", 2)
    story.take(2, "main", 0)
    story.take(3, "merge", 1)
    git, head = open_git(story.repository), story.repository.head()
    assert last_changes(git, head, None)[PATHS[2]] == (head, False)
    git.close()
    check(story)


def test_a_commit_by_a_wrong_clock_hides_none_before_it(story: Story) -> None:
    before = story.repository.head()
    story.repository.write("other.py", TEXT)
    story.repository.commit("Another file", "2015-01-01T00:00:00+00:00")
    story.repository.write("more.py", TEXT)
    head = story.repository.commit("One more")
    git = open_git(story.repository)
    assert last_changes(git, head, SINCE)["a.py"].commit == before
    git.close()


def test_what_is_older_is_not_listed(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    story.repository.write("other.py", TEXT)
    head = story.repository.commit("Another file", (LATER + timedelta(hours=1)).isoformat())
    git = open_git(story.repository)
    assert last_changes(git, head, LATER) == {"other.py": (head, True)}
    monkeypatch.setattr(file_changes, "_MAX_OLDER", 0)
    assert last_changes(git, head, LATER) == {"other.py": (head, True)}
    git.close()


def test_a_repository_with_sha_256_names(tmp_path: Path) -> None:
    story = Story(tmp_path / "project", hashes="sha256")
    for number, step in enumerate(("edit", "amend", "rename", "edit")):
        story.take(number, step, 0)
    check(story)


def test_the_boundary_of_a_shallow_clone_changed_all_files(story: Story, tmp_path: Path) -> None:
    for number in range(4):
        story.take(number, "edit", number % 2)
    clone, source = tmp_path / "clone", f"file://{story.repository.path}"
    story.repository.git("clone", "-q", "--depth", "2", source, str(clone))
    git = open_git(Repository(clone))
    (boundary,) = git.shallow_boundary()
    changes = last_changes(git, story.repository.head(), None).values()
    assert {change.commit for change in changes} == {boundary, story.repository.head()}
    git.close()


def lines_from(commit: str, origins: Sequence[LineOrigin | None]) -> list[int]:
    return [line for line, origin in enumerate(origins) if origin and origin.commit == commit]


def check(story: Story) -> None:
    """Compare blame from the last change of each file, and of this alone, with that from HEAD."""
    git, head = open_git(story.repository), story.repository.head()
    for since in (None, SINCE, LATER):
        changes = last_changes(git, head, since)
        for path in PATHS:
            if git.objects.entry(head, path) is None:
                continue
            found = line_origins(git, path, head, since=since)
            if path not in changes:
                assert found == [None] * len(found), "it did not change since"
                continue
            commit, is_whole = changes[path]
            assert line_origins(git, path, commit, since=since) == found
            known = git.objects.commit(commit)
            assert known is not None
            if is_whole:
                assert found == [(commit, path, line, known.moment) for line in range(len(found))]
            alone = line_origins(git, path, commit, excluded=known.parents)
            assert lines_from(commit, found) == lines_from(commit, alone)
    git.close()


class Story:
    """A repository to which things happen."""

    def __init__(self, path: Path, hashes: str = "sha1") -> None:
        self.repository = Repository(path, hashes=hashes)
        for name in PATHS[:2]:
            self.repository.write(name, TEXT)
        self.repository.commit("Start")
        self._edit(0, "a.py")
        self.repository.commit("What branches may amend")
        self.repository.branch("topic")

    def take(self, number: int, step: str, which: int) -> None:
        """Do the next thing; what git refuses is taken back."""
        path, other, branch = PATHS[which], PATHS[which - 1], ["main", "topic"][which % 2]
        theirs = ("-X", ["ours", "theirs"][which // 2])
        commands: dict[str, list[tuple[str, ...]]] = {
            "rename": [("mv", path, other), ("commit", "-qm", f"Rename {number}")],
            "remove": [("rm", "-q", path), ("commit", "-qm", f"Remove {number}")],
            "topic": [("switch", "-q", "topic")],
            "main": [("switch", "-q", "main")],
            "merge": [("merge", "-q", "--no-ff", *theirs, "-m", "Merge", branch)],
            "amend": [("commit", "-q", "--amend", "--allow-empty", "-m", f"Amend {number}")],
            "reset": [("reset", "-q", "--hard", "HEAD~1")],
            "rebase": [("rebase", "-q", "-X", "theirs", branch)],
            "revert": [("revert", "--no-edit", "-X", "theirs", "HEAD")],
            "pack": [("reflog", "expire", "--expire=now", "--all"), ("gc", "-q", "--prune=now")],
        }
        source = self.repository.path / path
        if step == "copy" and source.exists():
            self.repository.write(other, source.read_text())
            self.repository.commit(f"Copy {number}")
        if step == "edit":
            self._edit(number, path)
            self.repository.commit(f"Edit {number}")
        try:
            for command in commands.get(step, ()):
                self.repository.git(*command)
        except RuntimeError:
            for name in ("merge", "rebase", "revert"):
                with suppress(RuntimeError):
                    self.repository.git(name, "--abort")
            self.repository.git("reset", "-q", "--hard")

    def _edit(self, number: int, path: str) -> None:
        """Change one line of a file, which may be new."""
        file = self.repository.path / path
        lines = (file.read_text() if file.exists() else TEXT).splitlines(keepends=True)
        lines[(7 * number) % len(lines)] = f"edit {number}\n"
        self.repository.write(path, "".join(lines))


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path / "project")
