"""Access to a trail for tests: the reader, the check report, and `vibes` as a process."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from tests.cli.run_vibes import CommandResult, vibes
from tests.trails import AUDIT_DIR
from vibes_lsp.checks.context import open_context
from vibes_lsp.checks.report import Report, check_trail
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.trail import Trail

NOW: Final = datetime(2026, 3, 1, tzinfo=UTC)
LOG: Final = f"{AUDIT_DIR}/annotations.jsonl"
MANIFEST: Final = f"{AUDIT_DIR}/manifest.json"
CONFIG: Final = f"{AUDIT_DIR}/config.json"

READ_COMMANDS: Final = (
    ("check",),
    ("log",),
    ("stats", "--by", "session"),
    ("stats", "--by", "model"),
    ("stats",),
    ("doctor",),
)
"""Subcommands that read a whole trail and need no argument."""


def audit_dir(root: Path) -> AuditDir:
    """Return the audit directory of the project at `root`."""
    return AuditDir(root / AUDIT_DIR)


def open_trail(root: Path) -> Trail:
    """Return the current trail of the project at `root`."""
    trail = Trail(audit_dir(root))
    trail.refresh()
    return trail


def check_project(root: Path, base: str | None = None) -> Report:
    """Check the trail of the project at `root`, at a fixed time."""
    return check_trail(open_context(audit_dir(root), NOW), base)


def finding_fields(
    report: Report, file: str | None = None, line: int | None = None
) -> set[tuple[str, str | None]]:
    """Return check and field of all findings, or of those on one line of a file."""
    return {
        (finding.check.id, finding.field)
        for finding in report.findings
        if (file is None or finding.file == file) and (line is None or finding.line == line)
    }


def severities(report: Report, check: str) -> set[str]:
    """Return the severities of a check's findings."""
    return {finding.severity.value for finding in report.findings if finding.check.id == check}


def finding_locations(report: Report, check: str) -> list[tuple[str, int | None]]:
    """Return the file and line of each finding of a check."""
    return [
        (finding.file, finding.line) for finding in report.findings if finding.check.id == check
    ]


def log_lines(root: Path) -> int:
    """Return how many lines the log has."""
    return (root / LOG).read_bytes().count(b"\n")


def snapshot(root: Path) -> dict[str, bytes]:
    """Return every file of the audit directory with its content."""
    folder = root / AUDIT_DIR
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


_ENVIRONMENT: Final = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "COLUMNS": "200",
    "PYTHONIOENCODING": "utf-8",
}


def run_vibes(root: Path, *arguments: str) -> CommandResult:
    """Run `vibes` in a new process in the folder `root`."""
    return vibes(*arguments, cwd=root, **_ENVIRONMENT)


def run_vibes_commands(
    root: Path, commands: Iterable[tuple[str, ...]], *more: str
) -> CommandResult:
    """Run several commands, each with `more` arguments; return the highest exit code and all output."""
    runs = [run_vibes(root, *command, *more) for command in commands]
    return CommandResult(
        max(run.code for run in runs),
        "".join(run.out for run in runs),
        "".join(run.err for run in runs),
    )
