"""`vibes stats`: numbers of the audit trail, in all or by model, session or file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from vibes_lsp.checks.finding import pluralize
from vibes_lsp.cli.options import audit_dir_option, examples, json_option
from vibes_lsp.cli.output import escape, print_json, print_line
from vibes_lsp.cli.pager import paged
from vibes_lsp.cli.project import now, open_project, open_trail
from vibes_lsp.cli.tables import print_table
from vibes_lsp.errors import VibesError
from vibes_lsp.model.ages import short_age
from vibes_lsp.reports.authors import UNKNOWN
from vibes_lsp.reports.coverage import (
    FileCoverage,
    owned_files,
    project_files,
    total_coverage,
    untracked_files,
)
from vibes_lsp.reports.statistics import (
    CurrentEdits,
    SessionSummary,
    SurvivalReport,
    count_trail,
    measure_survival,
    session_summaries,
)


@click.command(
    "stats",
    epilog=examples("vibes stats", "vibes stats --by file", "vibes stats --by session --open"),
)
@click.option(
    "--by",
    type=click.Choice(["model", "session", "file"]),
    help="Numbers for each one: share of each model, AI lines of each tracked file.",
)
@click.option(
    "--survival",
    "with_survival",
    is_flag=True,
    help="Recorded lines that are still intact, by model and file.",
)
@click.option("--open", "only_open", is_flag=True, help="Open sessions only.")
@click.option("--all", "show_all", is_flag=True, help="Files without AI lines as well.")
@audit_dir_option
@json_option
def command(
    *,
    by: str | None,
    with_survival: bool,
    only_open: bool,
    show_all: bool,
    audit_dir: Path | None,
    as_json: bool,
) -> None:
    """Show statistics of the audit trail.

    By file, the share is that of verified lines; claimed and edited lines are counted beside them.
    """
    _refuse_elsewhere(by, None, survival=with_survival)
    _refuse_elsewhere(by, "session", open=only_open)
    _refuse_elsewhere(by, "file", all=show_all)
    match by:
        case "model":
            _print_models(audit_dir, as_json=as_json)
        case "session":
            _print_sessions(audit_dir, only_open=only_open, as_json=as_json)
        case "file":
            _print_coverage(audit_dir, show_all=show_all, as_json=as_json)
        case _:
            _print_totals(audit_dir, with_survival=with_survival, as_json=as_json)


def _refuse_elsewhere(by: str | None, place: str | None, **flags: bool) -> None:
    """Stop where a flag is given with numbers that it says nothing about.

    Raises:
        VibesError: One is.
    """
    for name, is_given in flags.items():
        if is_given and by != place:
            where = f"needs --by {place}" if place else "cannot be combined with --by"
            raise VibesError(f"--{name} {where}")


def _print_totals(audit_dir: Path | None, *, with_survival: bool, as_json: bool) -> None:
    project = open_project(audit_dir)
    trail = project.trail
    stats = count_trail(trail, project.config.tracking)
    survival = None
    if with_survival:
        with project.locator(use_cache=True) as locator:
            survival = measure_survival(locator)
    if as_json:
        extra = {"survival": survival.as_json()} if survival is not None else {}
        print_json(stats.as_json() | extra)
        return
    shares: Counter[str] = Counter()
    for share in stats.models:  # versions count together
        shares[share.author.label] += share.annotations
    models = ", ".join(
        f"{count / shares.total():.0%} {escape(label, 60)}" for label, count in shares.most_common()
    )
    superseded = stats.annotations - stats.current
    files = (
        f"{stats.files:,}, of which {stats.foreign:,} not in this checkout,"
        f" {stats.untracked:,} not tracked"
    )
    rows = [
        ("annotations", f"{stats.annotations:,}, of which {superseded:,} superseded"),
        ("actions", _list_counts(stats.actions)),
        ("assurance levels", _list_counts(stats.levels)),
        ("models", models or "none"),
        ("files", files),
        ("sessions", f"{stats.sessions:,}, of which {stats.open_sessions:,} open"),
        ("log records", f"{stats.records:,}"),
        ("context entries", f"{stats.entries:,}"),
    ]
    with paged():
        print_table(("", "in this audit trail"), rows)
        if survival is not None:
            print_line()
            _print_survival(survival)


def _print_survival(report: SurvivalReport) -> None:
    columns = ("intact", "of lines", "unverified", "functions lost", "model or file")
    rows = [
        (
            "-" if survival.share is None else f"{survival.share:.0%}",
            survival.recorded,
            survival.unknown,
            survival.lost_functions,
            escape(survival.name, 80),
        )
        for survival in (*report.models, *report.files, report.total)
    ]
    print_table(columns, rows, right=columns[:4])


def _list_counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {escape(name, 30)}" for name, count in counts.items()) or "none"


def _print_models(audit_dir: Path | None, *, as_json: bool) -> None:
    """Print the share of each tool and model among the current annotations."""
    shares = CurrentEdits(open_trail(audit_dir)).model_shares()
    if as_json:
        print_json({"models": [share.as_json() for share in shares]})
        return
    if not shares:
        print_line("no annotations")
        return
    rows = [
        (
            f"{share.share:.1%}",
            share.annotations,
            share.files,
            escape(_versioned(share.author.model, share.author.model_version), 40),
            escape(_versioned(share.author.tool, share.author.tool_version), 60),
        )
        for share in shares
    ]
    with paged():
        print_table(
            ("share", "annotations", "files", "model", "tool"),
            rows,
            right=("share", "annotations", "files"),
        )


def _versioned(name: str, version: str) -> str:
    return name if version == UNKNOWN else f"{name} {version}"


def _print_sessions(audit_dir: Path | None, *, only_open: bool, as_json: bool) -> None:
    """Print the sessions, oldest first."""
    summaries = [
        summary
        for summary in session_summaries(open_trail(audit_dir))
        if summary.session.is_open or not only_open
    ]
    if as_json:
        print_json({"sessions": [summary.as_json() for summary in summaries]})
        return
    if not summaries:
        print_line("no open sessions" if only_open else "no sessions")
        return
    rows = [_session_row(summary) for summary in summaries]
    with paged():
        print_table(
            ("id", "age", "lasted", "edits", "model", "description"),
            rows,
            right=("age", "lasted", "edits"),
            styles={"id": "dim", "age": "dim", "description": "bold"},
        )


def _session_row(summary: SessionSummary) -> tuple[object, ...]:
    session = summary.session
    name = session.text("description") or session.text("agent_name") or ""
    return (
        session.id[:8],
        "?" if session.start is None else short_age(session.start.moment, now()),
        "open" if session.is_open else _format_duration(summary.seconds),
        summary.annotations,
        escape(summary.author.short_label, 30),
        escape(name, 60),
    )


def _format_duration(seconds: float | None) -> str:
    if seconds is None:
        return "?"
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _print_coverage(audit_dir: Path | None, *, show_all: bool, as_json: bool) -> None:
    """Print verified, claimed and edited lines of each tracked file, and the verified share.

    Args:
        audit_dir: What `--audit-dir` names.
        show_all: Whether files without AI lines are listed as well.
        as_json: Whether to print JSON.
    """
    project = open_project(audit_dir)
    with project.locator(use_cache=True) as locator:
        names = project_files(locator)
        owned = owned_files(locator, project.config.tracking, names)
        files = [file.coverage for file in owned]
        untracked = untracked_files(locator, project.config.tracking, names)
    total = total_coverage(files)
    if as_json:
        print_json({"files": [file.as_json() for file in files], "total": total.numbers()})
        return
    listed = [file for file in files if show_all or file.counts]
    rows = [_coverage_row(file, file.path) for file in listed]
    rows.append(_coverage_row(total, f"total of {pluralize(len(files), 'file', 'files')}"))
    numbers = ("share", "verified", "claimed", "edited", "lines")
    with paged():
        print_table((*numbers, "file"), rows, right=numbers)
        if untracked:
            singular, plural = "annotated file is not counted", "annotated files are not counted"
            count = pluralize(len(untracked), singular, plural)
            print_line(f"{count}: not tracked by git; use `git add`")
        elif not files:
            print_line("no files to count: expected files that git and config.json track")


def _coverage_row(file: FileCoverage, name: str) -> tuple[object, ...]:
    counts = file.counts
    share = f"{file.share:.0%}"
    return share, counts.verified, counts.claimed, counts.edited, file.lines, name
