"""`model.ages`: how long ago something was."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from vibes_lsp.model.ages import describe_age, short_age

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
