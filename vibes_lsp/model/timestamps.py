"""Timestamps (R28): parse any ISO 8601 date and time; write UTC with milliseconds and `Z`."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

_DATE_AND_TIME: Final = re.compile(r"[-\dW]{8,10}[Tt ]\d\d", re.ASCII)


@lru_cache(maxsize=1 << 13)  # sorting by time parses the same values repeatedly
def parse_timestamp(value: str) -> datetime | None:
    """Return the time in UTC, which is also the default offset; None when it is not ISO 8601."""
    if len(value) < len("20260203T1000") or not _DATE_AND_TIME.match(value):
        return None
    try:
        moment = datetime.fromisoformat(value)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def format_timestamp(moment: datetime) -> str:
    """Return the time as records have it, such as `2026-02-03T10:05:00.000Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
