"""`vibes stats`, `vibes models` and `vibes sessions`: numbers of the audit trail."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from vibes_lsp.cli.line_format import LineFormat
from vibes_lsp.cli.options import (
    audit_dir_option,
    color_option,
    examples,
    format_option,
    git_option,
    json_option,
    refuse_combined,
)
from vibes_lsp.cli.output import escape, print_json, print_line
from vibes_lsp.cli.pager import paged
from vibes_lsp.cli.project import now, open_project, open_trail
from vibes_lsp.cli.tables import print_table
from vibes_lsp.model.ages import short_age
from vibes_lsp.reports.authors import UNKNOWN
from vibes_lsp.reports.statistics import (
    CurrentEdits,
    SessionSummary,
    SurvivalReport,
    count_trail,
    measure_survival,
    session_summaries,
)

_SESSION_NAMES = ("id", "start", "end", "edits", "description", "agent", "tool", "model")


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
    shares: Counter[str] = Counter()
    for each in stats.models:  # versions count together
        shares[each.author.label] += each.annotations
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
            "-" if each.share is None else f"{each.share:.0%}",
            each.recorded,
            each.unknown,
            each.lost_functions,
            escape(each.name, 80),
        )
        for each in (*report.models, *report.files, report.total)
    ]
    print_table(columns, rows, right=columns[:4])


def _list_counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {escape(name, 30)}" for name, count in counts.items()) or "none"


@click.command("models", epilog=examples("vibes models", "vibes models --format '{model} {share}'"))
@format_option(("share", "annotations", "files", "model", "tool", "version"))
@audit_dir_option
@json_option
def models_command(line_format: LineFormat | None, audit_dir: Path | None, as_json: bool) -> None:
    """Show the share of each tool and model.

    Counts current annotations.
    """
    refuse_combined(format=line_format, json=as_json)
    trail = open_trail(audit_dir)
    shares = CurrentEdits(trail).model_shares()
    if as_json:
        print_json({"models": [share.as_json() for share in shares]})
        return
    if line_format is not None:
        for each in shares:
            counted = {"share": each.share, "annotations": each.annotations, "files": each.files}
            author = each.author
            named = {"model": author.model, "tool": author.tool, "version": author.tool_version}
            print_line(line_format.line({**counted, **named}))
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


@click.command("sessions", epilog=examples("vibes sessions", "vibes sessions --open"))
@click.option("--open", "only_open", is_flag=True, help="Open sessions only.")
@format_option(_SESSION_NAMES)
@color_option
@audit_dir_option
@json_option
def sessions_command(
    only_open: bool, line_format: LineFormat | None, audit_dir: Path | None, as_json: bool
) -> None:
    """List sessions, oldest first."""
    refuse_combined(format=line_format, json=as_json)
    summaries = [
        each
        for each in session_summaries(open_trail(audit_dir))
        if each.session.is_open or not only_open
    ]
    if as_json:
        print_json({"sessions": [each.as_json() for each in summaries]})
        return
    if line_format is not None:
        for each in summaries:
            print_line(line_format.line(_session_values(each)))
        return
    if not summaries:
        print_line("no open sessions" if only_open else "no sessions")
        return
    rows = [_session_row(each) for each in summaries]
    with paged():
        print_table(
            ("id", "age", "lasted", "edits", "model", "description"),
            rows,
            right=("age", "lasted", "edits"),
            styles={"id": "dim", "age": "dim", "description": "bold"},
        )


def _session_values(summary: SessionSummary) -> dict[str, object]:
    members = summary.as_json()
    return {
        "id": members["session_id"],
        "start": members["start"],
        "end": members["end"],
        "edits": summary.annotations,
        "description": members["description"],
        "agent": members["agent_name"],
        "tool": summary.author.tool,
        "model": summary.author.model,
    }


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
