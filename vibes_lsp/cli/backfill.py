"""`vibes backfill`: write into the log which commits brought annotations (R4); with `--pre-commit`, what git's hook calls."""

from __future__ import annotations

import os
from pathlib import Path

import click

from vibes_lsp.cli.findings import print_records
from vibes_lsp.cli.finishing import finish
from vibes_lsp.cli.options import audit_dir_option, directory_of, json_option
from vibes_lsp.cli.output import plain, print_json, print_line, print_warning
from vibes_lsp.errors import VibesError, report
from vibes_lsp.maintenance.backfill import backfill
from vibes_lsp.recording import Recorder
from vibes_lsp.recording import as_json as result_as_json


@click.command("backfill")
@click.option(
    "--pre-commit",
    is_flag=True,
    help="Called by git's hook: fold, back-fill and stage the trail; never stops the commit.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be written.")
@json_option
@audit_dir_option
def command(pre_commit: bool, dry_run: bool, as_json: bool, audit_dir: Path | None) -> None:
    """Write into the log which commits brought annotations; not of the last commit, which may be amended."""
    if pre_commit:
        _prepare(audit_dir)
        return
    recorder = Recorder(directory_of(audit_dir))
    result = backfill(recorder, dry_run=dry_run)
    if not dry_run:
        finish(recorder)
    if as_json:
        print_json(result_as_json(result))
        return
    print_records(result.records)
    verb = "would get" if dry_run else "got"
    print_line(
        f"{len(result.backfilled)} annotations {verb} their commit, {len(result.pending)} stay as they are"
    )


def _prepare(audit_dir: Path | None) -> None:
    """Prepare a commit. Whatever happens, the commit goes on."""
    try:
        from vibes_lsp.maintenance.pre_commit import prepare_commit  # noqa: PLC0415

        prepared = prepare_commit(Path.cwd(), os.environ, audit_dir)
        for each in prepared:
            for problem in each.problems:
                print_warning(
                    f"{each.directory.path.name} of {plain(each.directory.project.name)}: {problem.message}"
                )
    except VibesError as error:
        print_warning(error.message)
    except Exception as error:  # noqa: BLE001  # a bug of ours must not keep anyone from committing
        print_warning(f"the audit trail was not brought up to date: {report(error).message}")
