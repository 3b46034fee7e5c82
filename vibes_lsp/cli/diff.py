"""`vibes diff`: only the AI lines of a change, with prompt, state, risk and review."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from vibes_lsp.cli.options import audit_dir_option, examples, git_option, json_option
from vibes_lsp.cli.output import (
    KIND_MARKS,
    escape,
    escape_code,
    print_json,
    print_line,
    print_styled,
    print_warning,
)
from vibes_lsp.cli.project import open_project
from vibes_lsp.reports.blame import line_kind
from vibes_lsp.reports.diff import ChangedFile, ChangedRange, Changes, collect_changes
from vibes_lsp.reports.placements import (
    describe_edit,
    describe_location,
    describe_review,
    model_name,
)

_MAX_LINE: Final = 500
_MAX_PROMPT: Final = 300


@click.command(
    "diff", epilog=examples("vibes diff", "vibes diff main...HEAD", "vibes diff HEAD --json")
)
@click.argument(
    "revisions",
    required=False,
    metavar="[RANGE]",
    help="BASE..HEAD for two commits, BASE...HEAD for HEAD since it left BASE, BASE for the"
    " work tree.  [default: HEAD]",
)
@git_option
@audit_dir_option
@json_option
def command(revisions: str | None, git: bool, audit_dir: Path | None, as_json: bool) -> None:
    """Show only the AI lines of a change.

    Marks: + verified AI line, ? claimed without proof, ~ edited since.
    """
    project = open_project(audit_dir)
    with project.locator(use_git=git) as locator:
        changes = collect_changes(locator, revisions, project.scorer, project.config.tracking)
    for path in changes.unreadable:
        print_warning(f"cannot read {path}; left out")
    if changes.is_outside_head:
        print_warning(
            "the later commit is not an ancestor of HEAD: this audit trail may lack its records"
        )
    if as_json:
        print_json(changes.as_json())
        return
    _print(changes)


def _print(changes: Changes) -> None:
    files = [file for file in changes.files if file.ranges]
    for file in files:
        _print_file(file)
    counts = changes.counts
    share = (
        f" ({counts.share(changes.changed_lines):.0%} verified)" if changes.changed_lines else ""
    )
    of_files = f", in {len(files)} of {len(changes.files)} changed files" if changes.files else ""
    print_line(
        f"AI lines: {counts.words()} of {changes.changed_lines:,} changed lines{share}{of_files}"
    )


def _print_file(file: ChangedFile) -> None:
    renamed = f" (was {escape(file.old_path)})" if file.old_path is not None else ""
    counts = f"  {file.counts.words()} of {file.changed_lines:,} changed lines"
    print_styled([(f"{escape(file.path)}{renamed}", "bold"), (counts, "dim")])
    printed: str | None = None
    for changed in file.ranges:
        if printed != changed.placement.current.id:  # once for several ranges in a row
            printed = changed.placement.current.id
            _print_annotation(file, changed)
        _print_lines(file, changed)
    print_line()


def _print_annotation(file: ChangedFile, changed: ChangedRange) -> None:
    placement = changed.placement
    facts = file.facts[placement.current.id]
    risk = file.report.describe_risk(facts)
    parts = [
        escape(model_name(facts), 40),
        escape(describe_edit(placement), 60),
        describe_location(placement),
        f"risk {risk}" if risk is not None else "",
        describe_review(facts),
    ]
    print_styled(
        [
            (f"  {escape(placement.current.id)[:8]} ", "bold"),
            (" · ".join(escape(each) for each in parts if each), ""),
        ]
    )
    prompt = facts.get("prompt")
    if isinstance(prompt, str):
        print_styled([("  prompt: ", "dim"), (escape(prompt, _MAX_PROMPT), "italic")])


def _print_lines(file: ChangedFile, changed: ChangedRange) -> None:
    width = len(str(changed.end))
    for number in range(changed.start, changed.end + 1):
        mark, style = KIND_MARKS[line_kind(changed.placement, number)]
        print_styled(
            [
                (f"  {number:>{width}} ", "dim"),
                (f"{mark} {escape_code(file.text.lines[number - 1], _MAX_LINE)}", style),
            ]
        )
