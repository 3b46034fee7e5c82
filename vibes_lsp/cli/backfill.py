"""`vibes backfill` (R4, R4b, RFC 7.3.1): which commits annotations belong to.

The mode of the git hook is `cli.commit_hook`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from vibes_lsp.cli.commit_hook import prepare_commit
from vibes_lsp.cli.options import audit_dir_option, dry_run_option, examples, json_option
from vibes_lsp.model.vocabulary import RecordType


@click.command("backfill", epilog=examples("vibes backfill --dry-run", "vibes backfill"))
@click.option(
    "--pre-commit",
    is_flag=True,
    help="Mode of the git hook: write, backfill and stage.",
)
@dry_run_option
@audit_dir_option
@json_option
def command(pre_commit: bool, dry_run: bool, as_json: bool, audit_dir: Path | None) -> int:
    """Write into the log which commit each annotation is from.

    Records again each annotation whose commit is known by now, and each whose commit a rebase or a
    squash has rewritten. Skips the last commit, which may still be amended.
    """
    if pre_commit:
        return prepare_commit(audit_dir)
    _backfill(audit_dir, dry_run=dry_run, as_json=as_json)
    return 0


def _backfill(audit_dir: Path | None, *, dry_run: bool, as_json: bool) -> None:
    # Imported late: a commit waits for this module.
    from vibes_lsp.cli.output import print_json, print_line, print_warning  # noqa: PLC0415
    from vibes_lsp.cli.project import (  # noqa: PLC0415
        audit_directory,
        finish_recording,
        open_recorder,
    )
    from vibes_lsp.cli.tables import print_table  # noqa: PLC0415
    from vibes_lsp.errors import ShallowClone  # noqa: PLC0415
    from vibes_lsp.git.repository import open_repository  # noqa: PLC0415
    from vibes_lsp.maintenance.backfill import backfill  # noqa: PLC0415
    from vibes_lsp.maintenance.remap import Remapped, remap  # noqa: PLC0415

    recorder = open_recorder(audit_directory(audit_dir))
    repository = open_repository(recorder.directory.project)
    filled = backfill(recorder, dry_run=dry_run, repository=repository)
    try:
        moved = remap(recorder, dry_run=dry_run, repository=repository)
    except ShallowClone as error:
        print_warning(f"{error.message}; {error.hint}")
        moved = Remapped((), (), (), (), ())
    if not dry_run:
        finish_recording(recorder)
    records = (*filled.records, *moved.records)
    if as_json:
        print_json(
            {
                "backfilled": filled.backfilled,
                "pending": filled.pending,
                "remapped": moved.remapped,
                "orphaned": moved.orphaned,
                "unchanged": moved.unchanged,
                "edges": (*filled.edges, *moved.edges),
                "records": records,
            }
        )
        return
    rows = [
        (record["annotation_id"][:8], _place(record), record["commit_hash"][:8], record["action"])
        for record in records
    ]
    if rows:
        print_table(["id", "place", "commit", "action"], rows, whole="place")
    would = "would be " if dry_run else ""
    unchanged = len(filled.pending) + len(moved.unchanged)
    print_line(
        f"{len(filled.backfilled)} {would}backfilled, {len(moved.remapped)} {would}remapped,"
        f" {len(moved.orphaned)} {would}orphaned, {unchanged} unchanged"
    )


def _place(record: Mapping[str, Any]) -> str:
    # written records have all their members
    if record["type"] == RecordType.LINE:
        return f"{record['file_path']}:{record['line_start']}-{record['line_end']}"
    return f"{record['file_path']} {record['function_name']}"
