"""`vibes stats --by file`: the share of AI lines in each file."""

from __future__ import annotations

from pathlib import Path

from vibes_lsp.checks.finding import pluralize
from vibes_lsp.cli.output import print_json, print_line
from vibes_lsp.cli.pager import paged
from vibes_lsp.cli.project import open_project
from vibes_lsp.cli.tables import print_table
from vibes_lsp.reports.coverage import (
    FileCoverage,
    owned_files,
    project_files,
    total_coverage,
    untracked_files,
)


def print_coverage(audit_dir: Path | None, *, show_all: bool, as_json: bool) -> None:
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
    rows = [_row(file, file.path) for file in listed]
    rows.append(_row(total, f"total of {pluralize(len(files), 'file', 'files')}"))
    numbers = ("share", "verified", "claimed", "edited", "lines")
    with paged():
        print_table((*numbers, "file"), rows, right=numbers)
        if untracked:
            singular, plural = "annotated file is not counted", "annotated files are not counted"
            count = pluralize(len(untracked), singular, plural)
            print_line(f"{count}: not tracked by git; use `git add`")
        elif not files:
            print_line("no files to count: expected files that git and config.json track")


def _row(file: FileCoverage, name: str) -> tuple[object, ...]:
    counts = file.counts
    share = f"{file.share:.0%}"
    return share, counts.verified, counts.claimed, counts.edited, file.lines, name
