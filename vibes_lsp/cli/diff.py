"""`vibes diff`: only the AI lines of a change, with prompt, state, risk and review."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from vibes_lsp.cli.options import (
    audit_dir_option,
    examples,
    json_option,
)
from vibes_lsp.cli.output import (
    BAND_STYLES,
    KIND_MARKS,
    code_lines,
    escape,
    escape_code,
    print_json,
    print_line,
    print_styled,
    print_text,
    print_warning,
    terminal_width,
)
from vibes_lsp.cli.pager import paged
from vibes_lsp.cli.project import now, open_project
from vibes_lsp.model.ages import describe_age
from vibes_lsp.reports.blame import line_kind
from vibes_lsp.reports.diff import ChangedFile, ChangedRange, Changes, collect_changes
from vibes_lsp.reports.placements import (
    describe_edit,
    describe_location,
    describe_review,
    main_reasons,
    model_name,
)

if TYPE_CHECKING:
    from rich.text import Text

_CONTEXT: Final = 3
"""Lines before and after AI lines, as in git's diffs."""
_MAX_LINE: Final = 500
_MAX_PROMPT: Final = 300
_MAX_REASON: Final = 100


@click.command(
    "diff",
    epilog=examples("vibes diff", "vibes diff --staged", "vibes diff main...HEAD --json"),
)
@click.argument(
    "revisions",
    required=False,
    metavar="[RANGE]",
    help="BASE..HEAD for two commits, BASE...HEAD for HEAD since it left BASE, BASE for the"
    " work tree.  [default: HEAD]",
)
@click.option("--staged", is_flag=True, help="Staged files, not the work tree.")
@audit_dir_option
@json_option
def command(revisions: str | None, staged: bool, audit_dir: Path | None, as_json: bool) -> None:
    """Show only the AI lines of a change.

    Marks: + verified AI line, ? claimed without proof, ~ edited since, - removed line.
    """
    project = open_project(audit_dir)
    with project.locator() as locator:
        changes = collect_changes(
            locator, revisions, project.scorer, project.config.tracking, is_staged=staged
        )
    for path in changes.unreadable:
        print_warning(f"cannot read {path}; left out")
    if changes.is_outside_head:
        print_warning(
            "the later commit is not an ancestor of HEAD: this audit trail may lack its records"
        )
    if as_json:
        print_json(changes.as_json())
        return
    with paged():
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
    unreviewed = sum(file.unreviewed_lines for file in files)
    waiting = f"; {unreviewed:,} unreviewed" if unreviewed else ""
    total = (
        f"AI lines: {counts.words()} of {changes.changed_lines:,} changed lines"
        f"{share}{of_files}{waiting}"
    )
    print_styled([(total, "")])


def _print_file(file: ChangedFile) -> None:
    renamed = f" (was {escape(file.old_path)})" if file.old_path is not None else ""
    counts = f"  {file.counts.words()} of {file.changed_lines:,} changed lines"
    print_styled([(f"{escape(file.path)}{renamed}", "bold"), (counts, "dim")])
    code = code_lines(file.path, file.text.lines)
    described: set[str] = set()
    for hunk in _hunks(file.ranges):
        _print_hunk(file, hunk, code)
        for changed in hunk:
            identifier = changed.placement.current.id
            if identifier not in described:
                described.add(identifier)
                _print_annotation(file, changed)
    print_line()


def _hunks(ranges: Sequence[ChangedRange]) -> list[list[ChangedRange]]:
    """Return ranges of one file, together where their context meets."""
    hunks: list[list[ChangedRange]] = []
    for changed in ranges:
        if hunks and changed.start - hunks[-1][-1].end <= 2 * _CONTEXT:
            hunks[-1].append(changed)
        else:
            hunks.append([changed])
    return hunks


def _print_hunk(file: ChangedFile, hunk: Sequence[ChangedRange], code: Sequence[Text]) -> None:
    """Print AI lines with the lines that they replaced and some context."""
    from rich.text import Text  # noqa: PLC0415

    owned = {
        number: changed.placement
        for changed in hunk
        for number in range(changed.start, changed.end + 1)
    }
    first, last = max(hunk[0].start - _CONTEXT, 1), min(hunk[-1].end + _CONTEXT, len(code))
    digits, width = len(str(last)), terminal_width()
    for number in range(first, last + 2):
        if number in owned or number - 1 in owned:
            for line in file.removed.get(number, ()):
                removed = Text(f"  {'':{digits}} - {escape_code(line, _MAX_LINE)}", "red")
                print_text(removed, width=width)
        if number > last:
            break
        mark, style = KIND_MARKS["unrecorded"]
        if number in owned:
            mark, style = KIND_MARKS[line_kind(owned[number], number)]
        parts = ((f"  {number:>{digits}} ", "dim"), (f"{mark} ", style), code[number - 1])
        print_text(Text.assemble(*parts), width=width)


def _print_annotation(file: ChangedFile, changed: ChangedRange) -> None:
    placement = changed.placement
    facts = file.facts[placement.current.id]
    parts = [
        escape(model_name(facts), 40),
        escape(describe_edit(placement), 60),
        describe_location(placement),
        describe_age(placement.lineage.first.moment, now()),
        describe_review(facts),
    ]
    print_styled(
        [
            (f"  {escape(placement.current.id)[:8]} ", "bold"),
            (" · ".join(escape(part) for part in parts if part), ""),
        ]
    )
    risk = file.report.describe_risk(facts)
    if risk is not None:
        reasons = "; ".join(escape(reason, _MAX_REASON) for reason in main_reasons(facts))
        style = BAND_STYLES.get(str(facts["band"]), "")
        print_styled(
            [("  risk: ", "dim"), (escape(risk), style), (f": {reasons}" if reasons else "", "")]
        )
    prompt = facts.get("prompt")
    if isinstance(prompt, str):
        print_styled([("  prompt: ", "dim"), (escape(prompt, _MAX_PROMPT), "italic")])
