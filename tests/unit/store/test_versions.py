"""The version gate (RFC 12.1, R11)."""

from __future__ import annotations

import pytest

from vibes_lsp.store.versions import major_version, may_write


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
