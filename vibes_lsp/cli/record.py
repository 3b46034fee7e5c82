"""`vibes record …`: recording from a shell, one JSON object in and one out.

`annotate` and `review` also take what people type: FILE:START-END and options.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import click

from vibes_lsp.cli.agents import refuse_agents
from vibes_lsp.cli.options import audit_dir_option, examples, parse_place
from vibes_lsp.cli.output import (
    escape,
    is_terminal,
    print_json,
    print_line,
    print_note,
    print_warning,
)
from vibes_lsp.cli.project import finish_recording, open_recorder
from vibes_lsp.errors import AuditDirNotFound, MalformedJson, UnreadableFile, VibesError
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.members import JsonValue, Members
from vibes_lsp.model.vocabulary import Action, EdgeType, ReviewerKind, Verdict
from vibes_lsp.recording import RecordEdge, RecordReview, Request
from vibes_lsp.recording.across_projects import addressed_to_owner, visiting_request
from vibes_lsp.recording.requests import REQUESTS, parse
from vibes_lsp.recording.results import HIDDEN
from vibes_lsp.store.audit_dir import AuditDir, find_audit_dir, named_audit_dir
from vibes_lsp.store.files import read_file
from vibes_lsp.trail.trail import Trail

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


_UNKNOWN_VERSION: Final = "unknown"

_Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]


_PLACE_OPTIONS: Final[Mapping[str, tuple[_Decorator, ...]]] = {
    "annotate": (
        click.option(
            "--tool", metavar="TEXT", help="Tool that made the edit, as NAME or NAME@VERSION."
        ),
        click.option(
            "--model", metavar="TEXT", help="Model of the lines, as NAME or NAME@VERSION."
        ),
        click.option("--prompt", metavar="TEXT", help="What the model was asked."),
        click.option("--session", metavar="ID", help="Session, in place of tool and model."),
        click.option(
            "--action",
            type=click.Choice([Action.CREATE.value, Action.MODIFY.value, Action.DELETE.value]),
            help="What was done.  [default: create]",
        ),
    ),
    "review": (
        click.option(
            "--verdict",
            type=click.Choice([verdict.value for verdict in Verdict]),
            help="The verdict.",
        ),
        click.option("--note", metavar="TEXT", help="A note on the verdict."),
    ),
}
"""The options of the subcommands that take a place in a file."""


@click.group(
    "record",
    epilog=examples(
        "vibes record annotate a.py:1-9 --tool chat --model some-model",
        "vibes record annotate --input edit.json",
        "vibes record review a.py:1-9 --verdict approved",
    ),
)
def command() -> None:
    """Record what an AI did.

    Each subcommand reads one JSON object from standard input and prints one. Those that take
    FILE:LINES need no object.
    """


def _subcommand(name: str, kind: type[Request[Any]]) -> click.Command:
    names = ", ".join(field.alias or field_name for field_name, field in kind.model_fields.items())

    @click.option(
        "--input",
        "source",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Read the object from a file instead.",
    )
    @audit_dir_option
    def run(
        source: Path | None, audit_dir: Path | None, place: str | None = None, **options: str | None
    ) -> None:
        chosen_options = {option: value for option, value in options.items() if value is not None}
        if place is None and chosen_options:
            raise VibesError(
                f"--{next(iter(chosen_options))} needs FILE:START-END, such as src/a.py:3-9"
            )
        if place is not None and source is not None:
            raise VibesError("give FILE:START-END or --input, not both")
        members = _members(source) if place is None else _typed_members(name, place, chosen_options)
        request = parse(kind, members)
        if _may_be_a_persons_review(request):
            refuse_agents()
        directory, request, homes = _addressed(audit_dir, request)
        recorder = open_recorder(directory)
        recorded = recorder.execute_json(visiting_request(recorder, homes, request))
        if place is not None and is_terminal():
            _print_result(recorded)
        else:
            print_json(recorded)
        finish_recording(recorder, wait=False)
        if recorder.warning is not None:
            print_warning(recorder.warning)

    decorated: Callable[..., Any] = run
    if name in _PLACE_OPTIONS:
        what = "Lines, in place of an object."
        decorated = click.argument("place", required=False, metavar="[FILE:START-END]", help=what)(
            decorated
        )
        for option in reversed(_PLACE_OPTIONS[name]):
            decorated = option(decorated)
    help_text = f"{_HELP[name]}\n\nMembers of the object: {names}."
    return click.command(name, help=help_text)(decorated)


def _may_be_a_persons_review(request: Request[Any]) -> bool:
    if isinstance(request, RecordEdge):
        kind = (request.metadata or {}).get("kind")
        return request.edge_type == EdgeType.REVIEWED_BY and kind != ReviewerKind.AI
    return isinstance(request, RecordReview) and request.reviewer_kind == "human"


def _print_result(recorded: Members) -> None:
    """Print what a typed command recorded, for the person who typed it."""
    record = recorded.get("record")
    if "reviewed" in recorded:
        print_line(f"reviewed: {_short_ids(recorded['reviewed']) or 'nothing'}")
        lost = _short_ids(recorded.get("leftOut"))
        if lost:
            print_line(f"not reviewed, because their lines are not found: {lost}")
    elif isinstance(record, dict):
        place = f"{record.get('file_path')}:{record.get('line_start')}-{record.get('line_end')}"
        score = record.get("risk_score")
        risk = f", risk {score:.2f}" if isinstance(score, int | float) else ""
        print_line(f"recorded {escape(recorded['annotationId'])[:8]}: {escape(place)}{risk}")
    else:
        print_line("nothing was recorded: the project does not track this file")
    withheld = recorded.get("withheld")
    names = list(map(str, withheld)) if isinstance(withheld, list) else []
    if HIDDEN in names:
        names.remove(HIDDEN)
        print_line("not recorded, because git stores the file through a filter: anchors")
    if names:
        print_line(f"not recorded at this assurance level: {escape(', '.join(names))}")
    if recorded.get("masked"):
        print_line(f"secrets masked: {recorded['masked']}")


def _short_ids(ids: JsonValue) -> str:
    return ", ".join(escape(identifier)[:8] for identifier in ids) if isinstance(ids, list) else ""


def _typed_members(subcommand: str, place: str, options: Mapping[str, str]) -> Members:
    """Return the object that a place and options stand for.

    Raises:
        VibesError: The place is malformed.
    """
    lines = parse_place(place)
    if lines is None:
        raise VibesError(f"invalid place {place!r}: expected FILE:START-END, such as src/a.py:3-9")
    file, start, end = lines
    members: Members = {
        "file": str(file.absolute()),
        "lineStart": start,
        "lineEnd": end,
    }
    if subcommand == "annotate":
        _require_author(options)
        members["action"] = Action.CREATE.value
    elif "verdict" not in options:
        raise VibesError(f"--verdict is required: {' or '.join(Verdict)}")
    for name, value in options.items():
        members["sessionId" if name == "session" else name] = _typed_value(name, value)
    return members


def _require_author(options: Mapping[str, str]) -> None:
    """Stop where options do not say which AI wrote the lines.

    Raises:
        VibesError: One is missing.
    """
    author_options = {"tool", "model", "session"} & set(options)
    if not author_options:
        raise VibesError("--tool and --model are required, or --session instead")
    for option, required in (("tool", "model"), ("model", "tool")):
        if option in author_options and required not in author_options:
            raise VibesError(f"--{required} is required with --{option}")


def _typed_value(name: str, value: str) -> JsonValue:
    if name in {"tool", "model"}:
        named, _, version = value.rpartition("@")
        if not named:  # no version, or a name that begins with the mark, such as @scope/tool
            named, version = value, ""
        return {"name": named, "version": version or _UNKNOWN_VERSION}
    if name == "prompt":
        return {"text": value, "type": "user_instruction"}
    return value


def _members(source: Path | None) -> Members:
    if source is not None and source.exists() and not source.is_file():
        what = "is a folder" if source.is_dir() else "is not a regular file"
        raise UnreadableFile(
            f"{source} {what}",
            hint="name a file that holds one JSON object, or give it on standard input",
        )
    where = "standard input" if source is None else str(source)
    if source is None and sys.stdin.isatty():
        print_note("waiting for one JSON object on standard input")
    content = (
        sys.stdin.buffer.read(MAX_REQUEST + 1)
        if source is None
        else read_file(source, limit=MAX_REQUEST)
    )
    if content is not None and len(content) > MAX_REQUEST:
        raise VibesError(
            f"{where} has more than the {MAX_REQUEST:,} bytes of a request",
            hint="save the file and leave out its text",
        )
    if content is None:
        raise UnreadableFile(
            f"{source} does not exist", hint="name a file that holds one JSON object"
        )
    try:
        return parse_object(content)
    except MalformedJson as error:
        raise VibesError(f"{where}: {error.message}", hint="give one JSON object") from None


def _addressed(
    audit_dir: Path | None, request: Request[Any]
) -> tuple[AuditDir, Request[Any], list[Trail]]:
    """Return the trail that a request is for, the request, and the trails of its session.

    The trail is the named one, else the one that owns the file, else that of the current folder.
    """
    if audit_dir is not None:
        return named_audit_dir(audit_dir), request, []
    try:
        home = find_audit_dir(Path.cwd())
    except AuditDirNotFound:
        home = None
    owner, addressed = addressed_to_owner(request, Path.cwd() if home is None else home.project)
    if home is None or (owner is not None and owner.path.resolve() != home.path.resolve()):
        homes = [] if home is None else [Trail(home, uses_saved=True)]
        return owner or find_audit_dir(Path.cwd()), addressed, homes
    return home, request, []


for _name, _kind in REQUESTS.items():
    command.add_command(_subcommand(_name, _kind))
