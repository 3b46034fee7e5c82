"""`vibes doctor`: diagnose missing annotations."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.agents.installation import current_home
from vibes_lsp.checks.context import open_context
from vibes_lsp.cli.init import program_path
from vibes_lsp.cli.options import audit_dir_option, examples, json_option
from vibes_lsp.cli.output import escape, print_json, print_line, print_styled
from vibes_lsp.cli.pager import paged
from vibes_lsp.cli.project import audit_directory, now
from vibes_lsp.doctor.diagnosis import diagnose, program_step
from vibes_lsp.doctor.fixes import Fix, apply_fixes
from vibes_lsp.doctor.steps import Group, Health, Step
from vibes_lsp.errors import AuditDirNotFound
from vibes_lsp.git.missing_trail import explained, missing_trail
from vibes_lsp.store.audit_dir import AuditDir

_STYLES = {Health.OK: "green", Health.NOTE: "cyan", Health.PROBLEM: "bold red"}
_TITLES = {
    Group.PROGRAM: "Program",
    Group.TRAIL: "Audit trail",
    Group.GIT: "Git",
    Group.AGENTS: "Coding agents",
    Group.RECORDING: "Recording",
    Group.FILE: "File",
}
_MAX_MESSAGE = 400


@click.command(
    "doctor", epilog=examples("vibes doctor", "vibes doctor src/auth.py", "vibes doctor --fix")
)
@click.argument(
    "file",
    type=click.Path(path_type=Path),
    required=False,
    help="File whose annotations are missing.",
)
@click.option("--fix", is_flag=True, help="Repair first what can be repaired safely.")
@audit_dir_option
@json_option
def command(file: Path | None, fix: bool, audit_dir: Path | None, as_json: bool) -> int:
    """Diagnose missing annotations.

    Checks each step from the program and the coding agents to the annotations of FILE, and says how
    to fix a problem. Exits 1 when it finds one.

    --fix records what waits, updates outdated hooks, narrows permissions and removes temporary
    files of ended programs. It names each repair.
    """
    home = current_home()
    steps = [program_step()]
    fixes: list[Fix] = []
    try:
        directory = _whole_trail(audit_dir)
        if fix:
            fixes += apply_fixes(directory, home, now(), program=program_path())
        steps += diagnose(open_context(directory, now()), home, file)
    except AuditDirNotFound as missing:
        error = explained(missing, Path.cwd() if file is None else file.absolute())
        steps.append(
            Step(Group.TRAIL, "audit directory", Health.PROBLEM, error.message, error.hint)
        )
    if as_json:
        print_json(
            {
                "fixes": [repair.as_json() for repair in fixes],
                "steps": [step.as_json() for step in steps],
            }
        )
    else:
        with paged():
            for repair in fixes:
                _print_fix(repair)
            _print_steps(steps)
    return 1 if any(step.health == Health.PROBLEM for step in steps) else 0


def _whole_trail(audit_dir: Path | None) -> AuditDir:
    """Return the audit directory.

    Raises:
        AuditDirNotFound: There is none, or its files are only in git.
    """
    directory = audit_directory(audit_dir)
    left_out = missing_trail(directory.project)
    if left_out is not None:
        raise AuditDirNotFound(left_out.reason, hint=f"restore it: {left_out.restoring}")
    return directory


def _print_fix(fix: Fix) -> None:
    word, style = ("failed", "bold red") if fix.failed else ("fixed", "green")
    print_styled(
        [
            (f"{word:<8}", style),
            (f"{escape(fix.about)}: ", "bold"),
            (escape(fix.message, _MAX_MESSAGE), ""),
        ],
        indent=8,
    )


def _print_steps(steps: list[Step]) -> None:
    group: Group | None = None
    for step in steps:
        if step.group is not group:
            if group is not None:
                print_line("")
            group = step.group
            print_styled([(_TITLES[group], "bold")])
        _print(step)


def _print(step: Step) -> None:
    print_styled(
        [
            (f"{step.health.value:<8}", _STYLES[step.health]),
            (f"{escape(step.about)}: ", "bold"),
            (escape(step.message, _MAX_MESSAGE), ""),
        ],
        indent=8,
    )
    if step.hint:
        print_styled([(f"          {escape(step.hint, _MAX_MESSAGE)}", "dim")], indent=10)
