"""The hook that `vibes init --git-hooks` installs, with the real command."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.hook_repository import executable
from tests.cli.run_vibes import vibes
from tests.stories.workspace import LOG, ONE, TWO, Workspace

if TYPE_CHECKING:
    from pathlib import Path


BEFORE = (
    '#!/bin/sh\ngit diff --cached --name-only >> "$(git rev-parse --git-dir)/was-there-before"\n'
)


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    """A repository with a previous hook, to which `vibes init --git-hooks` adds its own."""
    made = Workspace(tmp_path / "work", hook=False)
    executable(made.path / ".git/hooks/pre-commit", BEFORE)
    done = vibes("init", "--git-hooks", "--project-name", "p", cwd=made.path)
    assert (done.code, done.err) == (0, "")
    made.step("add", "--all")
    made.step("commit", "-m", "Begin")
    return made


def test_amend_rebase_and_merge(
    work: Workspace,
) -> None:
    one = work.write_as_ai("a.py", ONE, 1, 2)
    work.step("add", "a.py")
    first = work.step("commit", "-m", "One")
    work.check_invariants()

    two = work.write_as_ai("b.py", TWO, 3, 4)
    work.step("add", "b.py")
    work.step("commit", "-m", "Two")
    second = work.step("commit", "--amend", "-m", "Two, with a better message")
    work.check_invariants()
    assert work.owners("b.py") == [(3, 4, "exact", second, "log")]

    work.branch("topic", first)
    work.switch("topic")
    three = work.write_as_ai("c.py", ONE, 1, 2)
    work.step("add", "c.py")
    work.step("commit", "-m", "Three")
    third = work.step("rebase", "main")
    work.check_invariants()
    assert work.owners("c.py") == [(1, 2, "exact", third, "log")]

    work.switch("main")
    four = work.write_as_ai("d.py", ONE, 1, 2)
    work.step("add", "d.py")
    fourth = work.step("commit", "-m", "Four")
    work.step("merge", "--no-ff", "-m", "Bring it together", "topic")
    work.check_invariants()
    work.make_two_commits()
    work.check_invariants()
    assert work.backfilled_commits() == {one: first, two: second, three: third, four: fourth}
    assert [work.owners(path)[0][3:] for path in ("a.py", "c.py")] == [
        (first, "recorded"),
        (third, "recorded"),
    ]


def test_the_previous_hook_still_runs_and_sees_what_is_committed(
    work: Workspace,
) -> None:
    seen_by_hook = work.path / ".git/was-there-before"
    seen_by_hook.unlink()
    work.write_as_ai("a.py", ONE, 1, 2)
    work.step("add", "a.py")
    work.step("commit", "-m", "One")
    assert seen_by_hook.read_text("utf-8").splitlines() == ["a.py"], "ours runs after it"
    assert LOG in work.git("show", "--name-only", "--format=", "HEAD").splitlines()
    assert vibes("init", "--remove-git-hooks", cwd=work.path).code == 0
    seen_by_hook.unlink()
    work.write("b.py", TWO)
    work.step("add", "b.py")
    work.step("commit", "-m", "Two")
    assert seen_by_hook.read_text("utf-8").splitlines() == ["b.py"]
