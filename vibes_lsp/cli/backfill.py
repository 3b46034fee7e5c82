"""`vibes backfill` (R4) and `vibes remap` (RFC 7.3.1, R4b): which commits annotations belong to.

The mode of the git hook is `cli.commit_hook`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vibes_lsp.cli.commit_hook import prepare_commit
from vibes_lsp.cli.options import audit_dir_option, dry_run_option, examples, json_option
from vibes_lsp.cli.output import print_json, print_line
from vibes_lsp.model.vocabulary import RecordType

if TYPE_CHECKING:
    from vibes_lsp.maintenance.backfill import Backfilled
    from vibes_lsp.maintenance.remap import Remapped


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
    """Add commit hashes to annotations.

    Records again each annotation whose commit is known by now. Skips the last commit, which may
    still be amended.
    """
    if pre_commit:
        return prepare_commit(audit_dir)
    from vibes_lsp.cli.project import (  # noqa: PLC0415
        audit_directory,
        finish_recording,
        open_recorder,
    )
    from vibes_lsp.maintenance.backfill import backfill  # noqa: PLC0415

    recorder = open_recorder(audit_directory(audit_dir))
    result = backfill(recorder, dry_run=dry_run)
    if not dry_run:
        finish_recording(recorder)
    would = "would be " if dry_run else ""
    counts = f"{len(result.backfilled)} {would}backfilled, {len(result.pending)} unchanged"
    _print_result(result, counts, as_json=as_json)
    return 0


@click.command("remap", epilog=examples("vibes remap --dry-run", "vibes remap"))
@dry_run_option
@audit_dir_option
@json_option
def remap_command(dry_run: bool, as_json: bool, audit_dir: Path | None) -> None:
    """Update annotations after a rebase or squash.

    Finds the new commit of each annotation whose commit is no longer in the history of HEAD.
    """
    from vibes_lsp.cli.project import (  # noqa: PLC0415
        audit_directory,
        finish_recording,
        open_recorder,
    )
    from vibes_lsp.maintenance.remap import remap  # noqa: PLC0415

    recorder = open_recorder(audit_directory(audit_dir))
    result = remap(recorder, dry_run=dry_run)
    if not dry_run:
        finish_recording(recorder)
    would = "would be " if dry_run else ""
    counts = (
        f"{len(result.remapped)} {would}remapped, {len(result.orphaned)} {would}orphaned,"
        f" {len(result.unchanged)} unchanged"
    )
    _print_result(result, counts, as_json=as_json)


def _print_result(result: Backfilled | Remapped, counts: str, *, as_json: bool) -> None:
    """Print a result as JSON, or its annotations with their new commit and then the counts."""
    from vibes_lsp.cli.tables import print_table  # noqa: PLC0415
    from vibes_lsp.recording import as_json as result_as_json  # noqa: PLC0415

    if as_json:
        print_json(result_as_json(result))
        return
    rows = [
        (record["annotation_id"][:8], _place(record), record["commit_hash"][:8], record["action"])
        for record in result.records
    ]
    if rows:
        print_table(["id", "place", "commit", "action"], rows, whole="place")
    print_line(counts)


def _place(record: Mapping[str, Any]) -> str:
    # written records have all their members
    if record["type"] == RecordType.LINE:
        return f"{record['file_path']}:{record['line_start']}-{record['line_end']}"
    return f"{record['file_path']} {record['function_name']}"
