"""`vibes export`: current records as an audit trail of their own, or in another format."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.cli.options import audit_dir_option, examples, json_option
from vibes_lsp.cli.output import (
    escape,
    print_json,
    print_json_lines,
    print_line,
    print_warning,
)
from vibes_lsp.cli.project import open_project
from vibes_lsp.errors import MalformedJson, UnreadableFile
from vibes_lsp.exchange.export_agent_trace import (
    ExportedTraces,
    LeftOut,
    export_traces,
    merged_file,
)
from vibes_lsp.maintenance.export import CurrentTrail, current_trail
from vibes_lsp.model.members import mapping
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import read_file, replace_file, write_temporary
from vibes_lsp.store.initialise import check_export_folder, export_trail
from vibes_lsp.store.versions import refuse_unsupported

_REASONS = {
    "history": "superseded",
    "repeated": "repeated",
    "lost": "text is gone",
    "contradicted": "git has the lines from before",
    "guessed": "place is uncertain",
    "absent": "file is not here",
}

_TRACE_REASONS = {
    LeftOut.NO_EDIT: "deletion or review",
    LeftOut.HISTORY: "superseded",
    LeftOut.CONTRADICTED: "git has the lines from before",
    LeftOut.LOST: "text is in no version",
    LeftOut.UNVERIFIED: "lines are unverified",
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
@audit_dir_option
@json_option
@click.pass_context
def command(
    context: click.Context, folder: Path | None, audit_dir: Path | None, as_json: bool
) -> None:
    """Export current records to a trail or another format.

    With --current, writes DIR/.ai-audit with each annotation once, on the lines where it is now.
    """
    if context.invoked_subcommand is not None:
        if folder is not None:
            raise click.UsageError("give --current or a format, not both", context)
        parameters = [
            parameter for parameter in context.command.params if _is_given(context, parameter)
        ]
        if parameters:
            name = context.invoked_subcommand
            raise click.UsageError(f"give {parameters[0].opts[0]} after {name}", context)
        return
    if folder is None:
        raise click.MissingParameter(
            ctx=context, param=context.command.params[0], param_type="option"
        )
    project = open_project(audit_dir, uses_saved=False)
    directory = project.trail.directory
    refuse_unsupported(project.config, project.trail.manifest)
    check_export_folder(folder, directory)
    with project.locator() as locator:
        current = current_trail(locator)
    exported = export_trail(folder, current.files(read_file(directory.config)), source=directory)
    for blob in current.missing_blobs:
        print_warning(f"cannot read {blob[:200]}, which an entry names; left out")
    if as_json:
        print_json({"directory": str(exported.path), **current.as_json()})
    else:
        _print(exported, current)


def _is_given(context: click.Context, parameter: click.Parameter) -> bool:
    source = context.get_parameter_source(parameter.name or "")
    return source is click.core.ParameterSource.COMMANDLINE


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


@command.command(
    "agent-trace",
    epilog=examples(
        "vibes export agent-trace",
        "vibes export agent-trace .agent-trace/traces.jsonl",
    ),
)
@click.argument("file", required=False, type=click.Path(path_type=Path))
@audit_dir_option
@json_option
def agent_trace_command(file: Path | None, as_json: bool, audit_dir: Path | None) -> None:
    """Export annotations as agent-trace records.

    Prints one record a line, or adds them to FILE, where other records stay as they are.
    """
    project = open_project(audit_dir, uses_saved=False)
    with project.locator() as locator:
        exported = export_traces(locator)
    changed = None if file is None else _write_traces(file, exported)
    left_out = {reason.value: count for reason, count in exported.left_out.items()}
    if as_json:
        print_json(
            {
                "records": [record.as_json() for record in exported.records.values()],
                "ranges": exported.ranges,
                "leftOut": left_out,
                **({} if changed is None else {"changed": changed}),
            }
        )
        return
    if file is None:
        print_json_lines(exported.lines().values())
        return
    print_line(escape(file))
    print_line(f"  records   {len(exported.records):,} ({changed:,} new or changed)")
    for reason, count in exported.left_out.items():
        if count:
            print_line(f"  left out  {count:,} ({_TRACE_REASONS[reason]})")


def _write_traces(file: Path, exported: ExportedTraces) -> int:
    """Add the records to a file, and return how many of its lines are new or changed."""
    before = read_file(file)
    try:
        content, changed = merged_file(before, exported)
    except MalformedJson as error:
        raise UnreadableFile(
            f"{file}:{error.line} is not an agent-trace record: {error.reason}",
            hint="nothing was written; name another file",
        ) from None
    if content != before:
        like = None if before is None else file
        replace_file(write_temporary(file.parent, content, like=like), file)
    return changed
