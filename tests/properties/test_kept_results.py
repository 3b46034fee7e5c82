"""What is kept of earlier searches equals a new search, whatever happened in between."""

from __future__ import annotations

import json
import os
import random
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trails import Repository, TrailWriter
from tests.trails.content import file_hash
from vibes_lsp.index import kept_results
from vibes_lsp.index.live_risk import Scorer
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.reports.find import NO_FILTER, find_annotations
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.config import load_config
from vibes_lsp.store.kept_texts import keep_text
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vibes_lsp.model.members import Members

NAMES: Final = ("a.py", "b.py", "sub/c.py", "sub/d.py")
EXAMPLES: Final = int(os.environ.get("VIBES_KEPT_STORIES", "12"))


class Story:
    """A repository with a trail, to which things happen."""

    def __init__(self, root: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.repository = Repository(root)
        self.writer = TrailWriter(root)
        self.writer.environment()
        self.prompts = [self.writer.prompt(f"Task {number}") for number in range(3)]
        self.sessions = [self.writer.session_start() for _ in range(2)]
        self.has_commit = False
        for name in NAMES[:3]:
            self.write(name, [self.line() for _ in range(14)])
        self.record()
        self.commit()
        self.has_commit = True

    def line(self) -> str:
        number = self.rng.randrange(10_000)
        return self.rng.choice(("}", "    return None", f"value_{number} = compute({number})"))

    def files(self) -> list[str]:
        return [name for name in NAMES if (self.repository.path / name).is_file()]

    def lines(self, name: str) -> list[str]:
        return (self.repository.path / name).read_text("utf-8").splitlines()

    def write(self, name: str, lines: list[str]) -> None:
        self.repository.write(name, "".join(f"{line}\n" for line in lines))

    def some_file(self) -> str:
        if not self.files():
            self.write("a.py", [self.line() for _ in range(14)])
        return self.rng.choice(self.files())

    def annotation(self) -> str:
        """Return the id of an annotation that the log has."""
        log = (self.repository.path / ".ai-audit/annotations.jsonl").read_bytes()
        records = [json.loads(line) for line in log.splitlines()]
        found = [each["annotation_id"] for each in records if each["type"] == "line"]
        return self.rng.choice(found) if found else self.record()

    def record(self) -> str:
        """An AI writes some lines."""
        name = self.some_file()
        lines = self.lines(name)
        start = self.rng.randint(1, len(lines) + 1)
        lines[start - 1 : start - 1] = [self.line() for _ in range(self.rng.randint(1, 6))]
        self.write(name, lines)
        text = (self.repository.path / name).read_bytes()
        commit = self.repository.head() if self.has_commit and self.rng.random() < 0.2 else None
        written = self.writer.line(
            name,
            start,
            min(start + 5, len(lines)),
            text=text,
            prompt=self.rng.choice(self.prompts),
            session=self.rng.choice((None, *self.sessions)),
            commit=commit,
        )
        if self.rng.random() < 0.3:
            keep_text(AuditDir(self.repository.path / ".ai-audit"), file_hash(text), text)
        return written

    def supersede(self) -> None:
        """An edit replaces an earlier one, perhaps of another file."""
        older = self.annotation()
        newer = self.record()
        reason = self.rng.choice(("covers", "commit", None))
        metadata = None if reason is None else {"reason": reason}
        self.writer.edge("supersedes", newer, older, target_type="annotation", metadata=metadata)

    def remap(self) -> None:
        """A program records the commit of an annotation."""
        self.writer.remap(self.annotation(), commit=self.repository.head())

    def review(self) -> None:
        """A person reviews."""
        verdict = self.rng.choice(("approved", "rejected"))
        self.writer.review(self.annotation(), verdict=verdict)

    def edit(self) -> None:
        """A person edits a file."""
        name = self.some_file()
        lines = self.lines(name)
        start = self.rng.randint(0, len(lines))
        lines[start : start + self.rng.randint(0, 3)] = [
            self.line() for _ in range(self.rng.randint(0, 3))
        ]
        self.write(name, lines or ["x"])

    def undo(self) -> None:
        """A file becomes as it was committed."""
        self.repository.git("checkout", "--quiet", "HEAD", "--", *self.committed()[:1])

    def committed(self) -> list[str]:
        tracked = self.repository.git("ls-tree", "-r", "--name-only", "HEAD").splitlines()
        return self.rng.sample(found := [each for each in NAMES if each in tracked], len(found))

    def move(self) -> None:
        """Lines move to the end of another file."""
        source, target = self.some_file(), self.some_file()
        lines = self.lines(source)
        start = self.rng.randint(0, len(lines))
        cut = lines[start : start + 7]
        self.write(source, [*lines[:start], *lines[start + 7 :]] or ["x"])
        self.write(target, [*self.lines(target), *cut])

    def rename(self) -> None:
        """A file gets another name."""
        name, free = self.some_file(), [each for each in NAMES if each not in self.files()]
        if free and name in self.committed():
            self.repository.git("add", "--all")
            self.repository.git("mv", name, self.rng.choice(free))

    def delete(self) -> None:
        """A file disappears."""
        (self.repository.path / self.some_file()).unlink()

    def commit(self) -> None:
        """Everything is committed."""
        self.repository.commit("Change")

    def amend(self) -> None:
        """The last commit is replaced."""
        self.repository.git("add", "--all")
        self.repository.git("commit", "--quiet", "--amend", "--allow-empty", "--message", "Amend")

    def branch(self) -> None:
        """Another branch is merged."""
        self.commit()
        name = f"side-{self.rng.randrange(10**6)}"
        self.repository.switch(name, create=True)
        self.edit()
        self.record()
        self.commit()
        self.repository.switch("main")
        if self.rng.random() < 0.7:
            self.repository.merge(name)

    def go_back(self) -> None:
        """HEAD becomes an older commit; the work tree stays."""
        commits = self.repository.git("rev-list", "HEAD").split()
        self.repository.git("reset", "--quiet", "--soft", self.rng.choice(commits[:3]))

    def rewrite_log(self) -> None:
        """A record is removed from the middle of the log."""
        log = self.repository.path / ".ai-audit/annotations.jsonl"
        lines = log.read_bytes().splitlines(keepends=True)
        if lines:
            del lines[self.rng.randrange(len(lines))]
        log.write_bytes(b"".join(lines))

    def replace_record(self) -> None:
        """A record is changed in place, to one of the same length."""
        log = self.repository.path / ".ai-audit/annotations.jsonl"
        data = log.read_bytes()
        log.write_bytes(data.replace(b'"action":"create"', b'"action":"modify"', 1))

    def change_prompt(self) -> None:
        """An entry is changed under its key."""
        manifest = self.repository.path / ".ai-audit/manifest.json"
        old = f"Task {self.rng.randrange(3)}".encode()
        manifest.write_bytes(manifest.read_bytes().replace(old, old + b" again"))

    def change_policy(self) -> None:
        """The project scores risk in another way."""
        config = self.repository.path / ".ai-audit/config.json"
        value = json.loads(config.read_bytes()) if config.exists() else {}
        weight = self.rng.randrange(1, 5)
        value["prism"] = {"enabled": True, "signal_weights": {"scope": weight}}
        config.write_text(json.dumps(value))

    def session(self) -> None:
        """A session is recorded again with an earlier start."""
        self.writer.session_start(session_id=self.sessions[0], timestamp="2026-01-01T00:00:00Z")


EVENTS: Final = sorted(
    name
    for name, value in vars(Story).items()
    if callable(value) and (value.__doc__ or "").endswith(".") and name != "annotation"
)


def search(root: Path, *, use_git: bool, keeps: bool) -> list[Members]:
    """Search with the cache of git's answers, and with or without kept results."""
    trail = Trail(AuditDir(root / ".ai-audit"), uses_saved=keeps)
    trail.refresh()
    policy = load_config(trail.directory).policy
    with (
        pytest.MonkeyPatch.context() as patch,
        ProjectLocator(trail, use_git=use_git, use_cache=True) as locator,
    ):
        if not keeps:
            patch.setattr(ProjectLocator, "keeps_results", False)
        return [each.facts for each in find_annotations(locator, NO_FILTER, Scorer(trail, policy))]


@contextmanager
def new_story(seed: int) -> Iterator[Story]:
    with (
        tempfile.TemporaryDirectory() as root,
        tempfile.TemporaryDirectory() as cache,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("XDG_CACHE_HOME", cache)
        patch.setattr(kept_results, "MIN_RESULTS", 0)
        patch.setattr(kept_results, "_MAX_NAMES", seed % 5)  # of large projects
        patch.setattr(kept_results, "_NAMES_AT_ONCE", 2)
        if seed % 2:  # else the manifest is too new to be known by its times
            patch.setattr(kept_results, "is_settled", lambda _: True)
        yield Story(Path(root), seed)


@pytest.mark.timeout(600 + 30 * EXAMPLES)
@settings(max_examples=EXAMPLES, deadline=None)
@given(
    st.integers(0, 10**6),
    st.lists(st.lists(st.sampled_from(EVENTS), min_size=1, max_size=2), min_size=1, max_size=8),
)
def test_kept_results_are_those_of_a_new_search(seed: int, events: list[list[str]]) -> None:
    with new_story(seed) as story:
        root = story.repository.path
        for some in ([], [], *events):
            for event in some:
                getattr(story, event)()
            for use_git in (True, False):
                kept = search(root, use_git=use_git, keeps=True)
                assert kept == search(root, use_git=use_git, keeps=False), (some, use_git)
