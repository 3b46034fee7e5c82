"""A finding on a terminal, as `vibes check` and `vibes gate` print it."""

from __future__ import annotations

from typing import Final

from vibes_lsp.checks.finding import Finding, Severity
from vibes_lsp.cli.output import plain, styled

_STYLES: Final = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
_MAX_MESSAGE: Final = 400


def print_finding(finding: Finding) -> None:
    """Print where it is, how much it weighs, which check it is of, and what is wrong, on one line."""
    styled(
        [
            (plain(finding.place), "bold"),
            (": ", ""),
            (finding.severity.value, _STYLES[finding.severity]),
            (f"[{finding.check.id}] ", "dim"),
            (plain(finding.message, _MAX_MESSAGE), ""),
        ]
    )
