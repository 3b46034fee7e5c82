"""`vibes stats`: the trail in numbers."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.cli.options import audit_dir_option, git_option, json_option, open_project
from vibes_lsp.cli.output import plain, print_json, print_line, print_table
from vibes_lsp.reports.statistics import SurvivalReport, survival, trail_stats


@click.command("stats")
@click.option(
    "--survival",
    "with_survival",
    is_flag=True,
    help="Also say how many of the recorded lines still stand as they were written.",
)
@git_option
@audit_dir_option
@json_option
def command(with_survival: bool, git: bool, audit_dir: Path | None, as_json: bool) -> None:
    """Give the trail in numbers."""
    project = open_project(audit_dir)
    trail = project.trail
    stats = trail_stats(trail, project.config.tracking)
    left = None
    if with_survival:
        with project.locator(use_git=git, use_cache=True) as locator:
            left = survival(locator)
    if as_json:
        print_json(stats.as_json() | ({"survival": left.as_json()} if left is not None else {}))
        return
    models = ", ".join(
        f"{share.share:.0%} {plain(share.author.label, 60)}" for share in stats.models
    )
    past = stats.annotations - stats.current
    rows = [
        ("annotations", f"{stats.annotations:,}, of which {past:,} history"),
        ("actions", _listed(stats.actions)),
        ("assurance levels", _listed(stats.levels)),
        ("models", models or "none"),
        (
            "files",
            f"{stats.files:,}, of which {stats.foreign:,} not in this checkout, {stats.untracked:,} not tracked",
        ),
        ("sessions", f"{stats.sessions:,}, of which {stats.open_sessions:,} never closed"),
        ("log records", f"{stats.records:,}"),
        ("context entries", f"{stats.entries:,}"),
    ]
    print_table(("", "in this trail"), rows)
    if left is not None:
        print_line()
        _print_survival(left)


def _print_survival(left: SurvivalReport) -> None:
    columns = ("intact", "of lines", "not known", "functions lost", "by")
    rows = [
        (
            "-" if each.share is None else f"{each.share:.0%}",
            each.recorded,
            each.unknown,
            each.lost_functions,
            plain(each.name, 80),
        )
        for each in (*left.models, *left.files, left.total)
    ]
    print_table(columns, rows, right=columns[:4], wrap="by")


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {plain(name, 30)}" for name, count in counts.items()) or "none"
