"""`vibes remap`: write anew where annotations are whose commit was rewritten by a rebase or a squash (RFC 7.3.1, R4b)."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.cli.findings import print_records
from vibes_lsp.cli.finishing import finish
from vibes_lsp.cli.options import audit_dir_option, directory_of, json_option
from vibes_lsp.cli.output import print_json, print_line
from vibes_lsp.maintenance.remap import remap
from vibes_lsp.recording import Recorder
from vibes_lsp.recording import as_json as result_as_json


@click.command("remap")
@click.option("--dry-run", is_flag=True, help="Only say what would be written.")
@json_option
@audit_dir_option
def command(dry_run: bool, as_json: bool, audit_dir: Path | None) -> None:
    """Write anew where annotations are whose commit is not in HEAD's history any more."""
    recorder = Recorder(directory_of(audit_dir))
    result = remap(recorder, dry_run=dry_run)
    if not dry_run:
        finish(recorder)
    if as_json:
        print_json(result_as_json(result))
        return
    print_records(result.records)
    would = "would be " if dry_run else ""
    print_line(
        f"{len(result.remapped)} {would}remapped, {len(result.orphaned)} {would}orphaned, {len(result.unchanged)} unchanged"
    )
