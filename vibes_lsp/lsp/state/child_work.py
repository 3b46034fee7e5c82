"""`python -m` this module `DIRECTORY [FILE]`: check a large trail for the server.

The server runs it, because a thread that checks for minutes would delay its answers. It prints a
line of progress now and then, `STEP PERCENTAGE`, then the line `result` and one JSON object; see
`child_process.run_check`.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vibes_lsp.errors import VibesError
from vibes_lsp.lsp.state.child_process import RESULT
from vibes_lsp.model.members import Members
from vibes_lsp.store.audit_dir import AuditDir

if TYPE_CHECKING:
    from vibes_lsp.checks.context import Progress

MAX_FINDINGS: Final = 200
"""Findings about one file that are returned at most."""


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
    """Check the trail and print the result."""
    folder, *paths = arguments
    members: Members
    try:
        members = check(AuditDir(Path(folder)), next(iter(paths), None), _print_progress())
    except (OSError, VibesError) as error:
        members = {"problem": error.message if isinstance(error, VibesError) else str(error)}
    sys.stdout.write(f"{RESULT}\n{json.dumps(members)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
