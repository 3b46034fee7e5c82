"""`vibes show --graph`: what caused an edit and what came of it, as a diagram or as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from vibes_lsp.cli.options import parse_place
from vibes_lsp.cli.output import print_json, print_line
from vibes_lsp.cli.pager import paged
from vibes_lsp.cli.project import OpenProject, open_project
from vibes_lsp.cli.show import warn_of_equal_ids
from vibes_lsp.cli.shown_lines import blamed_lines, no_edit
from vibes_lsp.errors import AmbiguousId, UnknownId
from vibes_lsp.reports.located_graph import with_current_lines
from vibes_lsp.reports.mermaid import as_mermaid
from vibes_lsp.reports.placements import describe_lines
from vibes_lsp.reports.provenance_graph import provenance_graph
from vibes_lsp.trail.lookup import look_up

_MAX_NAMED: Final = 5
"""Ids that the error about several edits names."""


def print_graph(audit_dir: Path | None, what: str, *, depth: int, as_json: bool) -> None:
    """Print what caused an edit and what came of it: a Mermaid flowchart, or JSON.

    Args:
        audit_dir: What `--audit-dir` names.
        what: A line as FILE:LINE, or an id of an annotation, edge, context or session.
        depth: Maximum distance in each direction.
        as_json: Whether to print JSON.

    Raises:
        UnknownId: It is not in the trail, or no AI edit is recorded for the line.
        AmbiguousId: There are several.
    """
    place = parse_place(what)
    project = open_project(audit_dir, near=None if place is None else place[0])
    identifier = what if place is None else _edit_on_lines(project, *place)
    lookup = look_up(project.trail, identifier)
    warn_of_equal_ids(project.trail, lookup)
    graph = provenance_graph(project.trail, lookup, depth=depth)
    with project.locator(use_cache=True) as locator:
        graph = with_current_lines(graph, locator)
    if as_json:
        print_json(graph.as_json())
    else:
        with paged():
            print_line(as_mermaid(graph).rstrip("\n"))


def _edit_on_lines(project: OpenProject, file: Path, first: int, last: int) -> str:
    """Return the id of the only AI edit on some lines.

    Raises:
        UnknownId: There is none.
        AmbiguousId: There are several.
        UnreadableFile: The file cannot be read, or has no such lines.
    """
    with blamed_lines(project, file, first, last) as (_, blame, placements):
        identifiers = [placement.current.id for placement in placements]
    if not identifiers:
        raise UnknownId(no_edit(blame.path, first, last), hint="`vibes blame` shows which have one")
    if len(identifiers) > 1:
        named = ", ".join(identifier[:8] for identifier in identifiers[:_MAX_NAMED])
        more = f" and {len(identifiers) - _MAX_NAMED} more" if identifiers[_MAX_NAMED:] else ""
        raise AmbiguousId(
            f"{describe_lines(first, last)} of {blame.path} are from several AI edits:"
            f" {named}{more}",
            hint="name one line or one id",
        )
    return identifiers[0]
