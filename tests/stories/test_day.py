"""A day with an agent: half of its sessions only answer, branches are switched and rebased all day.

Git never refuses, `git status` shows nothing of ours, and what was committed is in the log once.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from tests.cli.run_vibes import vibes
from tests.requirements import in_nightly
from tests.stories.workspace import LOG, Workspace

SESSIONS: Final = 50 if in_nightly() else 12
BRANCHES: Final = ("alpha", "beta", "gamma", "delta")
"""Each changes files of its own, so that no rebase has a conflict."""


class Day:
    """A repository, and the agent that works in it.

    Args:
        folder: A folder for it.
        seed: Draws what happens.

    Attributes:
        work: The repository.
        lines: By branch, the lines that the agent wrote and that were committed.
        git_calls: How often a branch was switched or rebased.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.work = Workspace(folder / "work", hook=False)
        done = vibes("init", "--project-name", "p", cwd=self.work.path)
        assert (done.code, done.err) == (0, "")
        for name in (*BRANCHES, "notes"):
            self.work.write(f"{name}.py", f"# {name}, by a person\n")
        self.work.step("add", "--all")
        self.work.step("commit", "-m", "Begin")
        for name in BRANCHES:
            self.work.git("branch", name)
        self.random = Random(seed)  # a test's
        self.lines: dict[str, list[str]] = {name: [] for name in BRANCHES}
        self.git_calls = 0
        self._sessions = 0

    def session(self, branch: str, *, edits: bool) -> None:
        """Let the agent answer a question, and write a function if it edits."""
        self._sessions += 1
        file = self.work.path / f"{branch}.py"
        self._event("SessionStart", source="startup")
        self._event("UserPromptSubmit", prompt=f"Question {self._sessions}?")
        read = {"tool_input": {"file_path": file.as_posix()}, "tool_response": {"type": "text"}}
        self._event("PostToolUse", tool_name="Read", tool_use_id="r", **read)
        if edits:
            self._edit(branch, file)
        self._event("Stop")
        self._event("SessionEnd", reason="exit")

    def _edit(self, branch: str, file: Path) -> None:
        number = self._sessions
        lines = [f"def number_{number}_of_{branch}(first):", f"    return first * {1000 + number}"]
        before = file.read_text("utf-8")
        old = before.splitlines()[-1]
        new = "\n".join([old, "", "", *lines])
        file.write_text(before.replace(old, new), "utf-8")
        self._event(
            "PostToolUse",
            tool_name="Edit",
            tool_use_id="e",
            tool_input={"file_path": file.as_posix(), "old_string": old, "new_string": new},
            tool_response={"originalFile": before, "structuredPatch": []},
        )
        self.lines[branch] += lines

    def _event(self, name: str, **members: Any) -> None:
        event = {
            "session_id": f"session-{self._sessions}",
            "transcript_path": "/nowhere/x.jsonl",
            "cwd": self.work.path.as_posix(),
            "prompt_id": f"p{self._sessions}",
            "hook_event_name": name,
            **members,
        }
        done = vibes("hook", cwd=self.work.path, given=json.dumps(event).encode())
        assert (done.code, done.out, done.err) == (0, "", "")

    def git(self, *arguments: str) -> None:
        """Run a git command, which must not refuse."""
        self.work.step(*arguments)
        self.git_calls += arguments[0] in ("switch", "rebase")

    def commit(self, branch: str) -> None:
        """Commit the branch's file, while agents' events may still be recorded."""
        self.git("commit", "--quiet", "-m", f"Change {branch}", "--", f"{branch}.py")


@pytest.mark.parametrize("seed", range(3 if in_nightly() else 1))
def test_git_never_refuses_and_what_was_committed_is_in_the_log_once(
    tmp_path: Path, seed: int
) -> None:
    day = Day(tmp_path, seed)
    for number in range(SESSIONS):
        branch = day.random.choice(BRANCHES)
        day.git("switch", "--quiet", branch)
        edits = number % 2 == 0
        day.session(branch, edits=edits)
        assert day.work.status() == (f" M {branch}.py" if edits else "")
        if edits and day.random.random() < 0.3:  # another branch first
            day.git("stash", "--quiet")
            day.git("switch", "--quiet", day.random.choice(BRANCHES))
            day.session("notes", edits=False)
            day.git("switch", "--quiet", branch)
            day.git("stash", "pop", "--quiet")
        if edits:
            vibes("hook", "--wait", cwd=day.work.path)
            day.commit(branch)
        if day.random.random() < 0.4:  # the main branch goes on
            day.git("switch", "--quiet", "main")
            day.work.write("notes.py", f"# a person's note {number}\n")
            day.git("commit", "--quiet", "-am", "Notes")
            day.git("switch", "--quiet", branch)
            day.git("rebase", "--quiet", "main")
        assert day.work.status() == ""
    assert day.git_calls >= SESSIONS
    for branch in BRANCHES:
        day.git("switch", "--quiet", branch)
        day.git("rebase", "--quiet", "main")
        check_branch(day, branch)


def check_branch(day: Day, branch: str) -> None:
    """Check that each line that the agent wrote there is its own, and in the log once."""
    text = (day.work.path / f"{branch}.py").read_text("utf-8").splitlines()
    shown = vibes("blame", f"{branch}.py", "--json", cwd=day.work.path).json
    verified = {
        number
        for placement in shown["placements"]
        if placement["state"] in ("exact", "moved")
        for owned in placement["ownedRanges"]
        for number in range(owned["start"]["line"] + 1, owned["end"]["line"] + 1)
    }
    written = [number for number, line in enumerate(text, 1) if line in day.lines[branch]]
    assert len(written) == len(day.lines[branch])
    assert set(written) <= verified
    records = [json.loads(line) for line in day.work.git("show", f"HEAD:{LOG}").splitlines()]
    ids = Counter(record["annotation_id"] for record in records)
    assert set(ids.values()) <= {1}
    hunks = [
        (record["file_path"], record["line_hashes"])
        for record in records
        if record["type"] == "line" and record["action"] != "rebase_remap"
    ]
    own = [hashes for path, hashes in hunks if path == f"{branch}.py"]
    assert len(own) == len(day.lines[branch]) // 2
