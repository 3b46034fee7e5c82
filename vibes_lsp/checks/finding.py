"""The types of all checks: `Check`, one entry of a catalogue, and `Finding`, one result."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from vibes_lsp.model.members import Members


class Severity(StrEnum):
    """The severity of a finding; one error fails the whole check."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


def pluralize(number: int, singular: str, plural: str) -> str:
    """Return a number with its singular or plural words."""
    return f"{number:,} {singular if number == 1 else plural}"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that is checked.

    Attributes:
        id: Stable name, used in output, in SARIF and in links.
        severity: The severity of its findings, unless a finding overrides it.
        title: What is wrong, in general.
        why: The reason, with the rule it comes from.
        fix: What to do.
    """

    id: str
    severity: Severity
    title: str
    why: str
    fix: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    Attributes:
        check: The catalogue entry.
        message: What is wrong here; it never quotes a secret.
        file: The file, relative to the project.
        line: 1-based line in the file; None for the whole file.
        field: The member in the object on that line, such as `risk_factors.0.value`.
        override: The severity, if it differs from the check's.
        column: 1-based character of the line, if known.
        end_line: The last line of a range.
    """

    check: Check
    message: str
    file: str
    line: int | None = None
    field: str | None = None
    override: Severity | None = None
    column: int | None = None
    end_line: int | None = None

    @property
    def severity(self) -> Severity:
        """The severity of this finding."""
        return self.override or self.check.severity

    @property
    def location(self) -> str:
        """The file with line and column, as far as they are known."""
        return ":".join(
            [self.file, *(str(number) for number in (self.line, self.column) if number is not None)]
        )

    @property
    def sort_key(self) -> tuple[int, str, str, int, int, str]:
        """Errors first, then by check and location."""
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
        known_places = {name: value for name, value in places.items() if value is not None}
        return {
            "check": self.check.id,
            "severity": self.severity.value,
            "message": self.message,
            "file": self.file,
            **known_places,
        }
