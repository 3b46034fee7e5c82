"""`vibes merge`: resolve conflicts in the audit trail (R13, `docs/git.md`)."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.cli.options import audit_dir_option, examples, json_option
from vibes_lsp.cli.output import escape, print_error, print_json, print_line
from vibes_lsp.cli.project import audit_directory
from vibes_lsp.maintenance.merge import MergedFile, MergeOutcome, merge_trail


@click.command("merge", epilog=examples("vibes merge", "vibes merge origin/main"))
@click.argument(
    "base",
    metavar="[REV]",
    required=False,
    help="Branch, tag or commit to add records from.",
)
@audit_dir_option
@json_option
def command(base: str | None, audit_dir: Path | None, as_json: bool) -> int:
    """Resolve merge conflicts in the audit trail.

    With REV, also adds the records of that revision that this audit trail lacks.
    """
    files = merge_trail(audit_directory(audit_dir), base)
    problems = [file.problem for file in files if file.problem is not None]
    if as_json:
        print_json({"files": [_as_json(file) for file in files]})
    else:
        for file in files:
            if file.outcome is MergeOutcome.MERGED or file.resolved:
                outcome = "merged" if file.outcome is MergeOutcome.MERGED else "nothing to add"
                print_line(f"{escape(file.name)}: {outcome}{', resolved' * file.resolved}")
        if all(file.outcome is MergeOutcome.UNCHANGED and not file.resolved for file in files):
            print_line("nothing to merge")
    for problem in problems:
        print_error(problem)
    return 2 if problems else 0


def _as_json(file: MergedFile) -> dict[str, object]:
    return {
        "file": file.name,
        "outcome": file.outcome.value,
        "resolved": file.resolved,
        "message": file.problem.message if file.problem is not None else None,
    }
