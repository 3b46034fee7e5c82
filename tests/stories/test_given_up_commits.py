"""What a hook added to a commit is taken back if that was given up, and only then (R4)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.run_vibes import vibes
from tests.stories.waiting_edits import ALPHA, BETA, GAMMA, waiting
from tests.stories.workspace import LOG, Workspace
from tests.trails import Repository
from vibes_lsp.git.given_up_commits import hook_lock
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.waiting import waiting_place

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    """A repository with an installed hook."""
    made = Workspace(tmp_path / "work", hook=False)
    assert vibes("init", "--project-name", "p", cwd=made.path).code == 0
    made.write("app.py", ALPHA)
    made.step("add", "--all")
    made.step("commit", "-m", "Begin")
    return made


@pytest.mark.parametrize("hashes", ["sha1", "sha256"])
def test_a_first_commit_that_is_given_up(tmp_path: Path, hashes: str) -> None:
    root = tmp_path / "work"
    Repository(root, hashes=hashes)
    work = Workspace(root, hook=False)
    assert vibes("init", "--project-name", "p", cwd=root).code == 0
    edit = work.write_as_ai("app.py", ALPHA, 1, 2)
    work.git("add", "app.py")
    assert work.try_commit("").returncode != 0
    assert waiting(work) == [edit]
    assert work.git("diff", "--cached", "--name-only").split() == ["app.py"]
    assert (work.path / LOG).read_bytes() == b""


def test_what_was_flushed_while_a_commit_was_made_keeps_its_entries(work: Workspace) -> None:
    work.write_as_ai("app.py", ALPHA + BETA, 5, 6)
    work.git("add", "app.py")
    assert work.try_commit("").returncode != 0
    place = waiting_place(AuditDir(work.path / ".ai-audit"))
    assert place is not None
    with hook_lock(place).acquire():  # as while the commit is made: nothing is taken back
        other = work.write_as_ai("b.py", GAMMA, 3, 4)
        assert vibes("flush", cwd=work.path).code == 0
    assert vibes("log", cwd=work.path).code == 0
    records = [json.loads(line) for line in (work.path / LOG).read_text("utf-8").splitlines()]
    [edit] = [record for record in records if record["type"] == "line"]
    assert edit["annotation_id"] == other
    manifest = json.loads((work.path / ".ai-audit/manifest.json").read_text("utf-8"))
    assert edit["environment_hash"] in manifest["entries"]


def test_a_commit_stays_where_only_git_can_tell_what_head_is(work: Workspace) -> None:
    (work.path / ".git/reftable").mkdir()  # refs are in a database: their files say nothing
    edit = work.write_as_ai("app.py", ALPHA + BETA, 5, 6)
    work.step("commit", "-am", "Made")
    assert f'"annotation_id":"{edit}"' in work.git("show", f"HEAD:{LOG}")
    assert vibes("log", cwd=work.path).code == 0
    assert work.status() == ""
    other = work.write_as_ai("b.py", GAMMA, 3, 4)
    work.git("add", "b.py")
    assert work.try_commit("").returncode != 0
    assert waiting(work) == [other]
    assert work.status() == "A  b.py"
