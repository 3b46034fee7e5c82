"""`vibes import …`: what other tools recorded becomes annotations of this trail."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

import click

from vibes_lsp.agents.past_sessions import READ_AGENTS
from vibes_lsp.agents.session_files import Reading
from vibes_lsp.cli.keyboard import is_interactive
from vibes_lsp.cli.options import (
    audit_dir_option,
    dry_run_option,
    examples,
    json_option,
    since_option,
)
from vibes_lsp.cli.output import (
    escape,
    print_json,
    print_line,
    print_warning,
    progress,
)
from vibes_lsp.cli.project import audit_directory, finish_recording, open_recorder
from vibes_lsp.cli.tables import print_table
from vibes_lsp.exchange.import_agent_trace import read_agent_trace
from vibes_lsp.exchange.import_git_ai import read_git_ai
from vibes_lsp.exchange.import_plan import Imported, PlannedRecord
from vibes_lsp.exchange.import_transcripts import TranscriptReader
from vibes_lsp.exchange.record_imports import ReadCandidates, record_imports
from vibes_lsp.recording import Recorder
from vibes_lsp.recording.results import as_json as result_as_json

_MAX_SOURCE = 40
_MAX_BEGINNING = 14
_MAX_FOLDERS = 5


@click.group("import")
def command() -> None:
    """Import what other tools recorded.

    Each subcommand reads one format. Edits that the trail has already are skipped, and lines
    that cannot be placed in a version are refused or marked as unverified. Exits 1 if everything is
    refused.
    """


def run_import(
    read: ReadCandidates,
    audit_dir: Path | None,
    *,
    dry_run: bool,
    as_json: bool,
    confirm: Callable[[Imported], bool] | None = None,
) -> int:
    """Import what a reader yields and print the result; a preview lists each record about a file.

    Returns the exit code: 1 if all that was read is refused.

    Args:
        read: The reader of the format.
        audit_dir: What `--audit-dir` names.
        dry_run: Write nothing.
        as_json: Print JSON.
        confirm: Is asked with what would be recorded.
    """
    directory = audit_directory(audit_dir)
    recorder = Recorder(directory) if dry_run else open_recorder(directory)
    answers: list[bool] = []

    def ask(plan: Imported) -> bool:
        answers.append(confirm is None or confirm(plan))
        return answers[-1]

    imports = record_imports(recorder, read, dry_run=dry_run, confirm=ask)
    if not dry_run:
        finish_recording(recorder)
    if recorder.warning is not None:
        print_warning(recorder.warning)
    code = 1 if imports.refused and not imports.imported and not imports.known else 0
    if as_json:
        print_json(result_as_json(imports))
        return code
    if answers == [False]:
        print_line("Nothing was imported.")
        return 0
    rows = [record for record in imports.records if record.file_path is not None] if dry_run else []
    if rows:
        print_table(
            ["source", "place", "outcome"],
            [
                (escape(_shortened(record.place)), _place(record), _outcome(record))
                for record in rows
            ],
        )
    _print_counts(imports, dry_run=dry_run)
    if dry_run and imports.imported:
        print_line("Import them with the same command without --dry-run.")
    return code


def _shortened(place: str) -> str:
    """Return a place without the middle of a long path: the agent's folder, file and line stay."""
    home = f"{os.path.expanduser('~')}{os.sep}"  # noqa: PTH111  # Path.home may raise
    near = f"~{os.sep}{place.removeprefix(home)}" if place.startswith(home) else place
    if len(near) <= _MAX_SOURCE:
        return near
    return f"{near[:_MAX_BEGINNING]}…{near[_MAX_BEGINNING + 1 - _MAX_SOURCE :]}"


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


def _print_counts(imports: Imported, *, dry_run: bool) -> None:
    would = "would be " if dry_run else ""
    unverified = f" ({imports.unverified:,} unverified)" if imports.unverified else ""
    print_line(
        f"{imports.imported:,} {would}imported{unverified},"
        f" {imports.known:,} known, {imports.refused:,} refused"
    )
    for reason, count in imports.reasons.items():
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
@audit_dir_option
@json_option
def agent_trace_command(
    paths: tuple[Path, ...], dry_run: bool, as_json: bool, audit_dir: Path | None
) -> int:
    """Import agent-trace records.

    PATH is a file, or a folder with files; by default .agent-trace of the project. Only ranges
    that an AI wrote are imported.
    """
    return run_import(read_agent_trace(paths), audit_dir, dry_run=dry_run, as_json=as_json)


@command.command("git-ai", epilog=examples("vibes import git-ai --dry-run", "vibes import git-ai"))
@dry_run_option
@audit_dir_option
@json_option
def git_ai_command(dry_run: bool, as_json: bool, audit_dir: Path | None) -> int:
    """Import the notes of git-ai.

    Reads the notes in refs/notes/ai on the commits in the history of HEAD. Only lines that a
    commit introduced are imported.
    """
    return run_import(read_git_ai, audit_dir, dry_run=dry_run, as_json=as_json)


@command.command(
    "transcripts",
    epilog=examples(
        "vibes import transcripts --dry-run",
        "vibes import transcripts --agent codex --since 2026-09-01",
    ),
)
@click.option(
    "--agent",
    "agents",
    type=click.Choice(list(READ_AGENTS)),
    multiple=True,
    help="Agent, also several times.  [default: all]",
)
@since_option("an edit")
@click.option(
    "--former-folder",
    "former_folders",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="DIR",
    help="Folder in which this repository was before, also several times.",
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@dry_run_option
@audit_dir_option
@json_option
def transcripts_command(  # noqa: PLR0917  # click passes them by name
    agents: Sequence[str],
    since: datetime | None,
    former_folders: Sequence[Path],
    yes: bool,
    dry_run: bool,
    as_json: bool,
    audit_dir: Path | None,
) -> int:
    """Import what agents did before hooks recorded it.

    Reads the session files that agents keep on this machine, of sessions in this repository. Edits
    are replayed over git's history; those whose lines a commit introduced are recorded.
    """
    reader = TranscriptReader(
        Path.home(),
        [READ_AGENTS[name] for name in agents or READ_AGENTS],
        since,
        [str(folder.absolute()) for folder in former_folders],
    )
    asks = not yes and not as_json and is_interactive()
    with ExitStack() as shown:
        reader.progress = shown.enter_context(progress())

        def confirm(plan: Imported) -> bool:
            shown.close()
            if not asks:
                return True
            _print_counts(plan, dry_run=True)
            return click.confirm("Import?", default=True)

        code = run_import(reader.read, audit_dir, dry_run=dry_run, as_json=as_json, confirm=confirm)
    _print_reading(reader.reading, as_json=as_json)
    return code


def _print_reading(reading: Reading, *, as_json: bool) -> None:
    for message in reading.unreadable:
        print_warning(escape(message))
    if as_json:
        return
    print_line(
        f"{reading.files:,} session files of this repository,"
        f" {reading.other_files:,} of other folders"
    )
    if reading.broken_lines:
        print_line(f"  {reading.broken_lines:>6,}  lines cannot be read")
    gone = sorted(reading.missing_folders.items(), key=lambda folder_count: -folder_count[1])
    if gone:
        print_line("Folders of sessions that are gone; if one was this repository,")
        print_line("name it with --former-folder:")
    for folder, count in gone[:_MAX_FOLDERS]:
        print_line(f"  {count:>6,}  {escape(folder)}")
