"""Which files a project tracks (R26)."""

from __future__ import annotations

import pytest

from vibes_lsp.model.tracking import Tracking


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
def test_exclude_patterns_match_like_gitignore(pattern: str, path: str, tracked: bool) -> None:
    assert Tracking(None, [pattern]).tracks(path) is tracked


def test_a_later_pattern_overrides_an_earlier_one() -> None:
    tracking = Tracking(None, ["*.py", "!keep.py"])
    assert tracking.tracks("keep.py")
    assert not tracking.tracks("other.py")


def test_only_listed_extensions_are_tracked() -> None:
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


def test_without_a_list_all_extensions_are_tracked() -> None:
    assert Tracking(None).tracks("LICENSE")
    assert not Tracking([]).tracks("a.py")
    assert not Tracking([]).tracks("LICENSE")


@pytest.mark.parametrize(
    "pattern", ["!", "/", "//", "[", "a[", "\\", "\ud800", "{", "(", "[z-a]", "!!"]
)
def test_an_invalid_pattern_excludes_nothing(pattern: str) -> None:
    """The config is untrusted: a pattern that git would ignore must not disable the others."""
    tracking = Tracking(None, [pattern, "*.gen"])
    assert tracking.tracks("src/b.py")
    assert not tracking.tracks("src/b.gen")
