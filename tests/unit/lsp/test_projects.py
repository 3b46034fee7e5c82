"""The trails that the server knows, and which documents each of them owns."""

from __future__ import annotations

from pathlib import Path

from tests.trails import TrailWriter
from vibes_lsp.lsp.documents import Documents
from vibes_lsp.lsp.projects import Projects


def test_a_trail_is_one_however_the_path_of_a_file_is_spelled(tmp_path: Path) -> None:
    TrailWriter(tmp_path)
    projects = Projects(Documents())
    plain, dotted = (projects.of(f"{tmp_path.as_uri()}/{path}") for path in ("a.py", "inner/../a.py"))
    assert plain is not None
    assert plain == dotted
    assert len(projects.all()) == 1
