"""`vibes stats`: the trail in numbers."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.cli.options import audit_dir_option, json_option, open_trail
from vibes_lsp.cli.output import plain, print_json, print_table
from vibes_lsp.reports.stats import trail_stats
from vibes_lsp.store.config import load_config


@click.command("stats")
@audit_dir_option
@json_option
def command(audit_dir: Path | None, as_json: bool) -> None:  # noqa: FBT001
    """Give the trail in numbers."""
    trail = open_trail(audit_dir)
    stats = trail_stats(trail, load_config(trail.directory).tracking)
    if as_json:
        print_json(stats.as_json())
        return
    models = ", ".join(f"{share.share:.0%} {plain(share.author.label, 60)}" for share in stats.models)
    past = stats.annotations - stats.current
    rows = [
        ("annotations", f"{stats.annotations:,}, of which {past:,} history"),
        ("actions", _listed(stats.actions)),
        ("assurance levels", _listed(stats.levels)),
        ("models", models or "none"),
        ("files", f"{stats.files:,}, of which {stats.foreign:,} not in this checkout, {stats.untracked:,} not tracked"),
        ("sessions", f"{stats.sessions:,}, of which {stats.open_sessions:,} never closed"),
        ("log records", f"{stats.records:,}"),
        ("context entries", f"{stats.entries:,}"),
    ]
    print_table(("", "in this trail"), rows)


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {plain(name, 30)}" for name, count in counts.items()) or "none"
