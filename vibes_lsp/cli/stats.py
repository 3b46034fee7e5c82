"""`vibes stats`, `vibes models` and `vibes sessions`: numbers of the audit trail."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.cli.options import audit_dir_option, examples, git_option, json_option
from vibes_lsp.cli.output import escape, print_json, print_line, print_table
from vibes_lsp.cli.project import open_project, open_trail
from vibes_lsp.reports.statistics import (
    SessionSummary,
    SurvivalReport,
    count_trail,
    measure_survival,
    model_shares,
    session_summaries,
)


@click.command("stats", epilog=examples("vibes stats", "vibes stats --survival"))
@click.option(
    "--survival",
    "with_survival",
    is_flag=True,
    help="Recorded lines that are still intact, by model and file.",
)
@git_option
@audit_dir_option
@json_option
def command(with_survival: bool, git: bool, audit_dir: Path | None, as_json: bool) -> None:
    """Show statistics of the audit trail."""
    project = open_project(audit_dir)
    trail = project.trail
    stats = count_trail(trail, project.config.tracking)
    survival = None
    if with_survival:
        with project.locator(use_git=git, use_cache=True) as locator:
            survival = measure_survival(locator)
    if as_json:
        extra = {"survival": survival.as_json()} if survival is not None else {}
        print_json(stats.as_json() | extra)
        return
    models = ", ".join(
        f"{share.share:.0%} {escape(share.author.label, 60)}" for share in stats.models
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
    print_table(("", "in this audit trail"), rows)
    if survival is not None:
        print_line()
        _print_survival(survival)


def _print_survival(report: SurvivalReport) -> None:
    columns = ("intact", "of lines", "unverified", "functions lost", "model or file")
    rows = [
        (
            "-" if each.share is None else f"{each.share:.0%}",
            each.recorded,
            each.unknown,
            each.lost_functions,
            escape(each.name, 80),
        )
        for each in (*report.models, *report.files, report.total)
    ]
    print_table(columns, rows, right=columns[:4], wrap="model or file")


def _list_counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {escape(name, 30)}" for name, count in counts.items()) or "none"


@click.command("models", epilog=examples("vibes models", "vibes models --json"))
@audit_dir_option
@json_option
def models_command(audit_dir: Path | None, as_json: bool) -> None:
    """Show the share of each tool and model.

    Counts current annotations.
    """
    trail = open_trail(audit_dir)
    shares = model_shares(trail, trail.lineages())
    if as_json:
        print_json({"models": [share.as_json() for share in shares]})
        return
    rows = [
        (
            f"{share.share:.1%}",
            share.annotations,
            share.files,
            escape(share.author.model, 30),
            escape(f"{share.author.tool} {share.author.tool_version}", 60),
        )
        for share in shares
    ]
    print_table(
        ("share", "annotations", "files", "model", "tool"),
        rows,
        right=("share", "annotations", "files"),
    )
    if not rows:
        print_line("no annotations")


@click.command("sessions", epilog=examples("vibes sessions", "vibes sessions --open"))
@audit_dir_option
@click.option("--open", "only_open", is_flag=True, help="Open sessions only.")
@json_option
def sessions_command(audit_dir: Path | None, only_open: bool, as_json: bool) -> None:
    """List sessions, oldest first."""
    summaries = [
        each
        for each in session_summaries(open_trail(audit_dir))
        if each.session.is_open or not only_open
    ]
    if as_json:
        print_json({"sessions": [each.as_json() for each in summaries]})
        return
    rows = [_session_row(each) for each in summaries]
    print_table(
        ("session", "started", "duration", "edits", "description"),
        rows,
        right=("duration", "edits"),
    )
    if not rows:
        print_line("no sessions")


def _session_row(summary: SessionSummary) -> tuple[object, ...]:
    session = summary.session
    start = session.start.text("timestamp") if session.start else None
    name = session.text("description") or session.text("agent_name") or ""
    return (
        session.id[:8],
        (start or "never")[:16].replace("T", " "),
        "open" if session.is_open else _format_duration(summary.seconds),
        summary.annotations,
        f"{escape(name, 60)}  {escape(summary.author.label, 60)}".strip(),
    )


def _format_duration(seconds: float | None) -> str:
    if seconds is None:
        return "?"
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
