"""What a check is, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from vibes_lsp.model.members import Members


class Severity(StrEnum):
    """How much a finding weighs; any error fails the check as a whole."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


def pluralize(number: int, one: str, many: str) -> str:
    """Return a number with the words that go with it."""
    return f"{number:,} {one if number == 1 else many}"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that is checked.

    Attributes:
        id: Stable name, used in output, in SARIF and in links.
        severity: What its findings weigh, unless one says otherwise.
        title: What a finding says in general.
        why: What rests on it, with the rule it comes from.
        fix: What to do about it.
    """

    id: str
    severity: Severity
    title: str
    why: str
    fix: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found.

    Attributes:
        check: What was checked.
        message: What is wrong here; speaks of the place, quotes no secret.
        file: The file, relative to the project.
        line: 1-based line in the file, where there is one.
        field: The member in the object on that line, such as `risk_factors.0.value`.
        override: What it weighs here, where that differs from the check.
        column: 1-based character of the line, where one can be named.
    """

    check: Check
    message: str
    file: str
    line: int | None = None
    field: str | None = None
    override: Severity | None = None
    column: int | None = None

    @property
    def severity(self) -> Severity:
        """What the finding weighs."""
        return self.override or self.check.severity

    @property
    def location(self) -> str:
        """The file, with line and column where there are any."""
        return ":".join(
            [self.file, *(str(number) for number in (self.line, self.column) if number is not None)]
        )

    @property
    def sort_key(self) -> tuple[int, str, str, int, int, str]:
        """Errors first, then by check and place."""
        return (
            list(Severity).index(self.severity),
            self.check.id,
            self.file,
            self.line or 0,
            self.column or 0,
            self.field or "",
        )

    def as_json(self) -> Members:
        """Return `{check, severity, message, file, line?, column?, field?}`."""
        places = {"line": self.line, "column": self.column, "field": self.field}
        given = {name: value for name, value in places.items() if value is not None}
        return {
            "check": self.check.id,
            "severity": self.severity.value,
            "message": self.message,
            "file": self.file,
            **given,
        }
