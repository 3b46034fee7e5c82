"""`vibes find`: where code is now that answers a question."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from vibes_lsp.anchors.located import State
from vibes_lsp.cli.options import (
    audit_dir_option,
    git_option,
    json_option,
    open_project,
    path_in_project,
)
from vibes_lsp.cli.output import plain, print_json, print_line, print_table
from vibes_lsp.errors import VibesError
from vibes_lsp.index.placements import Placement, why_unverified
from vibes_lsp.model.members import Members
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.model.vocabulary import Band
from vibes_lsp.reports.find import Question, find
from vibes_lsp.reports.words import model_name, review_label


@click.command("find")
@click.option("--model", metavar="TEXT", help="Whose model's name contains this.")
@click.option("--tool", metavar="TEXT", help="Whose tool's name contains this.")
@click.option("--prompt", metavar="TEXT", help="Whose prompt contains this.")
@click.option("--session", metavar="ID", help="Of the session whose id begins so.")
@click.option("--commit", metavar="HASH", help="Of the commit whose hash begins so.")
@click.option(
    "--since", metavar="DATE", help="Made at this time (2026-02-03 or 2026-02-03T10:00Z) or later."
)
@click.option(
    "--band", type=click.Choice([band.value for band in Band]), help="With risk in this band."
)
@click.option("--state", type=click.Choice([state.value for state in State]), help="In this state.")
@click.option("--file", type=click.Path(path_type=Path), help="In this file or folder.")
@click.option(
    "--unreviewed",
    is_flag=True,
    help="That nobody has reviewed as they are now; an AI's review is none.",
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
    since: str | None,
    band: str | None,
    state: str | None,
    file: Path | None,
    unreviewed: bool,
    git: bool,
    audit_dir: Path | None,
    as_json: bool,
) -> None:
    """Find current annotations, and where their lines are now."""
    moment = None
    if since is not None:
        moment = parse_timestamp(since if "T" in since else f"{since}T00:00Z")
        if moment is None:
            raise VibesError(
                f"--since {since!r} is not a date",
                hint="write it like 2026-02-03 or 2026-02-03T10:00Z",
            )
    project = open_project(audit_dir)
    place = None if file is None else path_in_project(file, project.trail.directory.project)
    question = Question(
        model, tool, prompt, session, commit, moment, band, state, unreviewed, place
    )
    with project.locator(use_git=git, use_cache=True) as locator:
        found = find(locator, question, project.scorer)
    if as_json:
        print_json({"placements": [facts for _, facts in found]})
        return
    print_table(
        ("id", "where", "state", "review", "model"),
        [_row(placement, facts) for placement, facts in found],
        wrap="where",
    )
    for why, count in Counter(
        why for placement, _ in found if (why := why_unverified(placement)) is not None
    ).items():
        print_line(f"{count:,} unverified: {why}")
    if not found:
        print_line("nothing found")


def _row(placement: Placement, facts: Members) -> tuple[object, ...]:
    lines = (
        f":{placement.located.start}-{placement.located.end}"
        if placement.located.start is not None
        else ""
    )
    name = f" {facts['functionName']}" if "functionName" in facts else ""
    return (
        plain(placement.current.id)[:8],  # cut last: what shows as its code is longer
        f"{facts['filePath']}{lines}{name}",
        f"{facts['state']}{'?' if facts['ambiguous'] else ''}",
        plain(review_label(facts) or "-"),
        plain(model_name(facts))[:20],
    )
