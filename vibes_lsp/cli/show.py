"""`vibes show`: one record with its context and edges; `cli.shown_lines` shows lines."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import click

from vibes_lsp.cli.options import (
    audit_dir_option,
    examples,
    json_option,
    parse_place,
)
from vibes_lsp.cli.output import (
    escape,
    print_json,
    print_line,
    print_styled,
    print_warning,
)
from vibes_lsp.cli.pager import paged
from vibes_lsp.cli.project import now, open_trail
from vibes_lsp.errors import AmbiguousId, BrokenBlob, UnknownId, VibesError
from vibes_lsp.model.ages import describe_age
from vibes_lsp.model.members import JsonValue, Members, mapping, text
from vibes_lsp.model.record_schema import CONTEXT_MEMBERS
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.model.vocabulary import ContextType
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.reports.provenance_graph import DEFAULT_DEPTH, MAX_DEPTH
from vibes_lsp.reports.record_text import entry_text, subject_of
from vibes_lsp.reports.show import current_state, found_as_json
from vibes_lsp.store.reasoning import reasoning_text
from vibes_lsp.trail.lookup import LookupResult, look_up, look_up_exact
from vibes_lsp.trail.trail import Trail

_MAX_TEXT: Final = 2000
_MAX_SHORT_TEXT: Final = 100
_MAX_NAME: Final = 40
_MAX_LISTED: Final = 50
_MAX_NAMED: Final = 3
_ID: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LEFT_OUT: Final = frozenset(
    {
        "anchor_context",
        "anchor_hash",
        "annotation_id",
        "file_content_hash",
        "file_path",
        "function_name",
        "line_end",
        "line_start",
        "reasoning_text_compressed",
        "type",
        *CONTEXT_MEMBERS,
    }
)
"""Members that the heading or another part shows, and hashes of text."""
_TIMES: Final = ("timestamp", "created_at")


@click.command(
    "show",
    epilog=examples(
        "vibes show src/auth.py:24",
        "vibes show 3f2a9c1b --json",
        "vibes show src/auth.py:24 --graph --depth 4",
    ),
)
@click.argument(
    "what",
    metavar="FILE:LINE|ID",
    help="A line, lines as FILE:START-END, or an id or its beginning.",
)
@click.option("--graph", "as_graph", is_flag=True, help="What caused the edit and what came of it.")
@click.option(
    "--depth",
    type=click.IntRange(1, MAX_DEPTH),
    default=DEFAULT_DEPTH,
    show_default=True,
    metavar="N",
    help="Maximum distance in the graph.",
)
@audit_dir_option
@json_option
def command(
    *, what: str, as_graph: bool, depth: int, audit_dir: Path | None, as_json: bool
) -> None:
    """Show who wrote a line and why, or a record.

    For a line: the AI edit that it is from, what was asked, its risk, its review, and whether the
    line is still the same. For an id: the record, context entry or session with its context and
    edges; --json has all members, and ids in full.

    With --graph, prints a Mermaid flowchart, which GitHub and GitLab draw in Markdown: prompt,
    command, decision, reasoning, session and what was read lead to an edit; later edits and reviews
    follow from it. Edits have the lines where they are now.
    """
    place = parse_place(what)
    if place is None:
        refuse_file(what)
    if as_graph:
        from vibes_lsp.cli.shown_lines import print_graph  # noqa: PLC0415

        print_graph(audit_dir, what, depth=depth, as_json=as_json)
        return
    if place is not None:
        # Imported late: an id needs half of these modules.
        from vibes_lsp.cli.shown_lines import show_lines  # noqa: PLC0415

        show_lines(audit_dir, *place, as_json=as_json)
        return
    trail = open_trail(audit_dir)
    lookup = look_up(trail, what)
    warn_of_equal_ids(trail, lookup)
    shown = found_as_json(trail, lookup)
    if as_json:
        print_json(shown)
        return
    with paged():
        _print(trail, lookup, shown)


def warn_of_equal_ids(trail: Trail, lookup: LookupResult) -> None:
    """Warn if records of other lines have the id of the record that is shown."""
    if lookup.record is None:
        return
    shown = subject_of(lookup.record)
    other_subjects = dict.fromkeys(map(subject_of, trail.log.with_id(lookup.id)))
    other_subjects.pop(shown, None)
    if other_subjects:
        named = ", ".join(
            escape(subject, _MAX_SHORT_TEXT) for subject in list(other_subjects)[:_MAX_NAMED]
        )
        print_warning(
            f"the id {lookup.id[:8]} of {escape(shown, _MAX_SHORT_TEXT)}, which is shown, is also"
            f" that of {named}; `vibes check` says which ids are wrong"
        )


def refuse_file(what: str) -> None:
    """Stop where a file is named without a line, in place of an id.

    Raises:
        VibesError: It is a file.
    """
    if Path(what).is_file():
        raise VibesError(
            f"{what} is a file", hint=f"name a line of it, or use `vibes blame {what}`"
        )


def _print(trail: Trail, lookup: LookupResult, shown: Members) -> None:
    members = shown.get("entry", shown.get("record"))
    kind = text(members, "type") if isinstance(members, dict) else None
    subject = subject_of(lookup.record) if lookup.record is not None else ""
    print_styled(
        [
            (f"{escape(kind or lookup.kind, _MAX_NAME)} ", ""),
            (f"{escape(lookup.id)[:8]}", "bold"),
            (f"  {escape(subject, _MAX_TEXT)}" if subject else "", "bold"),
        ]
    )
    if isinstance(members, dict):
        if lookup.record is not None and lookup.record.is_annotation:
            with ProjectLocator(trail, use_cache=True) as locator:
                members = {**current_state(locator, lookup.record), **members}
        _print_members(members)
        _print_reasoning(trail, members)
        for name in CONTEXT_MEMBERS:
            _print_context(trail, name, members)
    edges = shown["edges"]
    if isinstance(edges, dict):
        if edges["out"] or edges["in"]:
            print_line()
        _print_edges(trail, edges["out"], arrow="->", end="target")
        _print_edges(trail, _from_others(edges), arrow="<-", end="source")


def _print_members(members: Members) -> None:
    """Print members as a person reads them: ages, short ids, and one element a line."""
    shown = {name: value for name, value in members.items() if name not in _LEFT_OUT}
    width = min(max(map(len, shown), default=0), _MAX_NAME)
    for name, value in shown.items():
        if value is None:
            continue
        elements = value if isinstance(value, list) and value else [value]
        for number, element in enumerate(elements[:_MAX_LISTED]):
            label = escape(name, _MAX_NAME) if number == 0 else ""
            print_styled(
                [(f"  {label:<{width}}  ", "dim"), (escape(_value(name, element), _MAX_TEXT), "")],
                indent=width + 4,
            )
        if len(elements) > _MAX_LISTED:
            print_styled([(f"  {'':<{width}}  … {len(elements) - _MAX_LISTED:,} more", "dim")])


def _value(name: str, value: JsonValue) -> str:
    if isinstance(value, dict):
        return _element(value)
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    moment = parse_timestamp(value) if name in _TIMES else None
    if moment is not None:
        return f"{describe_age(moment, now())} ({value})"
    return value[:8] if _ID.fullmatch(value) else value


def _element(element: Members) -> str:
    """Return a risk factor, an option of a decision, or another object on one line."""
    signal, option = text(element, "signal"), text(element, "description")
    if signal:
        reason = text(element, "reason")
        of_score = f"{element.get('value')} x {element.get('weight')}"
        return f"{signal} {of_score}{f': {reason}' if reason else ''}"
    if option:
        return f"{text(element, 'id') or '?'}: {option}"
    return json.dumps(element, ensure_ascii=False)


def _print_context(trail: Trail, member: str, members: Members) -> None:
    """Print the context entry that a member of a record names."""
    key = text(members, member)
    if key is None:
        return
    name = member.removesuffix("_hash")
    entry = trail.manifest.entry(key)
    print_line()
    if entry is None:
        absent = "context not published" if not len(trail.manifest) else "no such entry"
        print_styled([(f"{name} ", ""), (escape(key)[:8], "bold"), (f": {absent}", "")])
        return
    print_styled([(f"{name} ", ""), (escape(key)[:8], "bold")])
    _print_members(entry)
    _print_reasoning(trail, entry)


def _print_reasoning(trail: Trail, entry: Members) -> None:
    """Print reasoning that is compressed or in a blob; `_print_members` prints inline text."""
    if entry.get("type") != ContextType.REASONING or text(entry, "reasoning_text") is not None:
        return
    try:
        body = reasoning_text(entry, trail.directory)
    except BrokenBlob as error:
        body = f"({error.message})"
    print_styled([("  reasoning_text  ", "dim"), (escape(body, _MAX_TEXT), "")])


def _from_others(edges: Members) -> list[JsonValue]:
    """Return the edges to an annotation; those between its own records lead from it as well."""
    into, out = edges["in"], edges["out"]
    return [
        edge
        for edge in (into if isinstance(into, list) else [])
        if not isinstance(out, list) or edge not in out
    ]


def _print_edges(trail: Trail, edges: JsonValue, *, arrow: str, end: str) -> None:
    """Print the edges of one direction with what is at their other end."""
    for edge in edges if isinstance(edges, list) else []:
        if isinstance(edge, dict):
            identifier = text(edge, f"{end}_ref") or text(edge, f"{end}_id") or ""
            kind, what = _end(trail, identifier)
            kind = kind or text(edge, f"{end}_type") or "annotation"
            note = text(mapping(edge, "metadata"), "note")
            print_styled(
                [
                    (f"{arrow} ", "dim"),
                    (f"{escape(edge.get('edge_type'), _MAX_NAME)} ", ""),
                    (f"{escape(kind, _MAX_NAME)} ", "dim"),
                    (escape(identifier)[:8], "bold"),
                    (f"  {escape(what, _MAX_SHORT_TEXT)}", ""),
                    (f"  {escape(note, _MAX_SHORT_TEXT)}" if note else "", "italic"),
                ]
            )


def _end(trail: Trail, identifier: str) -> tuple[str, str]:
    """Return type and text of what is at an end of an edge; empty if it is not in the trail."""
    try:
        lookup = look_up_exact(trail, identifier)
    except (UnknownId, AmbiguousId):
        return "", ""
    if lookup is None:
        return "", ""
    if lookup.record is not None:
        return "", subject_of(lookup.record)
    if lookup.session is not None:
        return "", lookup.session.text("description") or lookup.session.text("agent_name") or ""
    return text(lookup.entry or {}, "type") or "", entry_text(lookup.entry or {})
