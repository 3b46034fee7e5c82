"""Runs the reading commands on a broken audit trail, which must not change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tests.cli.run_vibes import CommandResult, RunVibes
    from tests.unit.checks.projects import Project

DEEP: Final = b"[" * 100_000 + b"]" * 100_000
"""JSON nested deeper than any reader accepts."""


@dataclass(frozen=True)
class Outcome:
    """The results of the commands."""

    check: CommandResult
    log: CommandResult
    stats: CommandResult
    doctor: CommandResult

    @property
    def errors(self) -> list[str]:
        """The errors that `check` printed."""
        return [line for line in self.check.lines if ": error[" in line]


def run_commands(project: Project, run_vibes: RunVibes) -> Outcome:
    """Run the commands; assert that no file changes and that `init` only adds what is missing."""
    before = project.contents()
    done = [
        run_vibes(command, *more, cwd=project.root)
        for command, more in (
            ("check", ["--all"]),
            ("log", ["--json"]),
            ("stats", []),
            ("doctor", []),
        )
    ]
    for each in done:
        assert each.code in (0, 1) or (
            each.out == "" and each.err.startswith("vibes: ") and each.err.count("\n") == 1
        )
        assert "Traceback" not in each.err
    assert project.contents() == before
    assert run_vibes("init", cwd=project.root).code in (0, 2)
    assert {
        name: content for name, content in project.contents().items() if name in before
    } == before
    return Outcome(*done)


def count_logged(run_commands: Outcome) -> int:
    """Return the number of annotations that `log` listed."""
    assert run_commands.log.code == 0, run_commands.log.err
    return len(run_commands.log.json["records"])
