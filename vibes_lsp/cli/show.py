"""`vibes show ID`: one record, entry or session with its context and edges."""

from __future__ import annotations

import json
from pathlib import Path

import click

from vibes_lsp.cli.options import audit_dir_option, examples, json_option
from vibes_lsp.cli.output import escape, print_json, print_line, print_styled
from vibes_lsp.cli.project import open_trail
from vibes_lsp.errors import BrokenBlob
from vibes_lsp.index.lookup import look_up
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.members import JsonValue, Members, text
from vibes_lsp.model.vocabulary import CONTEXT_MEMBERS, ContextType
from vibes_lsp.reports.show import found_as_json
from vibes_lsp.store.reasoning import reasoning_text

_MAX_TEXT = 2000
_MAX_NAME = 40


@click.command("show", epilog=examples("vibes show 3f2a9c1b", "vibes show 3f2a9c1b --json"))
@click.argument(
    "identifier",
    metavar="ID",
    help="Id of an annotation, edge, context or session, or its beginning.",
)
@audit_dir_option
@json_option
def command(identifier: str, audit_dir: Path | None, as_json: bool) -> None:
    """Show a record, context entry or session.

    Prints its context and its edges as well. Any unique beginning of an id will do.
    """
    trail = open_trail(audit_dir)
    found = look_up(trail, identifier)
    result = found_as_json(trail, found)
    if as_json:
        print_json(result)
        return
    print_styled([(f"{found.kind} ", "bold"), (escape(found.id, 100), "")])
    members = result.get("entry", result.get("record"))
    if isinstance(members, dict):
        _print_members(members, "  ")
        _print_reasoning(trail, members, "  ")
        for name in CONTEXT_MEMBERS:
            _print_context(trail, name, members)
    edges = result["edges"]
    if isinstance(edges, dict):
        _print_edges(edges["out"], arrow="->", end="target")
        _print_edges(edges["in"], arrow="<-", end="source")


def _print_members(members: Members, indent: str) -> None:
    width = min(max(map(len, members), default=0), _MAX_NAME)
    for name, value in members.items():
        if value is not None and name != "reasoning_text_compressed":
            printed = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            print_styled(
                [
                    (f"{indent}{escape(name, _MAX_NAME):<{width}}  ", "dim"),
                    (escape(printed, _MAX_TEXT), ""),
                ]
            )


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
        print_styled([(f"{name} ", "bold"), (f"{escape(key[:16])}: {absent}", "")])
        return
    print_styled([(f"{name} ", "bold"), (escape(key[:16]), "")])
    _print_members(entry, "  ")
    _print_reasoning(trail, entry, "  ")


def _print_reasoning(trail: Trail, entry: Members, indent: str) -> None:
    """Print reasoning that is compressed or in a blob; `_print_members` prints inline text."""
    if entry.get("type") != ContextType.REASONING or text(entry, "reasoning_text") is not None:
        return
    try:
        body = reasoning_text(entry, trail.directory)
    except BrokenBlob as error:
        body = f"({error.message})"
    print_styled([(f"{indent}reasoning_text  ", "dim"), (escape(body, _MAX_TEXT), "")])


def _print_edges(edges: JsonValue, *, arrow: str, end: str) -> None:
    """Print the edges of one direction with what is at their other end."""
    for edge in edges if isinstance(edges, list) else []:
        if isinstance(edge, dict):
            other = text(edge, f"{end}_ref") or text(edge, f"{end}_id") or ""
            kind = text(edge, f"{end}_type") or "annotation"
            edge_type = escape(edge.get("edge_type"), _MAX_NAME)
            described = f"{edge_type} {escape(kind, _MAX_NAME)} {escape(other[:36])}"
            print_styled([(f"{arrow} ", "bold"), (described, "")])
