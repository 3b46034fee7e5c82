"""`vibes doctor`: why nothing shows."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.checks.context import open_context
from vibes_lsp.checks.doctor import Health, Step, diagnose, program_step
from vibes_lsp.cli.options import audit_dir_option, directory_of, json_option, now
from vibes_lsp.cli.output import plain, print_json, styled
from vibes_lsp.errors import AuditDirNotFound

_STYLES = {Health.OK: "green", Health.NOTE: "cyan", Health.PROBLEM: "bold red"}
_MAX_MESSAGE = 400


@click.command("doctor")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@audit_dir_option
@json_option
def command(file: Path | None, audit_dir: Path | None, as_json: bool) -> int:
    """Look at everything between the program and an annotation, and at FILE. Exits 1 when there is a problem."""
    steps = [program_step()]
    try:
        steps += diagnose(open_context(directory_of(audit_dir), now()), file)
    except AuditDirNotFound as error:
        steps.append(Step("audit directory", Health.PROBLEM, error.message, error.hint))
    if as_json:
        print_json({"steps": [step.as_json() for step in steps]})
    else:
        for step in steps:
            _print(step)
    return 1 if any(step.health == Health.PROBLEM for step in steps) else 0


def _print(step: Step) -> None:
    styled(
        [
            (f"{step.health.value:<8}", _STYLES[step.health]),
            (f"{plain(step.about)}: ", "bold"),
            (plain(step.message, _MAX_MESSAGE), ""),
        ]
    )
    if step.hint:
        styled([(f"          {plain(step.hint, _MAX_MESSAGE)}", "dim")])
