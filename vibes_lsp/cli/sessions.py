"""`vibes sessions`: the sessions of the trail."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.cli.options import audit_dir_option, json_option, open_trail
from vibes_lsp.cli.output import plain, print_json, print_line, print_table
from vibes_lsp.reports.statistics import SessionSummary, session_summaries


@click.command("sessions")
@audit_dir_option
@click.option("--open", "only_open", is_flag=True, help="Only sessions that were never closed.")
@json_option
def command(audit_dir: Path | None, only_open: bool, as_json: bool) -> None:
    """List the sessions in the order of the log."""
    summaries = [
        each
        for each in session_summaries(open_trail(audit_dir))
        if each.session.is_open or not only_open
    ]
    if as_json:
        print_json({"sessions": [each.as_json() for each in summaries]})
        return
    rows = [_row(each) for each in summaries]
    print_table(("session", "started", "lasted", "edits", "what"), rows, right=("lasted", "edits"))
    if not rows:
        print_line("no sessions")


def _row(summary: SessionSummary) -> tuple[object, ...]:
    session = summary.session
    start = session.start.text("timestamp") if session.start else None
    return (
        session.id[:8],
        (start or "never")[:16].replace("T", " "),
        "open" if session.is_open else _duration(summary.seconds),
        summary.annotations,
        f"{plain(session.text('description') or session.text('agent_name') or '', 60)}  {plain(summary.author.label, 60)}".strip(),
    )


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "?"
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
