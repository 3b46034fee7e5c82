"""After any sequence of git commands the tree stays clean and no acknowledged record is lost.

A state machine runs real git in a real repository, with and without the hook. CI runs few examples;
to search longer, run

    pytest tests/stories/test_git_sequences.py --hypothesis-profile=nightly
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from typing_extensions import override

from tests.stories.in_process_hook import Hook
from tests.stories.workspace import LOG, Workspace
from tests.unit.checks.projects import check
from vibes_lsp.checks.finding import Severity

AUDIT: Final = ".ai-audit/"
FILES: Final = ("a.py", "b.py")
BRANCHES: Final = ("main", "topic")
LINES: Final = 12
IS_NIGHTLY: Final = settings.get_current_profile_name() == "nightly"
RESTORING: Final = ("stash", "reset")
"""Commands that bring back, by what they are for, what was not committed."""

pytestmark = [
    pytest.mark.timeout(0 if IS_NIGHTLY else 600),
    pytest.mark.skipif(os.name == "nt", reason="the hook needs a named pipe"),
]


@cache
def template() -> Path:
    """Return a repository with a trail, two files and two branches, created once."""
    root = Path(tempfile.mkdtemp(prefix="vibes-sequences-")) / "work"
    work = Workspace(root, hook=False)
    work.git("config", "maintenance.auto", "false")
    work.git("config", "gc.auto", "0")
    work.init()
    for path in FILES:
        work.write(path, "".join(f"{path[0]}_{number} = {number}\n" for number in range(LINES)))
    work.commit("Begin")
    work.write("c.py", "x = 1\n")
    work.commit("Go on")
    work.branch("topic")
    return root


class GitSequences(RuleBasedStateMachine):
    """A user, an AI and git, without the hook."""

    hooked = False

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="vibes-sequence-"))
        shutil.copytree(template(), self.folder / "work", symlinks=True)
        self.work = Workspace(self.folder / "work", hook=False)
        self.hook = Hook(self.work.path, self.work.now) if self.hooked else None
        self.count = 0
        self.recorded: set[str] = set()
        self.committed: set[str] = set()
        self.changed = True
        self.commands: list[str] = []

    @override
    def teardown(self) -> None:
        if self.hook is not None:
            self.hook.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    # Editing files

    @rule(
        path=st.sampled_from(FILES),
        number=st.integers(1, LINES),
        by_ai=st.booleans(),
        staged=st.booleans(),
    )
    def edit(self, path: str, number: int, *, by_ai: bool, staged: bool) -> None:
        file = self.work.path / path
        lines = (file.read_text("utf-8") if file.exists() else "").splitlines(keepends=True)
        number = min(number, len(lines) + 1)
        self.count += 1
        lines[number - 1 : number] = [
            f"line_{self.count} = {'ai' if by_ai else 'person'}({self.count})\n"
        ]
        if by_ai:
            self.recorded.add(self.work.write_as_ai(path, "".join(lines), number, number, "modify"))
        else:
            self.work.write(path, "".join(lines))
        self.changed = True
        if staged:
            self.git("add", path)

    # Staging and committing

    @rule(path=st.sampled_from([*FILES, ".", AUDIT]))
    def stage(self, path: str) -> None:
        self.git("add", path)

    @rule(
        path=st.sampled_from(FILES), answers=st.lists(st.sampled_from("yn"), min_size=4, max_size=4)
    )
    def stage_hunks(self, path: str, answers: list[str]) -> None:
        self.git("add", "--patch", path, answers="\n".join(answers) + "\n")

    @rule(path=st.sampled_from(FILES))
    def restore(self, path: str) -> None:
        self.git("restore", "--staged", "--worktree", path)

    @rule(
        options=st.sampled_from(
            [
                ("-m", "x"),
                ("-am", "x"),
                ("--no-verify", "-m", "x"),
                ("--no-verify", "-am", "x"),
                ("--amend", "--no-edit"),
                ("-a", "--amend", "--no-edit"),
                ("--allow-empty", "-m", "x"),
                ("-m", "x", "--", "a.py"),
                ("-m", "x", "--include", "a.py"),
                ("--amend", "--no-edit", "--no-verify"),
            ]
        )
    )
    def commit(self, options: tuple[str, ...]) -> None:
        self.git("commit", *options)

    @rule(
        path=st.sampled_from(FILES),
        number=st.integers(1, LINES),
        by_ai=st.booleans(),
        verified=st.booleans(),
    )
    def edit_and_commit(self, path: str, number: int, *, by_ai: bool, verified: bool) -> None:
        self.edit(path, number, by_ai=by_ai, staged=True)
        self.git("commit", "-m", "x", *([] if verified else ["--no-verify"]))

    @rule()
    def commit_staged(self) -> None:
        self.git("commit", "-m", "x")

    # Moving branches

    @rule()
    def stash(self) -> None:
        self.git("stash")

    @rule()
    def pop(self) -> None:
        self.git("stash", "pop")

    @rule(branch=st.sampled_from(BRANCHES))
    def switch(self, branch: str) -> None:
        self.git("switch", branch)

    @rule(options=st.sampled_from([(), ("--no-ff",), ("--no-commit", "--no-ff"), ("--squash",)]))
    def merge(self, options: tuple[str, ...]) -> None:
        self.git("merge", "--no-edit", *options, self.other())

    @rule()
    def rebase(self) -> None:
        self.git("rebase", self.other())

    @rule(back=st.integers(0, 1))
    def cherry_pick(self, back: int) -> None:
        self.git("cherry-pick", f"{self.other()}~{back}")

    @rule()
    def revert(self) -> None:
        if self.run("rev-parse", "--verify", "--quiet", "HEAD^").returncode:
            return  # the first commit
        self.git("revert", "--no-edit", "HEAD")

    @rule(how=st.sampled_from(["--soft", "--mixed", "--hard"]), back=st.integers(0, 1))
    def reset(self, how: str, back: int) -> None:
        if how == "--hard":  # the user discards uncommitted records
            self.recorded &= self.committed
        self.git("reset", how, f"HEAD~{back}")

    @precondition(lambda self: self.command_in_progress())
    @rule()
    def abort(self) -> None:
        self.git(self.command_in_progress(), "--abort")

    @precondition(lambda self: self.command_in_progress())
    @rule(side=st.sampled_from(["--ours", "--theirs"]))
    def resolve_conflicts(self, side: str) -> None:
        for path in self.work.git("diff", "--name-only", "--diff-filter=U").splitlines():
            self.run("checkout", side, "--", path)
        self.run("add", "--", *FILES)
        if self.command_in_progress() == "merge":
            self.git("commit", "--no-edit")
        else:
            self.git(self.command_in_progress(), "--continue")

    # Invariants

    @invariant()
    def no_record_is_lost(self) -> None:
        if not self.changed:
            return
        self.changed = False
        here = (
            ids((self.work.path / LOG).read_text("utf-8"))
            if (self.work.path / LOG).exists()
            else set()
        )
        for file in self.work.path.glob(".git/ai-audit/waiting/*/*.jsonl"):
            here |= ids(file.read_text("utf-8"))
        for name in ("HEAD", "stash@{0}", ":0"):
            done = self.run("show", f"{name}:{LOG}")
            if done.returncode == 0:
                self.committed |= ids(done.stdout)
        assert self.recorded <= here | self.committed, self.commands

    @invariant()
    def the_trail_is_valid(self) -> None:
        if self.command_in_progress():
            return
        found = [
            finding
            for finding in check(self.work.path).findings
            if finding.severity == Severity.ERROR
        ]
        assert not found, (self.commands, found)

    @invariant()
    def the_hook_had_no_problem(self) -> None:
        if self.hook is not None:
            assert not self.hook.failures, (self.commands, self.hook.failures)
            assert not [each.problems for each in self.hook.prepared if each.problems], (
                self.commands
            )

    # Running git

    def git(self, *arguments: str, answers: str | None = None) -> None:
        """Run a command as a user does, and check its effect on the trail."""
        before, head, empty = self.trail_status(), self.head(), self.stages_nothing()
        done = self.run(*arguments, answers=answers)
        self.commands.append(f"{' '.join(arguments)} -> {done.returncode}")
        self.changed = True
        after = self.trail_status()
        context = (self.commands, done.stdout, done.stderr)
        assert not [line for line in after if line.startswith("??")], context
        if (
            done.returncode == 0
            and not empty
            and self.hook
            and arguments[0] == "commit"
            and "--no-verify" not in arguments
        ):
            assert not after, context
            event("the hook prepared a commit")
        elif done.returncode and self.head() == head and not self.command_in_progress():
            assert after == before, context
            event(f"git refused a {arguments[0]}")
        elif (
            not before
            and arguments[0] not in RESTORING
            and not self.command_in_progress()
            and not {"--squash", "--no-commit"} & {*arguments}
        ):
            assert not after, context
        self.work._time += self.work._time - self.work.now()

    def run(self, *arguments: str, answers: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", "-c", "core.editor=true", *arguments],
            cwd=self.work.path,
            env=self.work._environment(self.work._time.isoformat()),
            input=answers or "",
            capture_output=True,
            text=True,
            check=False,
        )

    def trail_status(self) -> list[str]:
        context = self.run("status", "--porcelain", "--untracked-files=all", "--", AUDIT)
        return context.stdout.splitlines()

    def head(self) -> str:
        return self.run("rev-parse", "HEAD").stdout

    def stages_nothing(self) -> bool:
        """Whether the index equals HEAD or its parent, which `--amend` would replace."""
        return any(
            self.run("diff-index", "--cached", "--quiet", name).returncode == 0
            for name in ("HEAD", "HEAD^")
        )

    def other(self) -> str:
        current = self.run("symbolic-ref", "--short", "HEAD").stdout.strip()
        return "topic" if current == "main" else "main"

    def command_in_progress(self) -> str:
        """Return the command that waits for conflicts to be resolved; empty if none does."""
        states = {
            "merge": "MERGE_HEAD",
            "rebase": "rebase-merge",
            "cherry-pick": "CHERRY_PICK_HEAD",
            "revert": "REVERT_HEAD",
        }
        folder = self.work.path / ".git"
        return next((name for name in ("rebase", *states) if (folder / states[name]).exists()), "")


def ids(log: str) -> set[str]:
    """Return the ids of a log's records."""
    records = (json.loads(line) for line in log.splitlines() if line.startswith("{"))
    return {record["annotation_id"] for record in records if "annotation_id" in record}


class HookedGitSequences(GitSequences):
    """The same with the hook."""

    hooked = True


_SETTINGS: Final = settings(
    max_examples=60 if IS_NIGHTLY else 6,
    stateful_step_count=50 if IS_NIGHTLY else 30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TestGitSequences = GitSequences.TestCase
TestGitSequences.settings = _SETTINGS
TestHookedGitSequences = HookedGitSequences.TestCase
TestHookedGitSequences.settings = _SETTINGS
