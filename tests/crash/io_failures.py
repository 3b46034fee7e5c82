"""Writes that the system rejects; a separate program, since limits and mounts cannot be undone.

Modes: `full FOLDER` on a small file system, `limit FOLDER` with a file size limit, `readonly FOLDER`
on a file system that becomes read-only. Each prints its statistics as one JSON object.
"""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from tests.cli.run_vibes import SCRIPT
from tests.crash.trail_checks import check_trail_invariants
from tests.crash.workloads import reasoning
from tests.unit.store.empty_trail import new_trail, prompt, read_strictly, session
from vibes_lsp.errors import RefusedWrite, VibesError
from vibes_lsp.store.manifest import read_manifest
from vibes_lsp.store.writer import AuditWriter

if TYPE_CHECKING:
    from vibes_lsp.store.audit_dir import AuditDir


class Acknowledged:
    """The acknowledged entries and records."""

    def __init__(self) -> None:
        self.entries: list[str] = []
        self.records: list[str] = []

    def until_refused(self, directory: AuditDir, start: int) -> RefusedWrite:
        """Write until the system rejects it, and return the error."""
        writer = AuditWriter(directory)
        try:
            for number in count(start):
                self.entries += writer.entries(
                    [prompt(f"{number} {'w' * 3000}"), reasoning(f"{number} " * 200)]
                )
                self.records += writer.append(
                    [
                        session(number, prompt_hash=self.entries[-2], part=part, note="n" * 900)
                        for part in range(5)
                    ]
                )
        except RefusedWrite as error:
            return error
        raise AssertionError("endless")


def full(folder: Path) -> dict[str, int]:
    """Fill the disk, free some space, and continue."""
    ballast = folder / "ballast"
    ballast.write_bytes(b"b" * 400_000)
    directory = new_trail(folder / "project")
    acknowledged = Acknowledged()
    refusals = []
    for start in (0, 100_000):
        refusals.append(acknowledged.until_refused(directory, start))
        stands = directory.manifest.read_bytes()
        log = directory.log.read_bytes()
        for _ in range(3):  # each further try finds the disk as full
            acknowledged.until_refused(directory, start + 50_000)
        refused_on_the_command_line(directory.project, "No space left")
        assert directory.log.read_bytes().startswith(log)
        assert {
            json.loads(line)["annotation_id"] for line in directory.log.read_bytes().splitlines()
        } == set(acknowledged.records)
        assert directory.log.read_bytes().endswith(b"\n")
        assert set(acknowledged.entries) <= set(read_manifest(directory))
        try:
            AuditWriter(directory).fold()
        except RefusedWrite as error:
            refusals.append(error)
            assert directory.manifest.read_bytes() == stands
        ballast.write_bytes(b"")
    assert all(
        "No space left" in error.message and "free disk space" in error.hint for error in refusals
    ), refusals
    check_after(directory, acknowledged, folder)
    return {"records": len(acknowledged.records), "refusals": len(refusals)}


def check_after(directory: AuditDir, acknowledged: Acknowledged, folder: Path) -> None:
    """Copy the trail to a larger file system, write there, and check it."""
    roomy = Path(sys.argv[3]) / "project"
    subprocess.run(["cp", "-a", str(directory.project), str(roomy)], check=True)
    moved = type(directory)(roomy / ".ai-audit")
    assert folder.exists()
    AuditWriter(moved).fold()
    check_trail_invariants(moved, acknowledged.entries, acknowledged.records)


def refused_on_the_command_line(project: Path, reason: str) -> None:
    """Run a command as a user would: one line says what failed."""
    given = json.dumps(
        {
            "tool": {"name": "t", "version": "1"},
            "model": {"name": "m", "version": "1"},
            "description": "d" * 60_000,
        }
    )
    done = subprocess.run(
        [SCRIPT, "record", "session-start"],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        cwd=project,
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done
    assert reason in done.stderr, done.stderr


def limit(folder: Path) -> dict[str, int]:
    """Write up to the file size limit: the last write is partial."""
    import resource

    directory = new_trail(folder)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_123, hard))
    acknowledged = Acknowledged()
    error = acknowledged.until_refused(directory, 0)
    assert "too large" in error.message, error.message
    assert directory.log.read_bytes().endswith(b"\n")
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    AuditWriter(directory).fold()
    check_trail_invariants(directory, acknowledged.entries, acknowledged.records)
    return {"records": len(acknowledged.records)}


def readonly(folder: Path) -> dict[str, int]:
    """Try all writes on a read-only file system, with an entry in the journal and without."""
    directory = new_trail(folder / "project")
    waiting = AuditWriter(directory).entry(prompt("waits"))
    before = {path: path.read_bytes() for path in directory.path.rglob("*") if path.is_file()}
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    writer = AuditWriter(directory)
    refused: list[VibesError] = []
    for write in (
        lambda: writer.entry(prompt("a")),
        lambda: writer.append([session(1)]),
        writer.fold,
    ):
        try:
            write()
        except RefusedWrite as error:
            refused.append(error)
    assert ["Read-only file system" in error.message for error in refused] == [True] * 3, [
        error.message for error in refused
    ]
    refused_on_the_command_line(folder / "project", "Read-only file system")
    assert {path: path.read_bytes() for path in before} == before
    assert waiting in read_manifest(directory)
    assert read_strictly(directory).lines == 0
    return {"refusals": len(refused)}


if __name__ == "__main__":
    sys.stdout.write(
        json.dumps(
            {"full": full, "limit": limit, "readonly": readonly}[sys.argv[1]](Path(sys.argv[2]))
        )
    )
