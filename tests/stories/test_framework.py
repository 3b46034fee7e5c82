"""The pre-commit framework calls the real back-fill: it puts aside what is not staged, and whatever was recorded comes back."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.run_vibes import SCRIPT
from tests.requirements import require
from tests.stories.workspace import LOG, Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
]  # each commit runs the framework, git and this program

FRAMEWORK = Path(sys.prefix) / SCRIPT.parent.name / f"pre-commit{SCRIPT.suffix}"
ONE = "def one():\n    return 1\n"
TWO = "\n\ndef two():\n    return 2\n"
THREE = "\n\ndef three():\n    return 3\n"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A repository with one commit and its trail, in which the framework runs the back-fill."""
    require(FRAMEWORK, "runs the back-fill as a project with that framework would")
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "framework"))
    made = Workspace(tmp_path / "work", hook=False)
    hook = {
        "id": "vibes-backfill",
        "name": "trail",
        "entry": f"{SCRIPT.as_posix()} backfill --pre-commit",
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


def test_a_trail_that_is_staged_is_filled_in(work: Workspace) -> None:
    annotation = work.ai("a.py", ONE, 1, 2)
    work.step("add", "--all")
    commit = work.step("commit", "-m", "One")
    for text, message in ((ONE + TWO, "Two"), (ONE + TWO + THREE, "Three")):
        work.ai("a.py", text, text.count("\n") - 1, text.count("\n"))
        work.step("add", "--all")
        work.step("commit", "-m", message)
        work.is_sound()
    assert work.filled_in()[annotation] == commit


def _before_staging(work: Workspace) -> None:
    work.step("add", "a.py")
    work.ai("b.py", TWO, 3, 4)


def _after_staging(work: Workspace) -> None:
    work.step("add", "--all")
    work.ai("b.py", TWO, 3, 4)


def _waiting_in_the_journal(work: Workspace) -> None:
    work.step("add", "--all")
    work.decide("Which way")
    work.decide("How far", fold=False)


@pytest.mark.parametrize("record", [_before_staging, _after_staging, _waiting_in_the_journal])
def test_what_was_recorded_and_not_staged_comes_back(
    work: Workspace, record: Callable[[Workspace], None]
) -> None:
    work.ai("a.py", ONE, 1, 2)
    work.step("add", "--all")
    work.step("commit", "-m", "One")
    work.go_on("Another, so that the first is due")
    work.ai("a.py", ONE + TWO, 5, 6)
    record(work)
    before = (work.path / LOG).read_bytes()
    work.step("commit", "-m", "Two")
    assert (work.path / LOG).read_bytes() == before
    work.step("add", "--all")
    work.go_on("The rest")
    assert (work.path / LOG).read_bytes().startswith(before)
    work.is_sound()
