"""Timestamps (R28): what is parsed, and how they are written."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest

from vibes_lsp.model.timestamps import format_timestamp, parse_timestamp

TEN = datetime(2026, 2, 3, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-02-03T10:00:00Z", TEN),
        ("2026-02-03T10:00:00", TEN),
        ("2026-02-03 10:00:00", TEN),
        ("2026-02-03T10:00", TEN),
        ("20260203T1000", TEN),
        ("20260203T100000Z", TEN),
        ("2026-02-03T12:00:00+02:00", TEN),
        ("2026-02-03T04:30:00-05:30", TEN),
        ("2026-02-03T10:00:00.123Z", TEN + timedelta(milliseconds=123)),
        ("2026-02-03T10:00:00.123456+00:00", TEN + timedelta(microseconds=123456)),
        ("2026-02-03T10:00:00.123456789Z", TEN + timedelta(microseconds=123456)),
        ("2026-02-03T09:59:60Z", TEN),
        ("20260203T095960", TEN),
        ("2026-02-03T11:59:60.5+02:00", TEN + timedelta(milliseconds=500)),
        ("0001-01-01T00:00:00Z", datetime.min.replace(tzinfo=UTC)),
        ("9999-12-31T23:59:59.999999Z", datetime.max.replace(tzinfo=UTC)),
    ],
)
def test_iso_8601_times_are_parsed_as_utc(text: str, moment: datetime) -> None:
    read = parse_timestamp(text)
    assert read == moment
    assert read is not None
    assert read.tzinfo is UTC


@pytest.mark.skipif(
    not hasattr(time, "tzset"), reason="this system's time zone cannot be set for one process"
)
def test_a_time_without_offset_is_utc_in_any_time_zone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "XST-09:00")
    time.tzset()
    try:
        assert parse_timestamp("2026-02-03T10:00:00") == TEN
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-02-03T10:60:00Z",
        "2026-02-03T10:00:61Z",
        "9999-12-31T23:59:60Z",
        "2026-02-03",
        "20260203",
        "2026-W06-2",
        "10:00:00",
        "2026-02-30T10:00:00Z",
        "2026-02-03T25:00:00Z",
        "2026-02-03T10:00:60Z",
        "2026-02-03T10:00:00+99:00",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "Tue, 03 Feb 2026 10:00:00 GMT",
        "1770112800",
        "1770112800000.0",
        "\uff12\uff10\uff12\uff16-02-03T10:00:00Z",
        "2026-02-03T10:00:00\ud800",
        "2026-02-03T10:00:00Z\n",
    ],
)
def test_other_texts_are_not_timestamps(text: str) -> None:
    assert parse_timestamp(text) is None


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (TEN, "2026-02-03T10:00:00.000Z"),
        (TEN + timedelta(microseconds=123999), "2026-02-03T10:00:00.123Z"),
        (TEN.astimezone(timezone(timedelta(hours=-7))), "2026-02-03T10:00:00.000Z"),
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00.000Z"),
    ],
)
def test_times_are_written_as_utc_with_milliseconds(moment: datetime, text: str) -> None:
    assert format_timestamp(moment) == text
    assert format_timestamp(parse_timestamp(text) or moment) == text
