"""The hook of `vibes` with the pre-commit framework, which stashes unstaged changes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.hook_repository import executable, health
from tests.requirements import REPOSITORY, require
from tests.trails import Repository

if TYPE_CHECKING:
    from tests.cli.run_vibes import RunVibes

pytestmark = [
    pytest.mark.skipif(
        os.name == "nt", reason="the stubs are shell scripts that the system itself runs"
    ),
]

STUB = """#!/bin/sh
echo "vibes $*" >> "$TOLD"
echo '{"type":"filled"}' >> .ai-audit/annotations.jsonl
git add .ai-audit
"""
FRAMEWORK = Path(sys.prefix) / "bin" / "pre-commit"
LINT = {
    "id": "lint",
    "name": "lint",
    "language": "system",
    "entry": "sh -c 'echo lint >> \"$TOLD\"'",
    "pass_filenames": False,
}


class FrameworkRepository:
    """A repository with the framework and a stub of `vibes` that appends to the log."""

    def __init__(self, root: Path, told: Path) -> None:
        self.root, self.told = root, told
        self.repository = Repository(root)
        self.log = root / ".ai-audit" / "annotations.jsonl"

    def install(self) -> None:
        subprocess.run([FRAMEWORK, "install"], cwd=self.root, check=True, capture_output=True)

    def record(self) -> None:
        """Append a record without staging it, as a recorder does between commits."""
        with self.log.open("a") as file:
            file.write('{"type":"recorded"}\n')

    def commit(self) -> list[str]:
        self.told.unlink(missing_ok=True)
        self.repository.write("file", os.urandom(8).hex())
        self.repository.git("add", "file")
        self.repository.git("commit", "--quiet", "--message", "A change")
        return self.told.read_text().splitlines()

    def configure(self, hook: dict[str, object], **repository: str) -> None:
        self.repository.write(
            ".pre-commit-config.yaml", json.dumps({"repos": [{**repository, "hooks": [hook]}]})
        )


@pytest.fixture
def framework(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_vibes: RunVibes
) -> FrameworkRepository:
    require(FRAMEWORK, "runs our hook as a project with that framework would")
    executable(tmp_path / "bin" / "vibes", STUB)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TOLD", str(tmp_path / "told"))
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "framework"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    framework = FrameworkRepository(tmp_path / "project", tmp_path / "told")
    framework.configure(LINT, repo="local")
    run_vibes("init", "--no-git-hooks", cwd=framework.root)
    framework.repository.commit("Begin")
    return framework


@pytest.mark.parametrize("ours_first", [True, False])
def test_records_survive_the_stash_in_either_order_of_installation(
    framework: FrameworkRepository, run_vibes: RunVibes, ours_first: bool
) -> None:
    steps = [lambda: run_vibes("init", "--git-hooks", cwd=framework.root), framework.install]
    for step in steps if ours_first else reversed(steps):
        step()
    for number in range(1, 3):
        framework.record()
        ours = "vibes backfill --pre-commit --audit-dir ./.ai-audit"
        # a framework that is installed later runs the hook that was there first
        assert framework.commit() == ([ours, "lint"] if ours_first else ["lint", ours])
        assert (
            framework.log.read_text().splitlines()
            == ['{"type":"recorded"}', '{"type":"filled"}'] * number
        )
        assert framework.repository.git("status", "--porcelain") == ""
    assert health(run_vibes("doctor", "--json", cwd=framework.root))[0] == "ok"
    before = run_vibes("init", "--remove-git-hooks", "--json", cwd=framework.root)
    assert before.json["hook"]["change"] == "removed"
    assert framework.commit() == ["lint"]


def test_the_published_hook_runs_the_backfill(
    framework: FrameworkRepository, run_vibes: RunVibes, tmp_path: Path
) -> None:
    published = Repository(tmp_path / "published")
    shutil.copy(REPOSITORY / ".pre-commit-hooks.yaml", published.path)
    revision = published.commit("Publish")
    # the framework would install this package into an environment of its own, from a package index; `system` takes it from PATH
    framework.configure(
        {"id": "vibes-backfill", "language": "system"}, repo=str(published.path), rev=revision
    )
    framework.repository.git("add", "--all")
    framework.install()
    assert framework.commit() == ["vibes backfill --pre-commit"]
    assert framework.log.read_text() == '{"type":"filled"}\n'
    assert framework.repository.git("status", "--porcelain") == ""
    assert health(run_vibes("doctor", "--json", cwd=framework.root)) == (
        "ok",
        f"{framework.root / '.pre-commit-config.yaml'} runs `vibes backfill`",
    )
