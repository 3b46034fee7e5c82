"""Timestamps (R28), paths (R19), tracking (R26) and versions (R11)."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest

from vibes_lsp.model.paths import PathKind, normal_path, path_kind
from vibes_lsp.model.timestamps import format_timestamp, parse_timestamp
from vibes_lsp.model.tracking import Tracking
from vibes_lsp.store.versions import major_version, may_write

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
        ("0001-01-01T00:00:00Z", datetime.min.replace(tzinfo=UTC)),
        ("9999-12-31T23:59:59.999999Z", datetime.max.replace(tzinfo=UTC)),
    ],
)
def test_any_date_with_a_time_is_read_as_utc(text: str, moment: datetime) -> None:
    read = parse_timestamp(text)
    assert read == moment
    assert read is not None
    assert read.tzinfo is UTC


@pytest.mark.skipif(
    not hasattr(time, "tzset"), reason="this system's time zone cannot be set for one process"
)
def test_a_time_without_an_offset_is_utc_wherever_it_is_read(
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
def test_what_is_no_date_with_a_time_is_none(text: str) -> None:
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
def test_time_is_written_as_utc_with_milliseconds(moment: datetime, text: str) -> None:
    assert format_timestamp(moment) == text
    assert format_timestamp(parse_timestamp(text) or moment) == text


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("src/a.py", PathKind.INSIDE),
        ("./src/a.py", PathKind.INSIDE),
        ("src\\a.py", PathKind.INSIDE),
        ("a/../b.py", PathKind.INSIDE),
        (".github/a.yml", PathKind.INSIDE),
        ("..a/b", PathKind.INSIDE),
        ("...", PathKind.INSIDE),
        ("Größe und Maß.py", PathKind.INSIDE),
        ("files/a", PathKind.INSIDE),
        ("~/a.py", PathKind.INSIDE),
        ("/a.py", PathKind.ABSOLUTE),
        ("//server/a.py", PathKind.ABSOLUTE),
        ("\\a.py", PathKind.ABSOLUTE),
        ("\\\\server\\a.py", PathKind.ABSOLUTE),
        ("C:\\a.py", PathKind.ABSOLUTE),
        ("c:/a.py", PathKind.ABSOLUTE),
        ("C:a.py", PathKind.ABSOLUTE),
        ("file:///a.py", PathKind.ABSOLUTE),
        ("FILE:a.py", PathKind.ABSOLUTE),
        ("..", PathKind.ESCAPING),
        ("../a.py", PathKind.ESCAPING),
        ("..\\a.py", PathKind.ESCAPING),
        ("a/../../b.py", PathKind.ESCAPING),
        ("./../a.py", PathKind.ESCAPING),
        ("a\\..\\..\\b.py", PathKind.ESCAPING),
        ("", PathKind.UNUSABLE),
        (" \t", PathKind.UNUSABLE),
        (".", PathKind.UNUSABLE),
        ("a/..", PathKind.UNUSABLE),
        ("a\0b", PathKind.UNUSABLE),
        ("a\nb", PathKind.UNUSABLE),
        ("a\x1b[31m", PathKind.UNUSABLE),
        ("a/" * 2046 + "b.py", PathKind.INSIDE),
        ("a/" * 2047 + "b.py", PathKind.TOO_LONG),
        ("ß/" * 1500, PathKind.TOO_LONG),
        ("/" + "a/" * 2048, PathKind.TOO_LONG),
        ("../" * 2048, PathKind.TOO_LONG),
        ("a/../" * 2048 + "b.py", PathKind.INSIDE),
        ("./" * 2048 + "b.py", PathKind.INSIDE),
    ],
)
def test_what_a_recorded_path_can_name(path: str, kind: PathKind) -> None:
    assert path_kind(path) is kind


@pytest.mark.parametrize(
    ("path", "normal"),
    [
        ("src/a.py", "src/a.py"),
        ("./src/a.py", "src/a.py"),
        ("src\\a.py", "src/a.py"),
        ("a//b", "a/b"),
        ("a/./b", "a/b"),
        ("a/c/../b", "a/b"),
    ],
)
def test_paths_are_compared_in_one_spelling(path: str, normal: str) -> None:
    assert normal_path(path) == normal
    assert normal_path(normal) == normal


@pytest.mark.parametrize(
    ("pattern", "path", "tracked"),
    [
        ("**/vendor/**", "vendor/a.py", False),
        ("**/vendor/**", "lib/vendor/deep/a.py", False),
        ("**/vendor/**", "vendors/a.py", True),
        ("build/", "build/a.py", False),
        ("build/", "src/build/a.py", False),
        ("/build", "src/build/a.py", True),
        ("src/*.py", "src/a.py", False),
        ("src/*.py", "src/deep/a.py", True),
        ("*_pb2.py", "deep/down/a_pb2.py", False),
        ("# a comment", "# a comment", True),
        ("", "a.py", True),
        ("a[0-9].py", "a7.py", False),
        ("A.py", "a.py", True),
    ],
)
def test_exclude_patterns_are_lines_of_a_gitignore(pattern: str, path: str, tracked: bool) -> None:
    assert Tracking(None, [pattern]).tracks(path) is tracked


def test_a_later_pattern_takes_back_an_earlier_one() -> None:
    tracking = Tracking(None, ["*.py", "!keep.py"])
    assert tracking.tracks("keep.py")
    assert not tracking.tracks("other.py")


def test_listed_extensions_alone_are_tracked() -> None:
    tracking = Tracking([".py", ".RS"], ["gen/"])
    assert [
        path
        for path in ("a.py", "A.PY", "b.rs", "c.pyi", "py", ".py", "gen/a.py")
        if tracking.tracks(path)
    ] == [
        "a.py",
        "A.PY",
        "b.rs",
    ]


def test_without_a_list_all_extensions_are_tracked_and_with_an_empty_one_none() -> None:
    assert Tracking(None).tracks("LICENSE")
    assert not Tracking([]).tracks("a.py")
    assert not Tracking([]).tracks("LICENSE")


@pytest.mark.parametrize(
    "pattern", ["!", "/", "//", "[", "a[", "\\", "\ud800", "{", "(", "[z-a]", "!!"]
)
def test_a_pattern_that_is_none_excludes_nothing(pattern: str) -> None:
    """Anyone may have written the config: a pattern that git itself would pass over must not stop the rest."""
    tracking = Tracking(None, [pattern, "*.gen"])
    assert tracking.tracks("src/b.py")
    assert not tracking.tracks("src/b.gen")


@pytest.mark.parametrize(
    ("declared", "major", "writable"),
    [
        ("1.0", 1, True),
        ("1", 1, True),
        ("1.7.3", 1, True),
        ("1.0-beta.2", 1, True),
        ("1.0+build", 1, True),
        (" 1.0 ", 1, True),
        ("2.0", 2, False),
        ("0.9", 0, False),
        ("10.0", 10, False),
        ("v1.0", None, False),
        ("", None, False),
        ("one", None, False),
        ("1.", None, False),
        ("1.x", None, False),
        ("-1", None, False),
        ("9" * 5000, None, False),
    ],
)
def test_only_a_known_major_version_may_be_written(
    declared: str, major: int | None, writable: bool
) -> None:
    assert major_version(declared) == major
    assert may_write(declared) is writable
