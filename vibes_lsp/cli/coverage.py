"""`vibes coverage`: how much of the project an AI wrote."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.checks.finding import counted
from vibes_lsp.cli.options import audit_dir_option, git_option, json_option, open_project
from vibes_lsp.cli.output import print_json, print_line, print_table
from vibes_lsp.history.repository import open_repository
from vibes_lsp.reports.coverage import coverage, total, untracked


@click.command("coverage")
@click.option("--all", "everything", is_flag=True, help="List files without a line of an AI's as well.")
@git_option
@audit_dir_option
@json_option
def command(everything: bool, git: bool, audit_dir: Path | None, as_json: bool) -> None:  # noqa: FBT001
    """Say how many lines of each tracked file an AI wrote, and how many of those are still as it wrote them."""
    project = open_project(audit_dir)
    directory = project.trail.directory
    repository = open_repository(directory.project)
    with project.places(use_git=git, keeps_facts=True) as places:
        files = coverage(places, project.config.tracking, repository)
        left_out = untracked(places, project.config.tracking, repository)
    whole = total(files)
    if as_json:
        print_json({"files": [file.as_json() for file in files], "total": whole.numbers()})
        return
    listed = [file for file in files if everything or file.ai]
    rows = [(f"{file.share:.0%}", file.ai, file.intact, file.lines, file.path) for file in listed]
    rows.append((f"{whole.share:.0%}", whole.ai, whole.intact, whole.lines, f"in all, of {len(files):,} files"))
    print_table(("share", "AI lines", "intact", "lines", "file"), rows, right=("share", "AI lines", "intact", "lines"))
    if left_out:
        said = "file is not counted: git does not track it", "files are not counted: git does not track them"
        print_line(f"{counted(len(left_out), f'annotated {said[0]}', f'annotated {said[1]}')}; `git add` changes that")
    elif not files:
        print_line("there is no file that counts: git has to track it, where there is git, and so has the project (config.json)")
