"""`python -m` this module `TASK DIRECTORY [FILE]`: long work on a trail for the server.

The server runs it, because a thread that reads a large trail would delay its answers. It prints a
line of progress now and then, `STEP PERCENTAGE`, then the line `result` and one JSON object; see
`child_process.run_task`.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vibes_lsp.errors import VibesError
from vibes_lsp.lsp.state.child_process import CHECK, RESULT
from vibes_lsp.model.members import Members
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.manifest import read_manifest
from vibes_lsp.store.waiting import waiting_files
from vibes_lsp.trail.log_index import LogIndex

if TYPE_CHECKING:
    from vibes_lsp.checks.context import Progress

MAX_FINDINGS: Final = 200
"""Findings about one file that are returned at most."""


def index(directory: AuditDir, progress: Progress) -> Members:
    """Index a log and its manifest, and return `{saved}`: whether other programs find that."""
    from vibes_lsp.trail import stored_entries  # noqa: PLC0415  # loads SQLite

    size = directory.log.stat().st_size if directory.log.is_file() else 0
    log = LogIndex(directory.log, partial(waiting_files, directory), uses_saved=True)
    log.refresh(progress=lambda done: progress("log", done, size))
    manifest = read_manifest(directory, open_saved=stored_entries.open_stored)
    stored_entries.save(directory.manifest, manifest)
    return {"saved": log.lasts and log.problem is None}


def check(
    directory: AuditDir, path: str | None = None, progress: Progress | None = None
) -> Members:
    """Check a trail and return the report, or only the findings about one file."""
    # Imported late: the server starts without the checks.
    from vibes_lsp.checks.context import open_context  # noqa: PLC0415
    from vibes_lsp.checks.report import check_trail  # noqa: PLC0415

    report = check_trail(open_context(directory, datetime.now(UTC), progress))
    if path is None:
        return report.as_json()
    findings = (finding.as_json() for finding in report.findings if finding.file == path)
    return {"findings": list(islice(findings, MAX_FINDINGS))}


def _print_progress() -> Progress:
    printed = ""

    def show(task: str, done: int, total: int) -> None:
        nonlocal printed
        line = f"{task} {min(100, 100 * done // max(total, 1))}\n"
        if line != printed:
            printed = line
            sys.stdout.write(line)
            sys.stdout.flush()

    return show


def main(arguments: list[str]) -> None:
    """Do the work and print its result."""
    task, folder, *paths = arguments
    directory, progress = AuditDir(Path(folder)), _print_progress()
    members: Members
    try:
        if task == CHECK:
            members = check(directory, next(iter(paths), None), progress)
        else:
            members = index(directory, progress)
    except (OSError, VibesError) as error:
        members = {"problem": error.message if isinstance(error, VibesError) else str(error)}
    sys.stdout.write(f"{RESULT}\n{json.dumps(members)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
