"""What the hook leaves alone, and that no failure stops a commit."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.cli.run_vibes import vibes
from tests.stories.workspace import LOG, ONE, TWO, Workspace

if TYPE_CHECKING:
    from pathlib import Path


def test_an_ignored_trail_is_backfilled_and_not_committed(work: Workspace) -> None:
    work.write(".gitignore", ".ai-audit/\n")
    annotation = work.write_as_ai("a.py", ONE, 1, 2)
    work.step("add", "a.py", ".gitignore")
    commit = work.step("commit", "-m", "One")
    work.make_two_commits()
    assert work.backfilled_commits() == {annotation: commit}
    assert work.git("ls-files", ".ai-audit") == ""
    work.check_invariants()


def test_policy_changes_are_not_staged(work: Workspace) -> None:
    work.write_as_ai("a.py", ONE, 1, 2)
    work.step("add", "a.py")
    work.step("commit", "-m", "One")
    config = work.path / ".ai-audit/config.json"
    config.write_text(config.read_text("utf-8").replace("medium", "high"), "utf-8")
    work.write_as_ai("a.py", ONE + TWO, 5, 6)
    work.step("add", "a.py")
    work.step("commit", "-m", "Two")
    assert work.status() == " M .ai-audit/config.json"


def test_the_trails_of_packages_are_committed_with_their_files(tmp_path: Path) -> None:
    work = Workspace(tmp_path / "work")
    inner = Workspace(tmp_path / "work/packages/größe one", hook=False)
    (inner.path / ".git").rename(tmp_path / "not needed")
    inner.init()
    inner.write_as_ai("a.py", ONE, 1, 2)
    work.write("b.py", "x = 1\n")
    work.step("add", "b.py")
    work.step("commit", "-m", "Elsewhere")
    assert "packages" not in work.git("ls-tree", "-r", "--name-only", "HEAD")
    work.step("add", "packages/größe one/a.py")
    work.step("commit", "-m", "Inside")
    assert work.status() == ""


def test_the_pre_commit_framework_has_no_changes_of_ours_to_stash(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stashes unstaged changes and restores them as a patch, so there must be none."""
    monkeypatch.setenv("PRE_COMMIT", "1")
    work.step("add", "--all")
    work.write_as_ai("a.py", ONE, 1, 2)
    work.step("add", "--all")
    work.step("commit", "-m", "One")
    work.write_as_ai("a.py", ONE + TWO, 5, 6)
    assert work.status() == " M a.py"
    work.commit_other_file("Two")
    assert work.status() == " M a.py"
    work.step("commit", "-am", "Three")
    work.check_invariants()


@pytest.mark.parametrize("broken", ["manifest", "config", "log", "filter"])
def test_no_failure_stops_a_commit(work: Workspace, broken: str) -> None:
    work.write_as_ai("a.py", ONE, 1, 2)
    work.step("add", "a.py")
    work.step("commit", "-m", "One")
    trail = work.path / ".ai-audit"
    work.write_as_ai("a.py", ONE + TWO, 5, 6)
    if broken == "filter":
        os.utime(trail / "annotations.jsonl", (1, 1))  # else git compares its content
        work.git("add", LOG)
        work.write(".gitattributes", "*.jsonl filter=evil\n")
        work.git("config", "filter.evil.clean", "touch trapped; cat")
    else:
        name = {"manifest": "manifest.json", "config": "config.json", "log": "annotations.jsonl"}[
            broken
        ]
        (trail / name).write_bytes(b"<<<<<<< ours\n")
    work.git("add", "a.py")
    work.git("commit", "--quiet", "-m", "Two")
    assert not (work.path / "trapped").exists()
    assert work.git("show", "--format=%s", "--name-only", "HEAD").splitlines()[0] == "Two"


def test_outside_a_repository_and_without_a_trail_nothing_happens(tmp_path: Path) -> None:
    done = vibes("backfill", "--pre-commit", cwd=tmp_path)
    assert (done.code, done.out, done.err) == (0, "", "")
    work = Workspace(tmp_path / "work")
    work.write("a.py", "x\n")
    work.step("add", "a.py")
    work.step("commit", "-m", "No trail")
    assert work.git("ls-files") == "a.py"
    done = vibes("backfill", cwd=work.path)
    assert done.code == 2
    assert "vibes init" in done.err


def test_a_commit_in_another_repository_is_left_alone(work: Workspace, tmp_path: Path) -> None:
    other = Workspace(tmp_path / "other", hook=False)
    work.write_as_ai("a.py", ONE, 1, 2)
    done = vibes(
        "backfill",
        "--pre-commit",
        cwd=work.path,
        GIT_DIR=str(other.path / ".git"),
        GIT_INDEX_FILE=str(other.path / ".git/index"),
    )
    assert done.code == 0
    assert "which is not the repository of" in done.err
    assert other.git("ls-files") == ""
    assert work.git("ls-files") == ""
