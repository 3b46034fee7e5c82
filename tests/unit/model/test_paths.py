"""Recorded paths (R19): their kind and their normal form."""

from __future__ import annotations

import pytest

from vibes_lsp.model.paths import PathKind, normal_path, path_kind


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
        (" \t", PathKind.INSIDE),
        (".", PathKind.UNUSABLE),
        ("a/..", PathKind.UNUSABLE),
        ("a\0b", PathKind.UNUSABLE),
        ("a\nb", PathKind.INSIDE),
        ("a\x1b[31m", PathKind.INSIDE),
        ("a/" * 2046 + "b.py", PathKind.INSIDE),
        ("a/" * 2047 + "b.py", PathKind.TOO_LONG),
        ("ß/" * 1500, PathKind.TOO_LONG),
        ("/" + "a/" * 2048, PathKind.TOO_LONG),
        ("../" * 2048, PathKind.TOO_LONG),
        ("a/../" * 2048 + "b.py", PathKind.INSIDE),
        ("./" * 2048 + "b.py", PathKind.INSIDE),
    ],
)
def test_kinds_of_recorded_paths(path: str, kind: PathKind) -> None:
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
def test_normal_form_of_paths(path: str, normal: str) -> None:
    assert normal_path(path) == normal
    assert normal_path(normal) == normal
