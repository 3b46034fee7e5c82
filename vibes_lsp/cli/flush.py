"""`vibes flush`: write what waits for a commit into the log (R29)."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.cli.options import audit_dir_option, examples, json_option
from vibes_lsp.cli.output import escape, print_json, print_line, print_warning
from vibes_lsp.cli.project import audit_directory, fold_waiting_events


@click.command("flush", epilog=examples("vibes flush", "vibes flush --commit"))
@click.option(
    "--commit",
    "commits",
    is_flag=True,
    help="Commit of the audit trail alone, with what waits about committed lines.",
)
@audit_dir_option
@json_option
def command(commits: bool, audit_dir: Path | None, as_json: bool) -> None:
    """Write waiting records into the log.

    Records wait for the commit that contains their lines. This writes those whose lines are in the
    files on disk, and verdicts on what the log has, without a commit.
    """
    # reading git's objects takes time that other commands need not spend
    from vibes_lsp.maintenance.flush import flush, flush_and_commit  # noqa: PLC0415

    directory = audit_directory(audit_dir)
    fold_waiting_events(directory)
    done = flush_and_commit(directory) if commits else flush(directory)
    for problem in done.problems:
        print_warning(problem)
    if as_json:
        print_json(
            {"written": list(done.written), "waiting": list(done.waiting), "commit": done.commit}
        )
        return
    print_line(f"{len(done.written):,} written, {len(done.waiting):,} annotations go on waiting")
    if done.commit is not None:
        print_line(f"commit {escape(done.commit[:12])}")
