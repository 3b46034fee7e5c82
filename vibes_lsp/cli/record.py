"""`vibes record …`: recording from a shell, one JSON object in and one out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import click

from vibes_lsp.cli.agents import refuse_agents
from vibes_lsp.cli.options import audit_dir_option, examples
from vibes_lsp.cli.output import print_json, print_warning
from vibes_lsp.cli.project import finish_recording, open_recorder
from vibes_lsp.errors import MalformedJson, UnreadableFile, VibesError
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.members import Members
from vibes_lsp.recording import RecordReview, Request
from vibes_lsp.recording.requests import REQUESTS, parse
from vibes_lsp.store.audit_dir import AuditDir, find_audit_dir, named_audit_dir
from vibes_lsp.store.files import read_file

_HELP: Final = {
    "session-start": "Start a session.",
    "session-end": "End a session.",
    "annotate": "Record lines or a function that an AI changed.",
    "inline-completion": "Record an accepted inline completion, or part of one.",
    "prompt": "Record what a session was asked, before it acts.",
    "command": "Record a command that a session has run.",
    "read": "Record that a session has read files.",
    "decision": "Record a decision between options.",
    "delegation": "Record that a session hands work to another.",
    "edge": "Record an edge between two records or entries.",
    "review": "Record a verdict on annotations.",
    "reanchor": "Correct the lines of an annotation.",
    "mark-lost": "Record that an annotation's lines are gone.",
}

MAX_REQUEST: Final = 128 << 20
"""Largest request, in bytes: room for the text of the largest source file, escaped."""


@click.group("record", epilog=examples("vibes record annotate --input edit.json"))
def command() -> None:
    """Record what an AI did.

    Each subcommand reads one JSON object from standard input and prints one.
    """


def _subcommand(name: str, kind: type[Request[Any]]) -> click.Command:
    members = ", ".join(field.alias or each for each, field in kind.model_fields.items())

    @click.command(name, help=f"{_HELP[name]}\n\nMembers of the object: {members}.")
    @click.option(
        "--input",
        "source",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Read the object from a file instead.",
    )
    @audit_dir_option
    def run(source: Path | None, audit_dir: Path | None) -> None:
        request = parse(kind, _members(source))
        if isinstance(request, RecordReview) and request.reviewer_kind == "human":
            refuse_agents()
        recorder = open_recorder(_directory(audit_dir, request))
        print_json(recorder.execute_json(request))
        finish_recording(recorder, wait=False)
        if recorder.warning is not None:
            print_warning(recorder.warning)

    return run


def _members(source: Path | None) -> Members:
    if source is not None and source.exists() and not source.is_file():
        what = "is a folder" if source.is_dir() else "is not a regular file"
        raise UnreadableFile(
            f"{source} {what}",
            hint="name a file that holds one JSON object, or give it on standard input",
        )
    where = "standard input" if source is None else str(source)
    data = (
        sys.stdin.buffer.read(MAX_REQUEST + 1)
        if source is None
        else read_file(source, limit=MAX_REQUEST)
    )
    if data is not None and len(data) > MAX_REQUEST:
        raise VibesError(
            f"{where} has more than the {MAX_REQUEST:,} bytes of a request",
            hint="save the file and leave out its text",
        )
    if data is None:
        raise UnreadableFile(
            f"{source} does not exist", hint="name a file that holds one JSON object"
        )
    try:
        return parse_object(data)
    except MalformedJson as error:
        raise VibesError(f"{where}: {error.message}", hint="give one JSON object") from None


def _directory(audit_dir: Path | None, request: Request[Any]) -> AuditDir:
    """Return the named trail, else the nearest above the file, else above the current folder."""
    if audit_dir is not None:
        return named_audit_dir(audit_dir)
    path = request.path
    absolute = path is not None and Path(path).is_absolute()
    return find_audit_dir(Path(path).parent if path is not None and absolute else Path.cwd())


for _name, _kind in REQUESTS.items():
    command.add_command(_subcommand(_name, _kind))
