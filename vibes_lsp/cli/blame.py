"""`vibes blame FILE`: which annotation owns each line, with its age, risk and review."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from vibes_lsp.anchors.location import LineKind
from vibes_lsp.anchors.text import Text
from vibes_lsp.cli.options import (
    audit_dir_option,
    examples,
    git_option,
    json_option,
    parse_place,
)
from vibes_lsp.cli.output import (
    BAND_STYLES,
    KIND_MARKS,
    code_lines,
    escape,
    is_plain,
    plain_code_lines,
    print_json,
    print_line,
    print_styled,
    print_text,
    terminal_width,
)
from vibes_lsp.cli.pager import paged
from vibes_lsp.cli.project import now, open_project, path_in_project
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.git.project_files import given_text, read_source
from vibes_lsp.model.ages import short_age
from vibes_lsp.model.members import Members, mapping
from vibes_lsp.model.vocabulary import Verdict
from vibes_lsp.placing.placements import Placement, why_unverified
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.reports.blame import Blame, UnrecordedLines, blame_file, line_kind, line_owners
from vibes_lsp.reports.placements import describe_location, is_reviewed, model_name

if TYPE_CHECKING:
    from vibes_lsp.exchange.note_overlay import LineNote
    from vibes_lsp.git.agent_trailers import AgentTrailer

_MAX_MODEL: Final = 24
_SOURCES: Final[Mapping[str, str]] = {"captured": "captured", "comparedFiles": "compared"}
"""What tells that no event reported the edit, and how the label says it."""
_VERDICT_MARKS: Final[Mapping[str, str]] = {Verdict.APPROVED: "✓", Verdict.REJECTED: "✗"}


@click.command(
    "blame",
    epilog=examples(
        "vibes blame src/auth.py",
        "vibes blame src/auth.py --json",
        "git show HEAD:src/auth.py | vibes blame src/auth.py --contents -",
    ),
)
@click.argument("file", type=click.Path(path_type=Path), help="File of the project.")
@click.option(
    "--contents",
    type=click.Choice(["-"]),
    help="Text of the file from standard input, such as unsaved text.",
)
@click.option(
    "--notes", is_flag=True, help="List what notes and commit trailers say of other lines."
)
@git_option
@audit_dir_option
@json_option
def command(  # noqa: PLR0917
    file: Path,
    contents: str | None,
    notes: bool,
    git: bool,
    audit_dir: Path | None,
    as_json: bool,
) -> None:
    """Show which annotation owns each line of a file.

    The first of an annotation's lines has its id, model, age and risk; the first of other lines
    git's author, where git was asked. Marks: + verified AI line, ? claimed without proof, ~ edited
    since; ✓ approved, ✗ rejected.
    """
    if os.path.isdir(file):  # noqa: PTH112  # Path.is_dir raises for some names
        raise UnreadableFile(
            f"{file} is a folder: expected a file",
            hint=f"for a folder, use `vibes find --file {file}`",
        )
    if not file.exists() and parse_place(str(file)) is not None:
        raise UnreadableFile(f"{file} is not a file", hint=f"for lines, use `vibes show {file}`")
    project = open_project(audit_dir, near=file)
    path = path_in_project(file, project.trail.directory.project)
    root = project.trail.directory.project
    text = (
        given_text(root, path, Text.from_bytes(_read_input()).content)
        if contents
        else read_source(root, path)
    )
    with project.locator(use_git=git, use_cache=True) as locator:
        blame = blame_file(locator, path, text, project.scorer)
        noted, trailers = _said_of_commits(locator, blame) if notes else ([], [])
    if as_json:
        also = {"notes": _as_json(noted), "trailers": _as_json(trailers)} if notes else {}
        print_json({**blame.as_json(), **also})
    else:
        with paged():
            _print_lines(blame)
            _print_other_placements(blame)
            for start, end, note in noted:
                _print_note(start, end, note)
            for start, end, trailer in trailers:
                _print_trailer(start, end, trailer)


def _read_input() -> bytes:
    """Return standard input; what was read of it if the command runs a second time."""
    kept: dict[str, bytes] = click.get_current_context().ensure_object(dict)
    if "input" not in kept:
        kept["input"] = sys.stdin.buffer.read()
    return kept["input"]


def _said_of_commits(
    locator: ProjectLocator, blame: Blame
) -> tuple[list[tuple[int, int, LineNote]], list[tuple[int, int, AgentTrailer]]]:
    """Return what git-ai's notes say of lines that no annotation owns, and trailers of the rest."""
    # Imported late: only where git is asked.
    from vibes_lsp.exchange.brought_lines import committed_file  # noqa: PLC0415
    from vibes_lsp.exchange.note_overlay import notes_of_lines  # noqa: PLC0415
    from vibes_lsp.exchange.trailer_overlay import trailers_of_lines  # noqa: PLC0415

    repository, project = locator.repository, locator.trail.directory.project
    file = None if repository is None else committed_file(repository, project, blame.path)
    if repository is None or file is None:
        return [], []
    notes, trailers = notes_of_lines(repository, file), trailers_of_lines(repository, file)
    known_lines = set(line_owners(blame.placements))
    noted = [] if notes is None else notes.runs(blame.text, known_lines)
    known_lines |= {line for start, end, _ in noted for line in range(start, end + 1)}
    return noted, [] if trailers is None else trailers.runs(blame.text, known_lines)


def _as_json(runs: Iterable[tuple[int, int, LineNote | AgentTrailer]]) -> list[Members]:
    return [
        {"lineStart": start, "lineEnd": end, **attribution.as_json()}
        for start, end, attribution in runs
    ]


def _print_note(start: int, end: int, note: LineNote) -> None:
    place = str(start) if start == end else f"{start}-{end}"
    author = f"{escape(note.tool, 40)} · {escape(note.model, 60)}"
    source = f"note of {escape(note.commit)[:8]}, not recorded here"
    print_styled([(f"git-ai: {author}: ", "bold"), (f"lines {place}; {source}", "")])


def _print_trailer(start: int, end: int, trailer: AgentTrailer) -> None:
    place = f"line {start}" if start == end else f"lines {start}-{end}"
    source = f"of a commit with trailer {escape(trailer.text, 80)}"
    author = f"{escape(trailer.commit)[:8]} {escape(trailer.agent)}"
    print_styled([(f"{author}: ", "bold"), (f"{place} {source}", "")])


def _print_lines(blame: Blame) -> None:
    """Print the lines; an annotation is named at the first line of each block of its lines."""
    from rich.cells import cell_len  # noqa: PLC0415

    owners = line_owners(blame.placements)
    committed = {
        line: unrecorded
        for unrecorded in blame.committed
        for line in range(unrecorded.first, unrecorded.last + 1)
    }
    labels = _labels({id(placement): placement for placement in owners.values()}, blame)
    plain_labels = {key: "".join(text for text, _ in parts) for key, parts in labels.items()}
    label_width = max(map(cell_len, plain_labels.values()), default=0)
    digits = len(str(len(blame.text.lines)))
    beginnings: list[list[tuple[str, str]]] = []
    previous: Placement | UnrecordedLines | None = None
    for number in range(1, len(blame.text.lines) + 1):
        owner, origin = owners.get(number), committed.get(number)
        kind = LineKind.UNRECORDED if owner is None else line_kind(owner, number)
        parts: list[tuple[str, str]] = []
        if labels:
            width = 0
            subject = owner or origin
            if subject is not None and subject is not previous:
                parts += labels[id(subject)]
                width = cell_len(plain_labels[id(subject)])
            mark, style = KIND_MARKS[kind]
            parts += ((" " * (label_width - width), ""), (f" {mark} ", style))
        beginnings.append([*parts, (f"{number:>{digits}} ", "dim")])
        previous = owner or origin
    _print_code(blame, beginnings)


def _print_code(blame: Blame, beginnings: Sequence[Sequence[tuple[str, str]]]) -> None:
    """Print the lines of a file, each after its beginning: parts of text with a style."""
    if is_plain():
        for parts, code in zip(beginnings, plain_code_lines(blame.text.lines), strict=True):
            print_line("".join((*(text for text, _ in parts), code)).rstrip())
        return
    from rich.text import Text as Styled  # noqa: PLC0415

    width = terminal_width()
    for parts, styled in zip(beginnings, code_lines(blame.path, blame.text.lines), strict=True):
        print_text(Styled.assemble(*parts).append_text(styled), width=width)


def _print_other_placements(blame: Blame) -> None:
    """Print the placements that own no line or are not verified."""
    for placement in blame.placements:
        if placement.owned_ranges and why_unverified(placement) is None:
            continue
        role = "history" if placement.is_history else placement.lineage.action or "edit"
        name = placement.current.text("function_name")
        label = f"{escape(role, 20)} {escape(name, 60)}" if name else escape(role, 20)
        print_styled(
            [
                (f"{escape(placement.current.id)[:8]} {label}: ", "bold"),
                (describe_location(placement), ""),
            ]
        )


def _labels(owners: Mapping[int, Placement], blame: Blame) -> dict[int, list[tuple[str, str]]]:
    """Return id, model, age, risk and verdict of each owner, in columns: texts with a style."""
    present = now()
    rows: dict[int, tuple[str, str, str, str]] = {}
    bands: dict[int, str] = {}
    for key, placement in owners.items():
        facts = blame.report.placement(placement)
        model = escape(model_name(facts), _MAX_MODEL)
        band = str(facts["band"] or "")
        bands[key] = band
        rows[key] = (
            escape(placement.current.id)[:8],
            " ".join((model, *(word for name, word in _SOURCES.items() if facts.get(name)))),
            short_age(placement.lineage.first.moment, present),
            f"{band} {_verdict_mark(facts)}".strip(),
        )
    for unrecorded in blame.committed if rows else ():
        rows[id(unrecorded)] = (
            "",
            escape(unrecorded.author, _MAX_MODEL),
            short_age(unrecorded.moment, present),
            "",
        )
    widths = [max(map(len, column)) for column in zip(*rows.values(), strict=True)]
    return {
        key: [
            (f"{identifier:<{widths[0]}} ", "dim"),
            (f"{model:<{widths[1]}} ", "" if identifier else "dim"),
            (f"{age:>{widths[2]}} ", "dim"),
            (f"{risk:<{widths[3]}}", BAND_STYLES.get(bands.get(key, ""), "")),
        ]
        for key, (identifier, model, age, risk) in rows.items()
    }


def _verdict_mark(facts: Members) -> str:
    """Return the mark of a review that counts for the lines as they are."""
    verdict = mapping(facts, "review").get("verdict")
    return _VERDICT_MARKS.get(str(verdict), "") if is_reviewed(facts) else ""
