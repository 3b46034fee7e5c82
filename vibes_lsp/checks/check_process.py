"""`python -m vibes_lsp.checks.check_process DIRECTORY [FILE]`: check a trail for the server.

The server runs it, because a thread that reads a large trail would delay its answers. It prints a
line of progress now and then, `TASK DONE TOTAL`, then the line `result` and one JSON object.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vibes_lsp.errors import VibesError
from vibes_lsp.model.members import Members
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.log_follower import bounded_lines

if TYPE_CHECKING:
    from vibes_lsp.checks.context import Progress
    from vibes_lsp.checks.report import Report

RESULT: Final = "result"
MAX_FINDINGS: Final = 200
"""Findings about one file that are returned at most."""
_MAX_LINE: Final = 10_000
_NICENESS: Final = 5
_SECONDS: Final = 0.2
"""Time between two lines of progress."""


def findings_with_lines(report: Report, directory: AuditDir, path: str) -> list[Members]:
    """Return the first findings about a file, each with the text of its line.

    The file is read line by line: a log may be larger than memory.
    """
    found = [each for each in report.findings if each.file == path][:MAX_FINDINGS]
    wanted = {max(each.line or 1, 1) for each in found}
    texts: dict[int, str] = {}
    with suppress(OSError), (directory.project / path).open("rb") as file:
        for number, line in enumerate(islice(bounded_lines(file), max(wanted, default=0)), 1):
            if number in wanted:
                texts[number] = line[: 4 * _MAX_LINE].decode("utf-8", "replace").rstrip("\r\n")
    return [
        {**each.as_json(), "text": texts.get(max(each.line or 1, 1), "")[:_MAX_LINE]}
        for each in found
    ]


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
    return {"findings": list(findings_with_lines(report, directory, path))}


def _shown_progress() -> Progress:
    shown = time.monotonic()

    def show(task: str, done: int, total: int) -> None:
        nonlocal shown
        if time.monotonic() - shown >= _SECONDS:
            shown = time.monotonic()
            sys.stdout.write(f"{task} {done} {total}\n")
            sys.stdout.flush()

    return show


def main(arguments: list[str]) -> None:
    """Check and print."""
    result: Members
    try:
        path = next(iter(arguments[1:]), None)
        result = check(AuditDir(Path(arguments[0])), path, _shown_progress())
    except VibesError as error:
        result = {"problem": error.message}
    sys.stdout.write(f"{RESULT}\n{json.dumps(result)}\n")


if __name__ == "__main__":
    if sys.platform != "win32":
        with suppress(OSError):
            os.nice(_NICENESS)
    main(sys.argv[1:])
