"""Lines that a command names as FILE:LINE: `vibes show` says who wrote them and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from vibes_lsp.anchors.location import LineKind
from vibes_lsp.cli.annotation_text import place_of, print_reasons, print_summary
from vibes_lsp.cli.output import KIND_MARKS, escape, print_json, print_line, print_styled
from vibes_lsp.cli.pager import paged
from vibes_lsp.cli.project import OpenProject, open_project, path_in_project
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.git.project_files import read_source
from vibes_lsp.placing.placements import Placement
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.reports.blame import Blame, blame_file, line_kind
from vibes_lsp.reports.placements import describe_lines
from vibes_lsp.reports.review_queue import Inspection, inspect_placement

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
