"""How records that take the place of others are listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vibes_lsp.cli.output import print_table
from vibes_lsp.model.vocabulary import RecordType


def print_records(records: Sequence[Mapping[str, Any]]) -> None:
    """Print annotations with the commit that they name now; nothing when there are none."""
    rows = [(record["annotation_id"][:12], _place(record), record["commit_hash"][:12], record["action"]) for record in records]
    if rows:
        print_table(["id", "place", "commit", "action"], rows, wrap="place")


def _place(record: Mapping[str, Any]) -> str:
    if record["type"] == RecordType.LINE:  # which has its members: no record is written that lacks one
        return f"{record['file_path']}:{record['line_start']}-{record['line_end']}"
    return f"{record['file_path']} {record['function_name']}"
