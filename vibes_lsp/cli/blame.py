"""`vibes blame FILE`: per line the annotation, its placement, its band."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from vibes_lsp.anchors.located import LineKind
from vibes_lsp.anchors.text import Text
from vibes_lsp.cli.options import (
    audit_dir_option,
    git_option,
    json_option,
    open_project,
    path_in_project,
)
from vibes_lsp.cli.output import KIND_MARKS, plain, plain_code, print_json, styled
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.index.placements import Placement, why_unverified
from vibes_lsp.index.project_files import read_source
from vibes_lsp.reports.blame import Blame, blame, kind_of, owners
from vibes_lsp.reports.words import model_name, review_label, whereabouts


@click.command("blame")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--contents",
    type=click.Choice(["-"]),
    help="Take the file's text from standard input: unsaved, for instance.",
)
@git_option
@audit_dir_option
@json_option
def command(
    file: Path, contents: str | None, git: bool, audit_dir: Path | None, as_json: bool
) -> None:
    """Show which annotation owns each line of FILE, and whether that is verified.

    `+` marks lines as the AI wrote them, `?` lines that are claimed only, `~` lines edited since.
    """
    if os.path.isdir(file):  # noqa: PTH112  # whatever the name is
        raise UnreadableFile(
            f"{file} is a folder",
            hint=f"give a file; `vibes find --file {file}` lists what is in all of its files",
        )
    project = open_project(audit_dir, near=file)
    path = path_in_project(file, project.trail.directory.project)
    text = (
        Text.from_bytes(sys.stdin.buffer.read())
        if contents
        else read_source(project.trail.directory.project, path)
    )
    with project.locator(use_git=git, use_cache=True) as locator:
        found = blame(locator, path, text, project.scorer)
    if as_json:
        print_json(found.as_json())
        return
    _print(found)


def _print(found: Blame) -> None:
    owned = owners(found.placements)
    labels = {id(placement): _label(found, placement) for placement in owned.values()}
    width = max(map(len, labels.values()), default=0)
    digits = len(str(len(found.text.lines)))
    for number, line in enumerate(found.text.lines, 1):
        placement = owned.get(number)
        whose = LineKind.HUMAN if placement is None else kind_of(placement, number)
        label = "" if placement is None else labels[id(placement)]
        if placement is not None and whose == LineKind.HUMAN:
            label = f"{plain(placement.current.id)[:8]} a person's"
        mark, style = KIND_MARKS[whose]
        marked = f"{label:<{width}} {mark} " if labels else " "
        styled([(marked, style), (f"{number:>{digits}} ", "dim"), (plain_code(line, 500), "")])
    for placement in found.placements:
        if placement.owned_ranges and why_unverified(placement) is None:
            continue
        kind = "history" if placement.is_history else placement.lineage.action or "edit"
        styled(
            [
                (f"{plain(placement.current.id)[:8]} {plain(kind, 20)}: ", "bold"),
                (whereabouts(placement), ""),
            ]
        )


def _label(found: Blame, placement: Placement) -> str:
    facts = found.report.placement(placement)
    band = f" {facts['band']}" if facts["band"] is not None else ""
    review = review_label(facts)
    reviewed = f" {review}" if review is not None else ""
    why_unverified = "?" if placement.located.ambiguous else ""
    captured = " captured" if facts.get("captured") else ""
    return f"{plain(placement.current.id)[:8]} {plain(model_name(facts))[:24]} {placement.located.state.value}{why_unverified}{captured}{band}{reviewed}"
