"""Timestamps (R28): any ISO-8601 date and time is read, UTC with milliseconds and `Z` is written."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

_DATE_AND_TIME: Final = re.compile(r"[-\dW]{8,10}[Tt ]\d\d", re.ASCII)


@lru_cache(maxsize=1 << 13)  # what is sorted by time is asked for it again and again
def parse_timestamp(value: str) -> datetime | None:
    """Return the instant in UTC; no offset means UTC. None when it is not an ISO-8601 date with a time."""
    if len(value) < len("20260203T1000") or not _DATE_AND_TIME.match(value):
        return None
    try:
        moment = datetime.fromisoformat(value)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def format_timestamp(moment: datetime) -> str:
    """Return the instant as we write it, such as `2026-02-03T10:05:00.000Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
