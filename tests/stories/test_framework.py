"""The pre-commit framework runs the real hook: it stashes unstaged changes and restores them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import forked
from tests.cli.run_vibes import SCRIPT
from tests.requirements import require
from tests.stories.workspace import LOG, ONE, TWO, Workspace

if TYPE_CHECKING:
    from collections.abc import Callable


FRAMEWORK = Path(sys.prefix) / SCRIPT.parent.name / f"pre-commit{SCRIPT.suffix}"
THREE = "\n\ndef three():\n    return 3\n"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A repository with one commit, a trail, and the framework running `vibes backfill`."""
    require(FRAMEWORK, "runs `vibes backfill` as a project with that framework does")
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "framework"))
    made = Workspace(tmp_path / "work", hook=False)
    hook = {
        "id": "vibes-backfill",
        "name": "trail",
        "entry": f"{forked.program().as_posix()} backfill --pre-commit",
        "language": "system",
    }
    configured = {
        "repos": [
            {"repo": "local", "hooks": [{**hook, "always_run": True, "pass_filenames": False}]}
        ]
    }
    made.write(".pre-commit-config.yaml", json.dumps(configured))
    made.init()
    made.step("add", "--all")
    subprocess.run([FRAMEWORK, "install"], cwd=made.path, check=True, capture_output=True)
    made.step("commit", "-m", "Begin")
    return made


def test_a_staged_trail_is_backfilled(work: Workspace) -> None:
    annotation = work.write_as_ai("a.py", ONE, 1, 2)
    work.step("add", "--all")
    commit = work.step("commit", "-m", "One")
    for text, message in ((ONE + TWO, "Two"), (ONE + TWO + THREE, "Three")):
        work.write_as_ai("a.py", text, text.count("\n") - 1, text.count("\n"))
        work.step("add", "--all")
        work.step("commit", "-m", message)
        work.check_invariants()
    assert work.backfilled_commits()[annotation] == commit


def _before_staging(work: Workspace) -> None:
    work.step("add", "a.py")
    work.write_as_ai("b.py", TWO, 3, 4)


def _after_staging(work: Workspace) -> None:
    work.step("add", "--all")
    work.write_as_ai("b.py", TWO, 3, 4)


def _waiting_in_the_journal(work: Workspace) -> None:
    work.step("add", "--all")
    work.record_decision("Which way")
    work.record_decision("How far", fold=False)


@pytest.mark.parametrize("record", [_before_staging, _after_staging, _waiting_in_the_journal])
def test_unstaged_records_are_restored(
    work: Workspace, record: Callable[[Workspace], None]
) -> None:
    work.write_as_ai("a.py", ONE, 1, 2)
    work.step("add", "--all")
    work.step("commit", "-m", "One")
    work.commit_other_file("Another, so that the first is due")
    work.write_as_ai("a.py", ONE + TWO, 5, 6)
    record(work)
    before = (work.path / LOG).read_bytes()
    work.step("commit", "-m", "Two")
    assert (work.path / LOG).read_bytes().startswith(before)
    assert ".ai-audit" not in work.status()
    assert b"b.py" not in (work.path / LOG).read_bytes(), "its record waits for its commit"
    work.step("add", "--all")
    work.commit_other_file("The rest")
    assert (work.path / LOG).read_bytes().startswith(before)
    work.check_invariants()
