"""`vibes doctor`: diagnose missing annotations."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.checks.context import open_context
from vibes_lsp.checks.doctor import Health, Step, diagnose, program_step
from vibes_lsp.cli.options import audit_dir_option, examples, json_option
from vibes_lsp.cli.output import escape, print_json, print_styled
from vibes_lsp.cli.project import audit_directory, now
from vibes_lsp.errors import AuditDirNotFound

_STYLES = {Health.OK: "green", Health.NOTE: "cyan", Health.PROBLEM: "bold red"}
_MAX_MESSAGE = 400


@click.command("doctor", epilog=examples("vibes doctor", "vibes doctor src/auth.py"))
@click.argument(
    "file",
    type=click.Path(path_type=Path),
    required=False,
    help="File whose annotations are missing.",
)
@audit_dir_option
@json_option
def command(file: Path | None, audit_dir: Path | None, as_json: bool) -> int:
    """Diagnose missing annotations.

    Checks each step from the program to the annotations of FILE, and says how to fix a problem.
    Exits 1 when it finds one.
    """
    steps = [program_step()]
    try:
        steps += diagnose(open_context(audit_directory(audit_dir), now()), file)
    except AuditDirNotFound as error:
        steps.append(Step("audit directory", Health.PROBLEM, error.message, error.hint))
    if as_json:
        print_json({"steps": [step.as_json() for step in steps]})
    else:
        for step in steps:
            _print(step)
    return 1 if any(step.health == Health.PROBLEM for step in steps) else 0


def _print(step: Step) -> None:
    print_styled(
        [
            (f"{step.health.value:<8}", _STYLES[step.health]),
            (f"{escape(step.about)}: ", "bold"),
            (escape(step.message, _MAX_MESSAGE), ""),
        ]
    )
    if step.hint:
        print_styled([(f"          {escape(step.hint, _MAX_MESSAGE)}", "dim")])
