"""The mode of `vibes backfill` that git's pre-commit hook runs: update and stage the trail.

A commit waits for it, so it starts without the other commands and imports what it needs.
"""

from __future__ import annotations

import os
from pathlib import Path

from vibes_lsp.cli.output import escape, print_error, print_warning
from vibes_lsp.errors import VibesError, report
from vibes_lsp.ingest.hook import has_waiting_events
from vibes_lsp.store.audit_dir import AuditDir


def prepare_commit(audit_dir: Path | None) -> int:
    """Update and stage the audit trail, and return the exit code for the hook.

    Problems are warnings, so that the commit goes on, unless it would remove the whole trail.
    """
    try:
        from vibes_lsp.maintenance.lost_records import RemovedTrail  # noqa: PLC0415
        from vibes_lsp.maintenance.pre_commit import prepare_commit as prepare  # noqa: PLC0415

        try:
            prepared = prepare(Path.cwd(), os.environ, audit_dir, prepare=_fold_events)
        except RemovedTrail as error:
            from vibes_lsp.maintenance.hook_script import STOPPED  # noqa: PLC0415

            print_error(error)
            return STOPPED
        for trail in prepared:
            for problem in trail.problems:
                print_warning(
                    f"{trail.directory.path.name} of {escape(trail.directory.project.name)}:"
                    f" {problem.message}"
                )
            if trail.restored:
                records = "a record" if trail.restored == 1 else f"{trail.restored:,} records"
                print_warning(
                    f"this commit lacked {records} of HEAD's audit trail: put back; "
                    "to remove records for good: git commit --no-verify"
                )
    except VibesError as error:
        print_warning(error.message)
    except Exception as error:  # noqa: BLE001  # an internal error must not stop a commit
        print_warning(f"the audit trail was not updated: {report(error).message}")
    return 0


def _fold_events(directory: AuditDir) -> None:
    """Record the events of agents that wait."""
    if has_waiting_events(str(directory.waiting_events)):
        from vibes_lsp.ingest.fold import fold_events  # noqa: PLC0415
        from vibes_lsp.patience import LOCK  # noqa: PLC0415

        fold_events(directory, patience=LOCK)
