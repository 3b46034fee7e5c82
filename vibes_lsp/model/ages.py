"""How long ago something was, for people. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import Final

_UNITS: Final = (
    (365 * 86_400, "y", "year"),
    (30 * 86_400, "mo", "month"),
    (86_400, "d", "day"),
    (3_600, "h", "hour"),
    (60, "m", "minute"),
)


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
