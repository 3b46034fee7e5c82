"""`vibes find`: annotations that match a filter, and where their lines are now."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path

import click

from vibes_lsp.anchors.location import State
from vibes_lsp.cli.options import (
    audit_dir_option,
    band_option,
    examples,
    file_option,
    git_option,
    json_option,
    model_option,
    prompt_option,
    session_option,
    since_option,
    tool_option,
)
from vibes_lsp.cli.output import BAND_STYLES, print_json, print_line, progress
from vibes_lsp.cli.pager import paged
from vibes_lsp.cli.project import (
    explain_nothing,
    now,
    open_project,
    path_in_project,
    refuse_absent,
)
from vibes_lsp.cli.tables import print_table
from vibes_lsp.model.ages import short_age
from vibes_lsp.reports.find import Filter, find_annotations
from vibes_lsp.reports.found_annotations import AnnotationSummary
from vibes_lsp.trail.records import moment_of


@click.command(
    "find",
    epilog=examples(
        "vibes find --unreviewed",
        "vibes find --model opus --since '2 days ago'",
        "vibes find --prompt password --json",
    ),
)
@model_option
@tool_option
@prompt_option
@session_option
@click.option("--commit", metavar="HASH", help="Commit hash or its beginning.")
@since_option("recording")
@band_option
@click.option(
    "--state",
    type=click.Choice([state.value for state in State]),
    help="Result of the search for the lines.",
)
@file_option
@click.option(
    "--unreviewed", is_flag=True, help="Only code that no person has reviewed as it is now."
)
@git_option
@audit_dir_option
@json_option
def command(  # noqa: PLR0917
    model: str | None,
    tool: str | None,
    prompt: str | None,
    session: str | None,
    commit: str | None,
    since: datetime | None,
    band: str | None,
    state: str | None,
    file: Path | None,
    unreviewed: bool,
    git: bool,
    audit_dir: Path | None,
    as_json: bool,
) -> None:
    """Find annotations and where their lines are now.

    Lists the current annotations that match all options. A ? after a state means that other places
    fit as well.
    """
    project = open_project(audit_dir)
    path = None if file is None else path_in_project(file, project.trail.directory.project)
    wanted = Filter(model, tool, prompt, session, commit, since, band, state, unreviewed, path)
    with project.locator(use_git=git, use_cache=True) as locator:
        with progress() as step:
            annotations = find_annotations(locator, wanted, project.scorer, progress=step)
        if not annotations:
            refuse_absent(path, project.trail.directory.project)
        nothing = f"no annotations found{explain_nothing(locator)}"
    if as_json:
        print_json({"placements": (annotation.facts for annotation in annotations)})
        return
    if not annotations:
        print_line(nothing)
        return
    present = now()
    unverified = Counter(
        annotation.why_unverified
        for annotation in annotations
        if annotation.why_unverified is not None
    )
    with paged():
        print_table(
            ("id", "age", "where", "state", "risk", "review", "model"),
            [_row(annotation.summary, present) for annotation in annotations],
            right=("age",),
            whole="where",
            styles={"id": "dim", "where": "bold", "risk": BAND_STYLES, "age": "dim"},
        )
        for why, count in unverified.items():
            print_line(f"{count:,} unverified: {why}")


def _row(summary: AnnotationSummary, present: datetime) -> tuple[str, ...]:
    """Return id, age, place, state, risk, review and model."""
    return (
        summary.annotation_id[:8],
        short_age(moment_of(summary.timestamp), present),
        summary.place,
        f"{summary.state}{'?' if summary.ambiguous else ''}",
        summary.band or "",
        summary.review_word,
        summary.author[:20],
    )
