"""What is kept of git's answers while HEAD moves equals what a new reading says."""

from __future__ import annotations

import itertools
import subprocess
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.trails import Repository, TrailWriter
from tests.trails.repository import START
from tests.unit.history.repositories import TEXT, open_git
from tests.unit.trail.trails import ENVIRONMENT
from vibes_lsp.history.commit_resolution import CommitResolver
from vibes_lsp.history.file_walks import FileWalks
from vibes_lsp.history.git_cache import GitCache
from vibes_lsp.history.line_origins import line_origins
from vibes_lsp.history.project_history import ProjectHistory

PATHS = ("a.py", "b.py", "c.py", "d.py")
SINCE = START - timedelta(days=1)
LATER = START + timedelta(minutes=4)
"""Older than some commits of a story, and newer than others."""


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


class Reader:
    """Reads the history of a project, as one process that goes on or ends after each answer."""

    def __init__(self, writer: TrailWriter, *, use_cache: bool) -> None:
        self._root, self._log = writer.root, writer.files.log
        self._use_cache = use_cache
        repository = open_git(Repository(self._root))
        self._history = ProjectHistory(self._root, use_cache=self._use_cache, repository=repository)
        self._resolver = CommitResolver(
            repository,
            self._root,
            self._log,
            head=self._history.head,
            cache=self._history.cache(),
            walks=self._history.walks(),
        )

    def close(self) -> None:
        self._history.close()

    def answers(self, ids: list[str]) -> list[object]:
        """Return all that is asked about HEAD."""
        self._history.refresh_head()
        self._history.prefetch(PATHS)
        times = [START + timedelta(minutes=minute) for minute in range(0, 40, 5)]
        found: list[object] = [
            [self._history.versions(each) for each in PATHS],
            self._history.current_paths(PATHS),
            [self._history.blame(each, since) for each in PATHS for since in (SINCE, LATER)],
            self._resolver.by_log(ids),
            self._resolver.by_path(dict.fromkeys(PATHS, times)),
            self._resolver.reachable([self._history.head() or "", "abcdef1"]),
        ]
        self._history.save_cache()
        return found


def answers_of_a_new_process(
    writer: TrailWriter, ids: list[str], *, use_cache: bool
) -> list[object]:
    reader = Reader(writer, use_cache=use_cache)
    try:
        return reader.answers(ids)
    finally:
        reader.close()


def plain_log(repository: Repository, path: str) -> list[str]:
    """Return the commits that differ from all their parents in a file, as git lists them."""
    options = ("--topo-order", "--full-history", "-c", "--name-only", "--no-renames")
    lines = repository.git("log", *options, "--format=commit %H", "--", path).splitlines()
    found = [line.removeprefix("commit ") for line in lines if line]
    return [commit for commit, name in itertools.pairwise(found) if name == path]


KINDS = (
    *("edit", "edit", "record", "rename", "remove", "topic", "main", "merge"),
    *("amend", "reset", "rebase", "revert", "pack"),
)
STEPS = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 3), st.booleans()), max_size=14)
"""What happens, where, and whether anybody asks before the next thing happens."""


def test_git_stops_at_what_is_older_than_asked(story: Story) -> None:
    reader = Reader(story.writer, use_cache=False)
    check(story, reader)
    story.take(1, "edit", 1)
    check(story, reader)
    reader.close()


@settings(
    max_examples=25,
    phases=[Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=STEPS)
def test_kept_and_saved_answers_equal_a_new_reading(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, bool]]
) -> None:
    story = Story(tmp_path_factory.mktemp("walks") / "project")
    reader = Reader(story.writer, use_cache=False)
    for number, (step, which, is_asked) in enumerate([*steps, ("edit", 0, True)]):
        story.take(number, step, which)
        if is_asked:
            check(story, reader)
    reader.close()


def check(story: Story, reader: Reader) -> None:
    """Compare all answers with those of a new reading, and the commits with git's own list."""
    plain = answers_of_a_new_process(story.writer, story.ids, use_cache=False)
    assert reader.answers(story.ids) == plain
    assert answers_of_a_new_process(story.writer, story.ids, use_cache=True) == plain
    walks = FileWalks(open_git(story.repository))
    walks.set_head(story.repository.head(), frozenset())
    for path in PATHS:
        found = [each.commit for each in walks.of(path).changes]
        assert found == plain_log(story.repository, path)
        assert_same_blame(story.repository, walks, path)


def assert_same_blame(repository: Repository, walks: FileWalks, path: str) -> None:
    """Compare the blame of the commit that made a version with that of HEAD."""
    git, head = open_git(repository), repository.head()
    entry = git.objects.entry(head, path)
    maker = None if entry is None else walks.maker(path, entry.id)
    if maker is not None:
        assert line_origins(git, path, maker) == line_origins(git, path, head)


def test_a_merge_decides_which_parent_lines_are_from(story: Story) -> None:
    """Both branches have the same text in the end, on one of them by two further commits."""
    reader = Reader(story.writer, use_cache=False)
    for number in range(2):
        story.take(number, "revert", 0)
    check(story, reader)
    story.take(3, "topic", 0)
    story.take(4, "merge", 0)
    assert story.repository.git("rev-list", "--count", "--merges", "HEAD") == "1"
    check(story, reader)
    reader.close()


def test_a_merge_into_another_branch_has_the_order_of_a_new_reading(story: Story) -> None:
    reader = Reader(story.writer, use_cache=False)
    for number, step in enumerate(("topic", "edit", "edit")):
        story.take(number, step, 0)
    check(story, reader)
    for number, step in enumerate(("main", "edit", "edit"), 6):
        story.take(number, step, 0)
    story.take(9, "merge", 1)
    assert story.repository.git("rev-list", "--count", "--merges", "HEAD") == "1"
    check(story, reader)
    reader.close()


class Story:
    """A repository with a trail, to which things happen."""

    def __init__(self, path: Path, hashes: str = "sha1") -> None:
        self.repository = Repository(path, hashes=hashes)
        self.writer = TrailWriter(path)
        self.writer.housekeeping()
        self.ids: list[str] = []
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
        if step in {"edit", "record"}:
            self._edit(number, path)
            if step == "record" and self.writer.files.log.parent.is_dir():
                self.ids.append(self.writer.line(path, 1, 2, environment=ENVIRONMENT))
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


def commands(monkeypatch: pytest.MonkeyPatch, story: Story) -> list[list[str]]:
    """Return the git commands that read history for a new process with the cache."""
    asked: list[list[str]] = []
    start = subprocess.Popen.__init__

    def counted(self: Any, arguments: list[str], *more: Any, **named: Any) -> None:
        if {"log", "rev-list", "blame"} & set(arguments):
            asked.append(arguments)
        start(self, arguments, *more, **named)

    with monkeypatch.context() as patched:
        patched.setattr(subprocess.Popen, "__init__", counted)
        answers_of_a_new_process(story.writer, story.ids, use_cache=True)
    return asked


def test_a_repository_with_sha_256_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    story = Story(tmp_path / "project", hashes="sha256")
    reader = Reader(story.writer, use_cache=False)
    for number, step in enumerate(("record", "record", "amend", "rename", "record")):
        story.take(number, step, 0)
        check(story, reader)
    reader.close()
    assert commands(monkeypatch, story) == []


def test_a_shallow_clone_and_what_it_was_deepened_to(story: Story, tmp_path: Path) -> None:
    for number in range(4):
        story.take(number, "record", number % 2)
    clone = tmp_path / "clone"
    source, plain = f"file://{story.repository.path}", list[object]()
    story.repository.git("clone", "-q", "--depth", "2", source, str(clone))
    for deepen in ("--depth=2", "--depth=3", "--unshallow"):
        Repository(clone).git("fetch", "-q", deepen)
        plain = answers_of_a_new_process(TrailWriter(clone), story.ids, use_cache=False)
        for _ in range(2):
            kept = answers_of_a_new_process(TrailWriter(clone), story.ids, use_cache=True)
            assert kept == plain
    whole = answers_of_a_new_process(story.writer, story.ids, use_cache=False)
    assert plain[0] == whole[0]
    assert plain[3] == whole[3]


@pytest.mark.parametrize("tip", ["--all", "", "HEAD", "0" * 40])
def test_a_saved_tip_that_is_no_commit_here_is_ignored(story: Story, tip: str) -> None:
    plain = answers_of_a_new_process(story.writer, story.ids, use_cache=False)
    cache = GitCache(story.repository.path)
    cache.set_head(story.repository.head(), ())
    cache.put_for_tip("walk a.py", tip, [])
    cache.save()
    assert answers_of_a_new_process(story.writer, story.ids, use_cache=True) == plain


def test_one_reading_serves_all_files(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    walks = FileWalks(open_git(story.repository))
    walks.set_head(story.repository.head(), frozenset())
    asked: list[list[str]] = []
    start = subprocess.Popen.__init__

    def counted(self: Any, arguments: list[str], *more: Any, **named: Any) -> None:
        asked.append(arguments)
        start(self, arguments, *more, **named)

    monkeypatch.setattr(subprocess.Popen, "__init__", counted)
    walks.read(PATHS)
    assert all(walks.of(path).is_settled for path in PATHS)
    assert len(asked) == 1


def test_another_process_reads_only_what_head_gained(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = story.repository.head()
    story.take(1, "record", 0)
    commands(monkeypatch, story)
    assert commands(monkeypatch, story) == []
    earlier = story.repository.head()
    story.take(2, "record", 1)
    logs = [each for each in commands(monkeypatch, story) if "log" in each]
    assert logs
    assert all(f"^{earlier}" in each for each in logs), before


def test_a_commit_of_other_files_leaves_blame_as_it_was(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands(monkeypatch, story)
    story.repository.write("other.py", TEXT)
    story.repository.commit("Another file")
    asked = [each for each in commands(monkeypatch, story) if "blame" in each]
    assert not [each for each in asked if f"--since={int(SINCE.timestamp())}" in each]


def test_a_log_that_only_grew_is_not_compared_by_git(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        story.take(number, "record", 0)
    assert not [each for each in commands(monkeypatch, story) if "-p" in each]
    plain = answers_of_a_new_process(story.writer, story.ids, use_cache=False)
    log = story.writer.files.log
    log.write_bytes(b"{}\n" + log.read_bytes())
    assert answers_of_a_new_process(story.writer, story.ids, use_cache=False) == plain
    log.unlink()
    assert answers_of_a_new_process(story.writer, story.ids, use_cache=False) == plain
