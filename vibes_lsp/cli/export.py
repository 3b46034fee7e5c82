"""`vibes export`: current records as an audit trail of their own, or in another format."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.cli.options import audit_dir_option, examples, git_option, json_option
from vibes_lsp.cli.output import escape, print_json, print_line, print_warning
from vibes_lsp.cli.project import open_project
from vibes_lsp.errors import UnsupportedVersion
from vibes_lsp.maintenance.export import CurrentTrail, current_trail
from vibes_lsp.model.members import mapping
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import read_file
from vibes_lsp.store.initialise import check_export_folder, export_trail
from vibes_lsp.store.versions import unsupported_versions

_REASONS = {
    "history": "superseded",
    "repeated": "repeated",
    "lost": "text is gone",
    "contradicted": "git has the lines from before",
    "guessed": "place is uncertain",
    "absent": "file is not here",
}


@click.group(
    "export",
    invoke_without_command=True,
    subcommand_metavar="[FORMAT]",
    epilog=examples("vibes export --current current-records"),
)
@click.option(
    "--current",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="New or empty folder for an audit trail.",
)
@git_option
@audit_dir_option
@json_option
@click.pass_context
def command(
    context: click.Context, folder: Path | None, git: bool, audit_dir: Path | None, as_json: bool
) -> None:
    """Export current records to a trail or another format.

    With --current, writes DIR/.ai-audit with each annotation once, on the lines where it is now.
    """
    if context.invoked_subcommand is not None:
        if folder is not None:
            raise click.UsageError("give --current or a format, not both", context)
        return
    if folder is None:
        raise click.MissingParameter(
            ctx=context, param=context.command.params[0], param_type="option"
        )
    project = open_project(audit_dir)
    directory = project.trail.directory
    unsupported = unsupported_versions(project.config, project.trail.manifest)
    if unsupported:
        raise UnsupportedVersion(
            unsupported[0],
            hint="nothing was written; upgrade, or correct the version if it is a mistake",
        )
    check_export_folder(folder, directory)
    with project.locator(use_git=git) as locator:
        current = current_trail(locator)
    exported = export_trail(folder, current.files(read_file(directory.config)), source=directory)
    for blob in current.missing_blobs:
        print_warning(f"cannot read {blob[:200]}, which an entry names; left out")
    if as_json:
        print_json({"directory": str(exported.path), **current.as_json()})
    else:
        _print(exported, current)


def _print(exported: AuditDir, current: CurrentTrail) -> None:
    numbers = current.as_json()
    records = ", ".join(
        f"{count:,} {kind}" for kind, count in mapping(numbers, "records").items() if count
    )
    print_line(escape(exported.path))
    print_line(f"  records   {records or 'none'}")
    print_line(f"  entries   {len(current.entries):,}")
    left_out = mapping(numbers, "leftOut")
    for reason, words in _REASONS.items():
        if left_out[reason]:
            print_line(f"  left out  {left_out[reason]:,} ({words})")
