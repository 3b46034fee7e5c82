"""A repository with a trail, whose commits run the hook; and the invariants after every step."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from tests import forked
from tests.cli.run_vibes import vibes
from tests.trails import Repository
from tests.unit.recording.request_builders import decision_request
from vibes_lsp.model.vocabulary import AssuranceLevel
from vibes_lsp.recording import (
    Decision,
    DecisionOption,
    Model,
    Origin,
    Prompt,
    PromptType,
    Recorder,
    Tool,
)
from vibes_lsp.store.initialise import initialise

if TYPE_CHECKING:
    from pathlib import Path

LOG: Final = ".ai-audit/annotations.jsonl"
ONE: Final = "def one():\n    return 1\n"
TWO: Final = "\n\ndef two():\n    return 2\n"
BY: Final = Origin(
    tool=Tool("Some Tool", "1"),
    model=Model("some-model", "1"),
    prompt=Prompt("Write it.", PromptType.USER_INSTRUCTION),
)


class Workspace(Repository):
    """A project in git. Its clock starts an hour ago, because the hook only handles recent records.

    Args:
        path: Its folder; a repository is created if there is none.
        hook: Whether commits run the hook.
    """

    def __init__(self, path: Path, *, hook: bool = True) -> None:
        super().__init__(
            path, start=(datetime.now(UTC) - timedelta(hours=1)).isoformat(timespec="seconds")
        )
        if hook:
            self.install()

    def install(self) -> None:
        """Install the hook, as `vibes init --git-hooks` does."""
        file = self.hooks() / "pre-commit"
        file.parent.mkdir(exist_ok=True)
        hook = f'#!/bin/sh\nexec "{forked.program().as_posix()}" backfill --pre-commit\n'
        file.write_text(hook, encoding="utf-8", newline="\n")
        file.chmod(0o755)

    def init(self, **config: object) -> None:
        """Create a trail."""
        initialise(
            self.path,
            project_name="p",
            level=AssuranceLevel.MEDIUM,
            extensions=None,
            tool_version="0",
            now=datetime(2026, 1, 1, tzinfo=UTC),
        )
        file = self.path / ".ai-audit/config.json"
        file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), **config}), "utf-8")

    def write_as_ai(
        self, path: str, text: str, start: int, end: int, action: str = "create"
    ) -> str:
        """Write a file as an AI, with these lines annotated; return the annotation's id."""
        self.write(path, text)
        with Recorder(self.path, now=self.now) as recorder:
            found = recorder.annotate_lines(path, start, end, action, BY).annotation_id
        assert found is not None
        return found

    def record_decision(self, point: str, *, fold: bool = True) -> None:
        """Record a decision, which no record refers to, in the manifest or in the journal only."""
        options = (DecisionOption("a", "one way"), DecisionOption("b", "another"))
        recorder = Recorder(self.path, now=self.now)
        recorder.execute(decision_request(Decision(point, options, "a", "It was shorter.")))
        if fold:
            recorder.close()

    def now(self) -> datetime:
        """Return the repository's time: a little before the next commit."""
        return self._time - timedelta(seconds=20)

    def step(self, *arguments: str, answers: str | None = None) -> str:
        """Run a git command a minute after the last, and return HEAD; empty for `git add`."""
        done = subprocess.run(
            ["git", "-c", "core.editor=true", *arguments],
            cwd=self.path,
            env=self._environment(self._time.isoformat()),
            input=answers,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)
        assert "vibes: warning" not in done.stderr, done.stderr
        self._time += timedelta(minutes=1)
        return "" if arguments[0] == "add" else self.head()

    def try_commit(self, message: str) -> subprocess.CompletedProcess[str]:
        """Commit what is staged, which may fail or print warnings."""
        return subprocess.run(
            ["git", "commit", "-m", message],
            cwd=self.path,
            capture_output=True,
            text=True,
            check=False,
        )

    def make_two_commits(self) -> None:
        """Make two commits: the second one backfills what came before the first."""
        for message in ("More", "Still more"):
            self.commit_other_file(message)

    def commit_other_file(self, message: str) -> str:
        """Commit another file, at a path that no other branch or clone has, and return HEAD."""
        name = f"more/{self.path.name}-{self._time:%H%M%S}.txt"
        self.write(name, message)
        self.step("add", name)
        return self.step("commit", "-m", message)

    def status(self) -> str:
        """Return what `git status` lists; empty if clean."""
        return self.git("status", "--porcelain", "--untracked-files=all")

    def records(self) -> list[dict[str, Any]]:
        """Return the records of the log on disk."""
        return [json.loads(line) for line in (self.path / LOG).read_bytes().splitlines()]

    def backfilled_commits(self) -> dict[str, str]:
        """Return the commits in backfilled records by the edits that they are about."""
        known = {record["annotation_id"]: record for record in self.records()}
        edges = [
            record
            for record in known.values()
            if record.get("edge_type") == "supersedes" and "covers" not in str(record)
        ]
        return {
            known[edge["target_ref"]].get("edit", edge["target_ref"]): known[edge["source_ref"]][
                "commit_hash"
            ]
            for edge in edges
        }

    def owners(self, path: str) -> list[tuple[int, int, str, str, str]]:
        """Return first and last line, state, commit and commit method of each owner."""
        answer = vibes("blame", path, "--json", cwd=self.path)
        assert answer.code == 0, answer.err
        return [
            (
                each["lineStart"],
                each["lineEnd"],
                each["state"],
                each.get("commitHash", ""),
                each.get("commitMethod", ""),
            )
            for each in answer.json["placements"]
            if each["ownedRanges"]
        ]

    def check_invariants(self) -> None:
        """Check for a clean work tree, a valid trail, and commits that keep every record."""
        assert self.status() == ""
        found = vibes("check", "--json", cwd=self.path).json
        assert found["result"] == "PASS", found["findings"]
        for line in self.git("rev-list", "--parents", "--all").splitlines():
            commit, *parents = line.split()
            for parent in parents:
                assert self._log_at(parent) <= self._log_at(commit), f"{commit} removed a record"

    def _log_at(self, commit: str) -> set[str]:
        if not self.git("ls-tree", commit, "--", LOG):
            return set()
        return set(self.git("show", f"{commit}:{LOG}").splitlines())
