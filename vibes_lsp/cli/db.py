"""`vibes db build`: makes the derived database (RFC 7.8)."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.cli.options import audit_dir_option, directory_of, json_option
from vibes_lsp.cli.output import plain, print_json, print_line
from vibes_lsp.database.build import build


@click.group("db")
def command() -> None:
    """Make the derived database, audit.db."""


@command.command("build")
@audit_dir_option
@json_option
def build_command(audit_dir: Path | None, as_json: bool) -> None:
    """Make audit.db anew from the log and the manifest, in one step."""
    built = build(directory_of(audit_dir))
    if as_json:
        print_json({"path": str(built.path), "rows": built.rows})
        return
    print_line(plain(built.path))
    for table, count in built.rows.items():
        if count:
            print_line(f"  {table:20}  {count:,}")
