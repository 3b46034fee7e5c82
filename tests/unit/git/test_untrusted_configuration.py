"""A repository's configuration can name programs; none of them runs."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from tests.requirements import require
from tests.trails import Repository, TrailWriter
from tests.trails.repository import START
from tests.unit.git.repositories import commits_by_log, commits_by_path
from tests.unit.trail.trails import ENVIRONMENT
from vibes_lsp.git.agent_trailers import read_agent_trailers
from vibes_lsp.git.current_names import current_names
from vibes_lsp.git.file_changes import (
    commits_by_file,
    file_changes,
    last_changes,
)
from vibes_lsp.git.given_up_commits import FileInIndex, Mark, take_back, write_mark
from vibes_lsp.git.line_origins import line_origins
from vibes_lsp.git.log_additions import ids_added
from vibes_lsp.git.notes import list_notes
from vibes_lsp.git.patches import PatchHunk, commit_patch, staged_patch
from vibes_lsp.git.process import run_git, without_filters
from vibes_lsp.git.repository import open_repository, was_committed
from vibes_lsp.git.staging import commit_files, staged_entries
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.git_folders import read_head
from vibes_lsp.store.waiting import waiting_place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ATTRIBUTES = "* diff=evil filter=evil merge=evil\n"


class Trap:
    """A program that leaves a mark when it runs."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.mark = folder / "was run"
        self.program = folder / "program"
        self.program.write_text(f'#!/bin/sh\ntouch "{self.mark}"\ncat 2>/dev/null\nexit 0\n')
        self.program.chmod(self.program.stat().st_mode | stat.S_IXUSR)

    def ran(self) -> bool:
        ran = self.mark.exists()
        self.mark.unlink(missing_ok=True)
        return ran


@pytest.fixture
def trap(tmp_path: Path) -> Iterator[Trap]:
    require("sh", "runs the program that must not run")
    trap = Trap(tmp_path / "trap")
    yield trap
    assert not trap.ran(), "a program configured in the repository ran"


@pytest.fixture
def writer(tmp_path: Path) -> TrailWriter:
    writer = TrailWriter(tmp_path / "project")
    repository = Repository(tmp_path / "project")
    for number in range(2):
        repository.write("a.py", f"{number}\n")
        writer.line("a.py", 1, 1, environment=ENVIRONMENT)
        repository.commit(f"Commit {number}")
    repository.write("a.py", "changed\n")
    return writer


def call_everything(writer: TrailWriter) -> None:
    git = open_repository(writer.root)
    assert git is not None
    head = git.head()
    assert head is not None
    git.commit_time(head)
    assert git.read_file_below(head, writer.root, "a.py") == b"1\n"
    assert git.nearest_ancestor([head]) == head
    assert "a.py" in git.tracked_files(writer.root)
    git.is_ignored(writer.root / "a.py")
    assert was_committed(writer.root / "a.py", START)
    wanted = [str(record["annotation_id"]) for record in writer.files.records()]
    assert len(commits_by_log(git, writer.files.log, wanted)) == 2
    assert len(commits_by_path(git, writer.root, {"a.py": [START]})) == 1
    (origin,) = line_origins(git, "a.py", head)
    assert origin is not None
    assert origin.commit == head
    parent = git.resolve("HEAD^")
    (log,) = [patch for patch in commit_patch(git, parent, head) if patch.path == "a.py"]
    assert log.hunks == [PatchHunk(0, [b"0"], 0, [b"1"])]
    assert staged_patch(git, parent, ["a.py"]) == [log]
    assert len(ids_added(git, [head], ".ai-audit/annotations.jsonl")[head]) == 1
    assert last_changes(git, head, None)["a.py"].commit == head
    assert current_names(git, ["a.py", "gone.py"]) == {"a.py": "a.py"}
    assert [change.commit for change in file_changes(git, ["HEAD"], ["a.py"])] == [head, parent]
    assert commits_by_file(git, ["HEAD"], ["a.py"]) == {"a.py": {head, parent}}
    assert read_agent_trailers(git.objects, [head]) == {}
    assert list_notes(git, "refs/notes/ai") == {}
    git.close()


def give_up_a_commit(writer: TrailWriter) -> None:
    """Leave staged what a hook added to a commit, and take it back."""
    place = waiting_place(AuditDir(writer.root / ".ai-audit"))
    assert place is not None
    before = staged_entries(writer.root, ["a.py"])["a.py"]
    other = run_git(writer.root, "rev-parse", "HEAD^:a.py").decode().strip()
    filters = without_filters(writer.root)
    cached = ("update-index", "--cacheinfo", f"100644,{other},a.py")
    run_git(writer.root, *cached, environment=filters)
    after = staged_entries(writer.root, ["a.py"])["a.py"]
    assert after != before
    write_mark(place, Mark(read_head(place.root), staged={"a.py": FileInIndex(before, after)}))
    assert take_back(AuditDir(writer.root / ".ai-audit"))
    assert staged_entries(writer.root, ["a.py"]) == {"a.py": before}


def commit_a_file(writer: TrailWriter) -> None:
    """Commit a file as `vibes flush --commit` commits the trail, while git doubts another one."""
    git, file = open_repository(writer.root), writer.root / "new file"
    assert git is not None
    file.write_text("new\n")
    (writer.root / ".git/info").mkdir(exist_ok=True)
    (writer.root / ".git/info/attributes").write_text(".ai-audit/* filter=evil\n")
    doubted = writer.files.log.stat().st_mtime_ns
    os.utime(writer.root / ".git/index", ns=(doubted, doubted))
    assert commit_files(git, [file], "Commit")
    git.close()


SETTINGS = [
    "core.fsmonitor",
    "core.pager",
    "pager.log",
    "core.editor",
    "core.sshCommand",
    "core.askPass",
    "core.gitProxy",
    "core.alternateRefsCommand",
    "diff.external",
    "diff.evil.command",
    "diff.evil.textconv",
    "filter.evil.smudge",
    "filter.evil.clean",
    "filter.evil.process",
    "merge.evil.driver",
    "credential.helper",
    "gpg.program",
    "gpg.ssh.program",
    "interactive.diffFilter",
    "sequence.editor",
    "uploadpack.packObjectsHook",
    "alias.cat-file",
    "alias.log",
    "alias.diff-index",
    "remote.origin.uploadpack",
    "core.fsmonitorHookVersion",
    "trailer.evil.command",
]


@pytest.mark.parametrize("setting", SETTINGS)
def test_no_program_of_the_configuration_runs(
    writer: TrailWriter, trap: Trap, setting: str
) -> None:
    repository = Repository(writer.root)
    (writer.root / ".git/info").mkdir(exist_ok=True)
    (writer.root / ".git/info/attributes").write_text(ATTRIBUTES)
    repository.git(
        "config", setting, ("!" if setting.startswith("alias.") else "") + str(trap.program)
    )
    trap.ran()
    call_everything(writer)
    give_up_a_commit(writer)
    commit_a_file(writer)


def test_no_signature_program_runs(writer: TrailWriter, trap: Trap) -> None:
    repository = Repository(writer.root)
    tree, parent = repository.git("rev-parse", "HEAD^{tree}"), repository.git("rev-parse", "HEAD^")
    commit = (
        f"tree {tree}\nparent {parent}\nauthor A <a@example.org> 1770112800 +0000\n"
        "committer A <a@example.org> 1770112800 +0000\n"
        "gpgsig -----BEGIN PGP SIGNATURE-----\n \n -----END PGP SIGNATURE-----\n\nSigned\n"
    )
    (writer.root / ".git/signed").write_text(commit)
    signed = repository.git("hash-object", "-t", "commit", "-w", ".git/signed")
    repository.git("update-ref", "HEAD", signed)
    repository.git("config", "log.showSignature", "true")
    repository.git("config", "gpg.program", str(trap.program))
    repository.git("log", "-1", "HEAD")
    assert trap.ran(), "git alone runs it: the trap works"
    call_everything(writer)


def test_no_file_system_monitor_runs(writer: TrailWriter, trap: Trap) -> None:
    repository = Repository(writer.root)
    repository.git("config", "core.fsmonitor", str(trap.program))
    repository.git("status", "--short")
    assert trap.ran(), "git alone runs it: the trap works"
    call_everything(writer)
    give_up_a_commit(writer)
    commit_a_file(writer)


def test_no_text_conversion_or_external_diff_runs(writer: TrailWriter, trap: Trap) -> None:
    repository = Repository(writer.root)
    (writer.root / ".git/info").mkdir(exist_ok=True)
    (writer.root / ".git/info/attributes").write_text(ATTRIBUTES)
    repository.git("config", "diff.evil.textconv", str(trap.program))
    repository.git("log", "-p", "-1")
    assert trap.ran(), "git alone runs it: the trap works"
    call_everything(writer)


def test_no_hook_runs(writer: TrailWriter, trap: Trap) -> None:
    hooks = writer.root / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in (
        "post-index-change",
        "post-checkout",
        "reference-transaction",
        "fsmonitor-watchman",
        "pre-commit",
    ):
        (hooks / name).write_text(trap.program.read_text())
        (hooks / name).chmod(0o755)
    call_everything(writer)
    give_up_a_commit(writer)
    commit_a_file(writer)


def test_replacement_objects_do_not_change_history(writer: TrailWriter) -> None:
    repository = Repository(writer.root)
    wanted = [str(record["annotation_id"]) for record in writer.files.records()]
    git = open_repository(writer.root)
    assert git is not None
    before = commits_by_log(git, writer.files.log, wanted)
    replacement = repository.git("commit-tree", "-m", "Another history", "HEAD^{tree}")
    repository.git("replace", repository.head(), replacement)
    assert commits_by_log(git, writer.files.log, wanted) == before


def test_reading_does_not_change_the_repository(writer: TrailWriter) -> None:
    folder = writer.root / ".git"
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    call_everything(writer)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_a_mark_in_a_repository_names_no_file_outside_the_trail(
    writer: TrailWriter, tmp_path: Path
) -> None:
    directory = AuditDir(writer.root / ".ai-audit")
    place = waiting_place(directory)
    assert place is not None
    directory.blobs.mkdir(exist_ok=True)
    own, other = directory.blobs / "own", tmp_path / "other"
    for file in (own, other):
        file.write_text("text")
    outside = ("../../../other", str(other), "..", "")
    write_mark(place, Mark(read_head(place.root), blobs=(*outside, "own")))
    assert take_back(directory)
    assert (own.exists(), other.read_text()) == (False, "text")
