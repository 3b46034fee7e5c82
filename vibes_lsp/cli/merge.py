"""`vibes merge`: settle what git, or a host without union merges, calls a conflict in the trail (R13, `docs/git.md`)."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.cli.options import audit_dir_option, directory_of, json_option
from vibes_lsp.cli.output import plain, print_error, print_json, print_line
from vibes_lsp.maintenance.merge import MergedFile, MergeOutcome, merge_trail


@click.command("merge")
@click.argument("base", metavar="[BASE]", required=False)
@audit_dir_option
@json_option
def command(base: str | None, audit_dir: Path | None, as_json: bool) -> int:
    """Settle conflicts in the trail, and take over whatever BASE (a branch, a tag, a commit) has and the trail lacks."""
    files = merge_trail(directory_of(audit_dir), base)
    refused = [each.problem for each in files if each.problem is not None]
    if as_json:
        print_json({"files": [_as_json(each) for each in files]})
    else:
        for each in files:
            if each.outcome is MergeOutcome.MERGED or each.resolved:
                print_line(
                    f"{plain(each.name)}: {'merged' if each.outcome is MergeOutcome.MERGED else 'nothing to add'}{', resolved' * each.resolved}"
                )
        if all(each.outcome is MergeOutcome.UNCHANGED and not each.resolved for each in files):
            print_line("nothing to merge")
    for problem in refused:
        print_error(problem)
    return 2 if refused else 0


def _as_json(file: MergedFile) -> dict[str, object]:
    return {
        "file": file.name,
        "outcome": file.outcome.value,
        "resolved": file.resolved,
        "message": file.problem.message if file.problem is not None else None,
    }
