"""`vibes show FILE:LINE`: who wrote lines and why, and `--graph`: what caused an edit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from vibes_lsp.anchors.location import LineKind
from vibes_lsp.cli.annotation_text import place_of, print_reasons, print_summary
from vibes_lsp.cli.options import parse_place
from vibes_lsp.cli.output import KIND_MARKS, escape, print_json, print_line, print_styled
from vibes_lsp.cli.pager import paged
from vibes_lsp.cli.project import OpenProject, open_project, path_in_project
from vibes_lsp.cli.show import warn_of_equal_ids
from vibes_lsp.errors import AmbiguousId, UnknownId, UnreadableFile
from vibes_lsp.git.project_files import read_source
from vibes_lsp.placing.placements import Placement
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.reports.blame import Blame, blame_file, line_kind
from vibes_lsp.reports.located_graph import with_current_lines
from vibes_lsp.reports.mermaid import as_mermaid
from vibes_lsp.reports.placements import describe_lines
from vibes_lsp.reports.provenance_graph import provenance_graph
from vibes_lsp.reports.review_queue import Inspection, inspect_placement
from vibes_lsp.trail.lookup import look_up

_MAX_NAMED: Final = 5
"""Ids that the error about several edits names."""
_KINDS: Final[Mapping[LineKind, str]] = {
    LineKind.AI: "as the AI wrote it",
    LineKind.CLAIMED: "claimed without proof",
    LineKind.EDITED: "edited since",
    LineKind.UNRECORDED: "not recorded as an AI's",
}


@contextmanager
def blamed_lines(
    project: OpenProject, file: Path, first: int, last: int
) -> Iterator[tuple[ProjectLocator, Blame, list[Placement]]]:
    """Yield the project's locator, the blame of a file, and the AI edits of some lines.

    Raises:
        UnreadableFile: The file cannot be read, or has no such lines.
    """
    path = path_in_project(file, project.trail.directory.project)
    source = read_source(project.trail.directory.project, path)
    if last > len(source.lines):
        raise UnreadableFile(f"{path} has {len(source.lines):,} lines, not {last:,}")
    with project.locator(use_cache=True) as locator:
        blame = blame_file(locator, path, source, project.scorer)
        yield locator, blame, blame.on_lines(first, last)


def show_lines(audit_dir: Path | None, file: Path, first: int, last: int, *, as_json: bool) -> None:
    """Show the annotations of some lines.

    Raises:
        UnreadableFile: The file cannot be read, or has no such lines.
    """
    project = open_project(audit_dir, near=file)
    with blamed_lines(project, file, first, last) as (locator, blame, placements):
        if as_json:
            shown = replace(blame, placements=tuple(placements)).as_json()
            print_json(shown)
            return
        inspected = [
            inspection
            for inspection in map(partial(inspect_placement, locator, blame), placements)
            if inspection
        ]
    if not inspected:
        print_line(no_edit(blame.path, first, last))
        return
    with paged():
        for number, inspection in enumerate(inspected):
            if number:
                print_line()
            _print_inspection(inspection, first if first == last else None)


def no_edit(path: str, first: int, last: int) -> str:
    """Return the sentence that no AI edit owns some lines."""
    return f"no AI edit is recorded for {describe_lines(first, last)} of {escape(path)}"


def _print_inspection(inspection: Inspection, line: int | None) -> None:
    """Print what is known of an annotation, and what became of one of its lines."""
    head = [(escape(place_of(inspection)), "bold")]
    if line is not None:
        kind = line_kind(inspection.placement, line)
        head.append((f"  line {line}: {_KINDS[kind]}", KIND_MARKS[kind.value][1]))
    print_styled(head)
    print_summary(inspection)
    print_reasons(inspection)


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
