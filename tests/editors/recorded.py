"""Reads records from the log on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def records(audit: Path) -> list[dict[str, Any]]:
    """Return all records, in the order of the log."""
    return [
        json.loads(line)
        for line in (audit / "annotations.jsonl").read_text(encoding="utf-8").splitlines()
    ]


def newest(audit: Path, edge_type: str) -> dict[str, Any]:
    """Return the last edge of a type."""
    return next(
        record for record in reversed(records(audit)) if record.get("edge_type") == edge_type
    )
