"""Recorded paths that name no file of the project (R19)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.trails import TrailWriter, quirks
from tests.unit.trail.trails import read_trail
from vibes_lsp.git.project_files import count_foreign, why_foreign

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def writer(tmp_path: Path) -> TrailWriter:
    writer = TrailWriter(tmp_path)
    writer.environment()
    return writer


def test_foreign_paths_of_a_trail(tmp_path: Path) -> None:
    made = quirks(tmp_path / "project")
    trail = read_trail(made.root)
    assert why_foreign(made["foreign-path"].paths[0], made.root) == "absolute"
    assert why_foreign(made["sibling-path"].paths[0], made.root) == "missing"
    assert why_foreign("src/area.py", made.root) is None
    paths = trail.annotated_paths()
    foreign = [path for path in paths if why_foreign(path, made.root)]
    assert 0 < count_foreign(paths, made.root) == len(foreign) < len(paths)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/etc/hosts", "absolute"),
        ("C:\\code\\a.py", "absolute"),
        ("c:/code/a.py", "absolute"),
        ("\\\\server\\share\\a.py", "absolute"),
        ("\\etc\\hosts", "absolute"),
        ("file:///a.py", "absolute"),
        ("../a.py", "outside the project"),
        ("src\\..\\..\\a.py", "outside the project"),
        (" ", "missing"),
        ("a\0.py", "invalid"),
        ("\ud800.py", "missing"),
        ("x" * 5000, "too long"),
        ("src", "missing"),
        ("none.py", "missing"),
    ],
)
def test_why_a_path_is_foreign(tmp_path: Path, path: str, reason: str) -> None:
    (tmp_path / "src").mkdir()
    assert why_foreign(path, tmp_path) == reason


@pytest.mark.parametrize(
    "path", ["src/a.py", "./src/a.py", "src//a.py", "src\\a.py", "src/../src/a.py", "src/a.py/"]
)
def test_spellings_of_an_existing_file_are_not_foreign(tmp_path: Path, path: str) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").touch()
    assert why_foreign(path, tmp_path) is None


def test_all_spellings_of_a_path_are_one_file(writer: TrailWriter) -> None:
    made = [
        writer.line(path, 1 + n, 1 + n)
        for n, path in enumerate(("src/a.py", "./src/a.py", "src\\a.py"))
    ]
    trail = read_trail(writer.root)
    assert [lineage.current.id for lineage in trail.lineages_in("src/a.py")] == made
    assert trail.lineages_in("./src/a.py") == trail.lineages_in("src/a.py")
