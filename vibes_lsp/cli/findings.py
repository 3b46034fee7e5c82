"""How findings and written records are printed by several commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from vibes_lsp.checks.finding import Finding, Severity
from vibes_lsp.cli.output import plain, print_table, styled
from vibes_lsp.model.vocabulary import RecordType

_STYLES: Final = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
_MAX_MESSAGE: Final = 400


def print_finding(finding: Finding) -> None:
    """Print where it is, how much it weighs, which check it is of, and what is wrong, on one line."""
    styled(
        [
            (plain(finding.location), "bold"),
            (": ", ""),
            (finding.severity.value, _STYLES[finding.severity]),
            (f"[{finding.check.id}] ", "dim"),
            (plain(finding.message, _MAX_MESSAGE), ""),
        ]
    )


def print_records(records: Sequence[Mapping[str, Any]]) -> None:
    """Print annotations with the commit that they name now; nothing when there are none."""
    rows = [
        (record["annotation_id"][:12], _place(record), record["commit_hash"][:12], record["action"])
        for record in records
    ]
    if rows:
        print_table(["id", "place", "commit", "action"], rows, wrap="place")


def _place(record: Mapping[str, Any]) -> str:
    if (
        record["type"] == RecordType.LINE
    ):  # which has its members: no record is written that lacks one
        return f"{record['file_path']}:{record['line_start']}-{record['line_end']}"
    return f"{record['file_path']} {record['function_name']}"
