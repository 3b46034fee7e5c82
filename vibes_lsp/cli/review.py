"""`vibes review`: the review queue, highest risk first, printed or asked about in a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from vibes_lsp.cli.agents import refuse_agents
from vibes_lsp.cli.keyboard import is_interactive
from vibes_lsp.cli.options import (
    audit_dir_option,
    band_option,
    examples,
    file_option,
    json_option,
    model_option,
    prompt_option,
    session_option,
)
from vibes_lsp.cli.output import BAND_STYLES, print_json, print_line, progress
from vibes_lsp.cli.pager import paged
from vibes_lsp.cli.project import (
    audit_directory,
    explain_nothing,
    open_project,
    path_in_project,
    refuse_absent,
)
from vibes_lsp.cli.tables import print_table
from vibes_lsp.errors import VibesError
from vibes_lsp.reports.find import Filter
from vibes_lsp.reports.review_queue import review_queue
from vibes_lsp.risk.scoring import format_score

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vibes_lsp.model.vocabulary import Band
    from vibes_lsp.reports.found_annotations import AnnotationSummary, FoundAnnotation


@click.command(
    "review",
    epilog=examples(
        "vibes review",
        "vibes review --list --band high --file src",
    ),
)
@model_option
@prompt_option
@session_option
@file_option
@band_option
@click.option(
    "--reviewer", metavar="NAME", help="Name of the reviewer.  [default: user.name of git]"
)
@click.option("--list", "as_list", is_flag=True, help="Queue as a table, without questions.")
@audit_dir_option
@json_option
def command(  # noqa: PLR0917
    model: str | None,
    prompt: str | None,
    session: str | None,
    file: Path | None,
    band: str | None,
    reviewer: str | None,
    as_list: bool,
    audit_dir: Path | None,
    as_json: bool,
) -> None:
    """Review AI code, highest risk first.

    Shows each annotation with its lines, prompt and risk, and takes one key as the verdict.
    Without questions: `vibes record review FILE:LINES --verdict approved`.
    """
    asks = not (as_list or as_json)
    if asks:
        _require_person()
    path = None if file is None else path_in_project(file, audit_directory(audit_dir).project)
    wanted = Filter(model=model, prompt=prompt, session=session, file=path, band=band)
    project = open_project(audit_dir)
    with project.locator(use_cache=not asks) as locator:
        with progress() as step:
            queue = review_queue(
                locator, project.scorer, wanted, include_rejected=True, progress=step
            )
        if not queue:
            refuse_absent(path, project.trail.directory.project)
        if as_json:
            print_json({"placements": (annotation.facts for annotation in queue)})
        elif as_list:
            _print(queue, project.scorer.thresholds, f"nothing to review{explain_nothing(locator)}")
        else:
            # recording needs pydantic, which is slow to import
            from vibes_lsp.cli.review_dialogue import ReviewDialogue  # noqa: PLC0415

            facts = [annotation.facts for annotation in queue]
            ReviewDialogue(locator, project.config.policy, facts, reviewer).run()


def _require_person() -> None:
    """Stop where no person can answer.

    Raises:
        VibesError: There is no terminal, or an agent runs this command.
    """
    refuse_agents()
    if not is_interactive():
        raise VibesError(
            "vibes review needs a terminal",
            hint="use `vibes review --list` for the queue, or `vibes record review` from a program",
        )


def _print(
    queue: Sequence[FoundAnnotation], thresholds: Mapping[Band, float], nothing: str
) -> None:
    if not queue:
        print_line(nothing)
        return
    with paged():
        print_table(
            ("id", "where", "risk", "review", "model"),
            [_row(annotation.summary, thresholds) for annotation in queue],
            whole="where",
            styles={"id": "dim", "where": "bold", "risk": BAND_STYLES},
        )


def _row(summary: AnnotationSummary, thresholds: Mapping[Band, float]) -> tuple[object, ...]:
    score = summary.stored_score if summary.score is None else summary.score
    return (
        summary.annotation_id[:8],
        summary.place,
        "" if score is None else f"{format_score(score, thresholds)} {summary.band}",
        summary.review_word,
        summary.author[:20],
    )
