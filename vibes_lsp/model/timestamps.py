"""Timestamps (R28): parse any ISO 8601 date and time; write UTC with milliseconds and `Z`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

_LEAP_SECOND: Final = re.compile(r"([Tt ]\d\d:?[25]9:?)60", re.ASCII)
"""The end of an hour in UTC, which is the middle of one where the offset has half an hour."""
_DATE_AND_TIME: Final = re.compile(r"[-\dW]{8,10}[Tt ]\d\d", re.ASCII)


@lru_cache(maxsize=1 << 13)  # sorting by time parses the same values repeatedly
def parse_timestamp(value: str) -> datetime | None:
    """Return the time in UTC, which is also the default offset; None when it is not ISO 8601.

    A leap second is the second that follows it.
    """
    if len(value) < len("20260203T1000") or not _DATE_AND_TIME.match(value):
        return None
    try:
        moment = _read(value)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _read(value: str) -> datetime:
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        before, count = _LEAP_SECOND.subn(r"\g<1>59", value, count=1)
        if not count:
            raise
        return datetime.fromisoformat(before) + timedelta(seconds=1)


def format_timestamp(moment: datetime) -> str:
    """Return the time as records have it, such as `2026-02-03T10:05:00.000Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
