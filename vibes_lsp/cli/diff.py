"""`vibes diff`: only the AI's lines of a change, with prompt, state, risk and review."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from vibes_lsp.cli.options import audit_dir_option, git_option, json_option, open_project
from vibes_lsp.cli.output import (
    KIND_MARKS,
    plain,
    plain_code,
    print_json,
    print_line,
    print_warning,
    styled,
)
from vibes_lsp.reports.blame import kind_of
from vibes_lsp.reports.changes import ChangedFile, ChangedRange, Changes, changes
from vibes_lsp.reports.words import model_name, review_words, title, whereabouts

_MAX_LINE: Final = 500
_MAX_PROMPT: Final = 300


@click.command("diff")
@click.argument("span", required=False, metavar="[BASE..HEAD | BASE]")
@git_option
@audit_dir_option
@json_option
def command(span: str | None, git: bool, audit_dir: Path | None, as_json: bool) -> None:
    """Show the AI's lines of a change, and only those.

    BASE..HEAD compares two commits, BASE...HEAD what HEAD adds since the two parted, BASE the work tree with a commit; without an
    argument the work tree is compared with HEAD.
    """
    project = open_project(audit_dir)
    with project.locator(use_git=git) as locator:
        found = changes(locator, span, project.scorer, project.config.tracking)
    for path in found.unread:
        print_warning(f"{path} cannot be read, and is left out")
    if found.is_elsewhere:
        print_warning(
            "the later commit is no ancestor of HEAD: this trail may not have what was recorded for it"
        )
    if as_json:
        print_json(found.as_json())
        return
    _print(found)


def _print(found: Changes) -> None:
    files = [file for file in found.files if file.ranges]
    for file in files:
        _print_file(file)
    counts = found.counts
    share = f" ({counts.share(found.changed):.0%} verified)" if found.changed else ""
    of_files = f", in {len(files)} of {len(found.files)} changed files" if found.files else ""
    print_line(f"AI lines: {counts.words()} of {found.changed:,} changed lines{share}{of_files}")


def _print_file(file: ChangedFile) -> None:
    renamed = f" (was {plain(file.former)})" if file.former is not None else ""
    counts = f"  {file.counts.words()} of {file.changed:,} changed lines"
    styled([(f"{plain(file.path)}{renamed}", "bold"), (counts, "dim")])
    told: str | None = None
    for changed in file.ranges:
        if (
            told != changed.placement.current.id
        ):  # what one annotation says is said once, though it owns several ranges in a row
            told = changed.placement.current.id
            _print_annotation(file, changed)
        _print_lines(file, changed)
    print_line()


def _print_annotation(file: ChangedFile, changed: ChangedRange) -> None:
    placement = changed.placement
    facts = file.facts[placement.current.id]
    figures = file.report.figures(facts)
    said = [
        plain(model_name(facts), 40),
        plain(title(placement), 60),
        whereabouts(placement),
        f"risk {figures}" if figures is not None else "",
        review_words(facts),
    ]
    styled(
        [
            (f"  {plain(placement.current.id)[:8]} ", "bold"),
            (" · ".join(plain(each) for each in said if each), ""),
        ]
    )
    prompt = facts.get("prompt")
    if isinstance(prompt, str):
        styled([("  prompt: ", "dim"), (plain(prompt, _MAX_PROMPT), "italic")])


def _print_lines(file: ChangedFile, changed: ChangedRange) -> None:
    width = len(str(changed.end))
    for number in range(changed.start, changed.end + 1):
        mark, style = KIND_MARKS[kind_of(changed.placement, number)]
        styled(
            [
                (f"  {number:>{width}} ", "dim"),
                (f"{mark} {plain_code(file.text.lines[number - 1], _MAX_LINE)}", style),
            ]
        )
