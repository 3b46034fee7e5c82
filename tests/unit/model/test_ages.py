"""`model.ages`: how long ago something was."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from vibes_lsp.model.ages import describe_age, moment_before, short_age

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("age", "short", "described"),
    [
        (timedelta(0), "now", "just now"),
        (timedelta(seconds=59), "now", "just now"),
        (timedelta(minutes=1), "1m", "1 minute ago"),
        (timedelta(minutes=59, seconds=59), "59m", "59 minutes ago"),
        (timedelta(hours=23), "23h", "23 hours ago"),
        (timedelta(days=1), "1d", "1 day ago"),
        (timedelta(days=29), "29d", "29 days ago"),
        (timedelta(days=240), "8mo", "8 months ago"),
        (timedelta(days=364), "12mo", "12 months ago"),
        (timedelta(days=365), "1y", "1 year ago"),
        (timedelta(days=-400), "2027-12-27", "on 2027-12-27"),
    ],
)
def test_the_largest_unit_that_fits(age: timedelta, short: str, described: str) -> None:
    assert (short_age(NOW - age, NOW), describe_age(NOW - age, NOW)) == (short, described)


@pytest.mark.parametrize(
    ("text", "age"),
    [
        *(("2 days ago", timedelta(days=2)), ("1 day ago", timedelta(days=1))),
        *(("2d", timedelta(days=2)), ("9mo", timedelta(days=270)), ("3w", timedelta(weeks=3))),
        *(("30 minutes ago", timedelta(minutes=30)), ("5m", timedelta(minutes=5))),
    ],
)
def test_an_age_is_read_as_it_is_printed(text: str, age: timedelta) -> None:
    assert moment_before(text, NOW) == NOW - age


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2 days", "-2d", "2 d", "999999y", "2 parsecs ago"]
)
def test_other_text_is_no_age(text: str) -> None:
    assert moment_before(text, NOW) is None
