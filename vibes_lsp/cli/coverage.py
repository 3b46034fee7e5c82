"""`vibes coverage`: how much of the project an AI wrote."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.checks.finding import pluralize
from vibes_lsp.cli.options import audit_dir_option, git_option, json_option, open_project
from vibes_lsp.cli.output import print_json, print_line, print_table
from vibes_lsp.history.repository import open_repository
from vibes_lsp.reports.coverage import FileCoverage, coverage, total, untracked


@click.command("coverage")
@click.option("--all", "everything", is_flag=True, help="List files without AI lines as well.")
@git_option
@audit_dir_option
@json_option
def command(everything: bool, git: bool, audit_dir: Path | None, as_json: bool) -> None:
    """Count the AI's lines of each tracked file: verified, claimed and edited."""
    project = open_project(audit_dir)
    directory = project.trail.directory
    repository = open_repository(directory.project)
    with project.locator(use_git=git, use_cache=True) as locator:
        files = coverage(locator, project.config.tracking, repository)
        left_out = untracked(locator, project.config.tracking, repository)
    whole = total(files)
    if as_json:
        print_json({"files": [file.as_json() for file in files], "total": whole.numbers()})
        return
    listed = [file for file in files if everything or file.counts]
    rows = [_row(file, file.path) for file in listed]
    rows.append(_row(whole, f"in all, of {len(files):,} files"))
    numbers = ("share", "verified", "claimed", "edited", "lines")
    print_table((*numbers, "file"), rows, right=numbers)
    if left_out:
        said = (
            "file is not counted: git does not track it",
            "files are not counted: git does not track them",
        )
        print_line(
            f"{pluralize(len(left_out), f'annotated {said[0]}', f'annotated {said[1]}')}; `git add` changes that"
        )
    elif not files:
        print_line(
            "there is no file that counts: git has to track it, where there is git, and so has the project (config.json)"
        )


def _row(file: FileCoverage, name: str) -> tuple[object, ...]:
    counts = file.counts
    share = f"{file.share:.0%}"
    return share, counts.verified, counts.claimed, counts.edited, file.lines, name
