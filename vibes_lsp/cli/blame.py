"""`vibes blame FILE`: which annotation owns each line, with its state, risk and review."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from vibes_lsp.anchors.location import LineKind
from vibes_lsp.anchors.text import Text
from vibes_lsp.cli.options import audit_dir_option, examples, git_option, json_option
from vibes_lsp.cli.output import KIND_MARKS, escape, escape_code, print_json, print_styled
from vibes_lsp.cli.project import open_project, path_in_project
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.index.placements import Placement, why_unverified
from vibes_lsp.index.project_files import read_source
from vibes_lsp.reports.blame import Blame, blame_file, line_kind, line_owners
from vibes_lsp.reports.placements import describe_location, model_name, review_label


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
@git_option
@audit_dir_option
@json_option
def command(
    file: Path, contents: str | None, git: bool, audit_dir: Path | None, as_json: bool
) -> None:
    """Show which annotation owns each line of a file.

    Marks: + verified AI line, ? claimed without proof, ~ edited since. A ? after a state means
    that other places fit as well.
    """
    if os.path.isdir(file):  # noqa: PTH112  # Path.is_dir raises for some names
        raise UnreadableFile(
            f"{file} is a folder: expected a file",
            hint=f"for a folder, use `vibes find --file {file}`",
        )
    project = open_project(audit_dir, near=file)
    path = path_in_project(file, project.trail.directory.project)
    text = (
        Text.from_bytes(sys.stdin.buffer.read())
        if contents
        else read_source(project.trail.directory.project, path)
    )
    with project.locator(use_git=git, use_cache=True) as locator:
        blame = blame_file(locator, path, text, project.scorer)
    if as_json:
        print_json(blame.as_json())
        return
    _print(blame)


def _print(blame: Blame) -> None:
    """Print the lines, then the placements that own none or are not verified."""
    owners = line_owners(blame.placements)
    labels = {id(placement): _label(blame, placement) for placement in owners.values()}
    width = max(map(len, labels.values()), default=0)
    digits = len(str(len(blame.text.lines)))
    for number, line in enumerate(blame.text.lines, 1):
        placement = owners.get(number)
        kind = LineKind.HUMAN if placement is None else line_kind(placement, number)
        label = "" if placement is None else labels[id(placement)]
        if placement is not None and kind == LineKind.HUMAN:
            label = f"{escape(placement.current.id)[:8]} human"
        mark, style = KIND_MARKS[kind]
        marked = f"{label:<{width}} {mark} " if labels else " "
        print_styled(
            [(marked, style), (f"{number:>{digits}} ", "dim"), (escape_code(line, 500), "")]
        )
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


def _label(blame: Blame, placement: Placement) -> str:
    """Return id, model, state, risk band and review of a placement."""
    facts = blame.report.placement(placement)
    located = placement.located
    parts = [
        escape(placement.current.id)[:8],
        escape(model_name(facts))[:24],
        f"{located.state.value}{'?' if located.ambiguous else ''}",
        "captured" if facts.get("captured") else "",
        str(facts["band"] or ""),
        review_label(facts) or "",
    ]
    return " ".join(part for part in parts if part)
