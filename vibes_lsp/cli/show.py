"""`vibes show ID`: one record, entry or session with its relations."""

from __future__ import annotations

import json
from pathlib import Path

import click

from vibes_lsp.cli.options import audit_dir_option, json_option, open_trail
from vibes_lsp.cli.output import plain, print_json, print_line, styled
from vibes_lsp.errors import BrokenBlob
from vibes_lsp.index.lookup import look_up
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.members import JsonValue, Members, text
from vibes_lsp.model.vocabulary import ContextType
from vibes_lsp.reports.record import shown
from vibes_lsp.store.reasoning import reasoning_text

_HASHES = ("environment_hash", "prompt_hash", "command_hash", "reasoning_hash", "decision_hash")
_MAX_TEXT = 2000
_MAX_NAME = 40


@click.command("show")
@click.argument("identifier", metavar="ID")
@audit_dir_option
@json_option
def command(identifier: str, audit_dir: Path | None, as_json: bool) -> None:
    """Show what ID names; any unique prefix of an annotation, context or session id will do."""
    trail = open_trail(audit_dir)
    found = look_up(trail, identifier)
    result = shown(trail, found)
    if as_json:
        print_json(result)
        return
    styled([(f"{found.kind} ", "bold"), (plain(found.id, 100), "")])
    members = result.get("entry", result.get("record"))
    if isinstance(members, dict):
        _print_members(members, "  ")
        _print_reasoning(trail, members, "  ")
        for name in _HASHES:
            _print_context(trail, name, members)
    edges = result["edges"]
    if isinstance(edges, dict):
        _print_edges("out", edges["out"])
        _print_edges("in", edges["in"])


def _print_members(members: Members, indent: str) -> None:
    width = min(max(map(len, members), default=0), _MAX_NAME)
    for name, value in members.items():
        if value is not None and name != "reasoning_text_compressed":
            printed = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            styled(
                [
                    (f"{indent}{plain(name, _MAX_NAME):<{width}}  ", "dim"),
                    (plain(printed, _MAX_TEXT), ""),
                ]
            )


def _print_context(trail: Trail, name: str, members: Members) -> None:
    key = text(members, name)
    if key is None:
        return
    entry = trail.manifest.entry(key)
    print_line()
    if entry is None:
        absent = "context not published" if not len(trail.manifest) else "no such entry"
        styled([(f"{name.removesuffix('_hash')} ", "bold"), (f"{plain(key[:16])}: {absent}", "")])
        return
    styled([(f"{name.removesuffix('_hash')} ", "bold"), (plain(key[:16]), "")])
    _print_members(entry, "  ")
    _print_reasoning(trail, entry, "  ")


def _print_reasoning(trail: Trail, entry: Members, indent: str) -> None:
    """Print reasoning that is not inline, which `_print_members` could not."""
    if entry.get("type") != ContextType.REASONING or text(entry, "reasoning_text") is not None:
        return
    try:
        body = reasoning_text(entry, trail.directory)
    except BrokenBlob as error:
        body = f"({error.message})"
    styled([(f"{indent}reasoning_text  ", "dim"), (plain(body, _MAX_TEXT), "")])


def _print_edges(direction: str, edges: JsonValue) -> None:
    for edge in edges if isinstance(edges, list) else []:
        if isinstance(edge, dict):
            other = text(edge, "target_ref" if direction == "out" else "source_ref") or text(
                edge, "target_id" if direction == "out" else "source_id"
            )
            kind = (
                text(edge, "target_type" if direction == "out" else "source_type") or "annotation"
            )
            arrow = "->" if direction == "out" else "<-"
            styled(
                [
                    (f"{arrow} ", "bold"),
                    (
                        f"{plain(edge.get('edge_type'), _MAX_NAME)} {plain(kind, _MAX_NAME)} {plain((other or '')[:36])}",
                        "",
                    ),
                ]
            )
