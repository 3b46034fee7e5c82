"""`vibes import …`: what other tools recorded becomes annotations of this trail."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.cli.options import audit_dir_option, dry_run_option, examples, json_option
from vibes_lsp.cli.output import escape, print_json, print_line, print_table, print_warning
from vibes_lsp.cli.project import audit_directory, finish_recording, open_recorder
from vibes_lsp.exchange.import_agent_trace import read_agent_trace
from vibes_lsp.exchange.import_git_ai import read_git_ai
from vibes_lsp.exchange.import_plan import Imported, PlannedRecord
from vibes_lsp.exchange.record_imports import ReadCandidates, record_imports
from vibes_lsp.recording import Recorder
from vibes_lsp.recording import as_json as result_as_json

_MAX_SOURCE = 40


@click.group("import")
def command() -> None:
    """Import what other tools recorded.

    Each subcommand reads one format. What the trail has already is not recorded again, and lines
    that cannot be placed in a version are refused or marked as unverified.
    """


def run_import(
    read: ReadCandidates, audit_dir: Path | None, *, dry_run: bool, as_json: bool
) -> None:
    """Import what a reader yields and print the result; a preview lists each record.

    Args:
        read: The reader of the format.
        audit_dir: What `--audit-dir` names.
        dry_run: Write nothing.
        as_json: Print JSON.
    """
    directory = audit_directory(audit_dir)
    recorder = Recorder(directory) if dry_run else open_recorder(directory)
    result = record_imports(recorder, read, dry_run=dry_run)
    if not dry_run:
        finish_recording(recorder)
    if recorder.warning is not None:
        print_warning(recorder.warning)
    if as_json:
        print_json(result_as_json(result))
        return
    if dry_run and result.records:
        print_table(
            ["source", "place", "outcome"],
            [
                (escape(each.place, _MAX_SOURCE), _place(each), _outcome(each))
                for each in result.records
            ],
        )
    _print_counts(result, dry_run=dry_run)


def _place(record: PlannedRecord) -> str:
    if record.file_path is None:
        return ""
    if record.line_start is None:
        return record.file_path
    return f"{record.file_path}:{record.line_start}-{record.line_end}"


def _outcome(record: PlannedRecord) -> str:
    detail = record.reason or (
        f"by {record.evidence}" if record.evidence != "none" else "unverified"
    )
    return f"{record.outcome}: {detail}"


def _print_counts(result: Imported, *, dry_run: bool) -> None:
    would = "would be " if dry_run else ""
    unverified = f" ({result.unverified:,} unverified)" if result.unverified else ""
    print_line(
        f"{result.imported:,} {would}imported{unverified},"
        f" {result.known:,} known, {result.refused:,} refused"
    )
    for reason, count in result.reasons.items():
        print_line(f"  {count:>6,}  {escape(reason)}")


@command.command(
    "agent-trace",
    epilog=examples(
        "vibes import agent-trace --dry-run",
        "vibes import agent-trace .agent-trace/traces.jsonl",
    ),
)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path))
@dry_run_option
@json_option
@audit_dir_option
def agent_trace_command(
    paths: tuple[Path, ...], dry_run: bool, as_json: bool, audit_dir: Path | None
) -> None:
    """Import agent-trace records.

    PATH is a file, or a folder with files; by default .agent-trace of the project. Only ranges
    that an AI wrote are imported.
    """
    run_import(read_agent_trace(paths), audit_dir, dry_run=dry_run, as_json=as_json)


@command.command("git-ai", epilog=examples("vibes import git-ai --dry-run", "vibes import git-ai"))
@dry_run_option
@json_option
@audit_dir_option
def git_ai_command(dry_run: bool, as_json: bool, audit_dir: Path | None) -> None:
    """Import the notes of git-ai.

    Reads the notes in refs/notes/ai on the commits in the history of HEAD. Only lines that a
    commit introduced are imported.
    """
    run_import(read_git_ai, audit_dir, dry_run=dry_run, as_json=as_json)
