"""How long ago something was, for people. Pure."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final

_UNITS: Final = (
    (365 * 86_400, "y", "year"),
    (30 * 86_400, "mo", "month"),
    (86_400, "d", "day"),
    (3_600, "h", "hour"),
    (60, "m", "minute"),
)
_SECONDS: Final = {
    "w": 7 * 86_400,
    "week": 7 * 86_400,
    **{name: length for length, *names in _UNITS for name in names},
}
_AGE: Final = re.compile(r"(\d{1,6})(?:(y|mo|w|d|h|m)| (year|month|week|day|hour|minute)s? ago)")


def moment_before(age: str, now: datetime) -> datetime | None:
    """Return the time that was so long ago: `2 days ago` or `2d`; None for other text."""
    match = _AGE.fullmatch(age)
    if match is None:
        return None
    try:
        return now - timedelta(seconds=int(match[1]) * _SECONDS[match[2] or match[3]])
    except OverflowError:  # before the year 1
        return None


def short_age(moment: datetime, now: datetime) -> str:
    """Return an age of at most four characters, such as `9mo`; a date for a time in the future."""
    largest = _largest_unit(moment, now)
    if largest is None:
        return "now" if moment <= now else moment.date().isoformat()
    count, short, _ = largest
    return f"{count}{short}"


def describe_age(moment: datetime, now: datetime) -> str:
    """Return an age as text, such as `9 months ago`; a date for a time in the future."""
    largest = _largest_unit(moment, now)
    if largest is None:
        return "just now" if moment <= now else f"on {moment.date().isoformat()}"
    count, _, name = largest
    return f"{count} {name}{'' if count == 1 else 's'} ago"


def describe_span(seconds: float) -> str:
    """Return a span of time in its largest unit, such as `9 months` or `3 seconds`."""
    count, _, name = _unit_of(seconds) or (int(seconds), "s", "second")
    return f"{count} {name}{'' if count == 1 else 's'}"


def _largest_unit(moment: datetime, now: datetime) -> tuple[int, str, str] | None:
    return _unit_of((now - moment).total_seconds())


def _unit_of(seconds: float) -> tuple[int, str, str] | None:
    """Return the largest unit that fits at least once, with its count."""
    for length, short, name in _UNITS:
        if seconds >= length:
            return int(seconds // length), short, name
    return None
