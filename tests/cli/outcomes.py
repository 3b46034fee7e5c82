"""What the commands make of a broken trail: run on it all together, and nothing on disk may change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tests.cli.running import Done, Vibes
    from tests.unit.checks.projects import Project

DEEP: Final = b"[" * 100_000 + b"]" * 100_000
"""Nested far deeper than anything that is read."""


@dataclass(frozen=True)
class Outcome:
    """What the commands made of a broken trail."""

    check: Done
    log: Done
    stats: Done
    doctor: Done

    @property
    def errors(self) -> list[str]:
        """The lines of the report that are errors."""
        return [line for line in self.check.lines if ": error[" in line]


def outcome(project: Project, within: Vibes) -> Outcome:
    """Run everything on a trail, and see that it is as it was: `init`, too, only adds what is missing."""
    before = project.contents()
    done = [
        within(command, *more, cwd=project.root)
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
    assert within("init", cwd=project.root).code in (0, 2)
    assert {
        name: content for name, content in project.contents().items() if name in before
    } == before
    return Outcome(*done)


def listed(outcome: Outcome) -> int:
    """Return how many annotations `log` listed."""
    assert outcome.log.code == 0, outcome.log.err
    return len(outcome.log.json["records"])
