"""`vibes review`: what waits for a review, the riskiest first, in a terminal; one key for each verdict."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vibes_lsp.cli.agents import refuse_agents
from vibes_lsp.cli.keyboard import is_terminal
from vibes_lsp.cli.options import (
    audit_dir_option,
    directory_of,
    json_option,
    open_project,
    path_in_project,
)
from vibes_lsp.cli.output import plain, print_json, print_line, print_table
from vibes_lsp.errors import VibesError
from vibes_lsp.model.vocabulary import Band
from vibes_lsp.reports.find import Question, review_queue
from vibes_lsp.reports.words import model_name, review_label
from vibes_lsp.risk.scoring import format_score

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vibes_lsp.model.members import Members


@click.command("review")
@click.option("--model", metavar="TEXT", help="Whose model's name contains this.")
@click.option("--prompt", metavar="TEXT", help="Whose prompt contains this.")
@click.option("--session", metavar="ID", help="Of the session whose id begins so.")
@click.option("--file", type=click.Path(path_type=Path), help="In this file or folder.")
@click.option(
    "--band", type=click.Choice([band.value for band in Band]), help="With risk in this band."
)
@click.option("--reviewer", metavar="NAME", help="Who reviews; by default git's user.")
@click.option("--list", "as_list", is_flag=True, help="Print the queue, and ask nothing.")
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
    """Review what AIs wrote, the riskiest first: text, prompt and risk are shown, a key gives the verdict."""
    asks = not (as_list or as_json)
    if asks:
        _require_person()
    place = None if file is None else path_in_project(file, directory_of(audit_dir).project)
    question = replace(
        Question(), model=model, prompt=prompt, session=session, file=place, band=band
    )
    project = open_project(audit_dir)
    with project.locator(use_git=True, use_cache=not asks) as locator:
        queue = review_queue(locator, project.scorer, question, rejected=True)
        if as_json:
            print_json({"placements": list(queue)})
        elif as_list:
            _print(queue, project.scorer.thresholds)
        else:
            from vibes_lsp.cli.review_dialogue import Dialogue  # noqa: PLC0415  # it records, which needs pydantic's models

            Dialogue(locator, project.config.policy, queue, reviewer).run()


def _require_person() -> None:
    """Stop unless a person may be there.

    Raises:
        VibesError: Nobody could type, or an agent says that it runs this.
    """
    refuse_agents()
    if not is_terminal():
        raise VibesError(
            "vibes review asks a person, and this is no terminal",
            hint="`vibes review --list` prints the queue; a program reviews with `vibes record review`",
        )


def _print(queue: list[Members], thresholds: Mapping[Band, float]) -> None:
    print_table(
        ("risk", "where", "review", "model", "id"),
        [_row(facts, thresholds) for facts in queue],
        wrap="where",
    )
    if not queue:
        print_line("nothing waits for a review")


def _row(facts: Members, thresholds: Mapping[Band, float]) -> tuple[object, ...]:
    score = next(
        (each for each in (facts["score"], facts["storedScore"]) if isinstance(each, int | float)),
        None,
    )
    name = f" {facts['functionName']}" if "functionName" in facts else ""
    return (
        "" if score is None else f"{format_score(score, thresholds)} {facts['band']}",
        f"{facts['filePath']}:{facts['lineStart']}-{facts['lineEnd']}{name}",
        plain(review_label(facts) or "-"),
        plain(model_name(facts))[:20],
        plain(facts["annotationId"])[:8],
    )
