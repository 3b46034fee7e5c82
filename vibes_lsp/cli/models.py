"""`vibes models`: which tools and models wrote how much."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.cli.options import audit_dir_option, json_option, open_trail
from vibes_lsp.cli.output import plain, print_json, print_line, print_table
from vibes_lsp.reports.statistics import model_shares


@click.command("models")
@audit_dir_option
@json_option
def command(audit_dir: Path | None, as_json: bool) -> None:
    """Say which tools and models wrote how much of what is current."""
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
            plain(share.author.model, 30),
            plain(f"{share.author.tool} {share.author.tool_version}", 60),
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
