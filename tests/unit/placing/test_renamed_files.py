"""The names that annotated files have now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.trails import Repository, TrailWriter
from tests.unit.trail.trails import read_trail
from vibes_lsp.placing.project_locator import ProjectLocator

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("stays.py", "moved.py", "twice.py", "staged.py", "deleted.py", "client.py", "lost.py")


def test_the_name_of_one_file_is_that_among_all(
    writer: TrailWriter, repository: Repository, tmp_path: Path
) -> None:
    for name in NAMES:
        repository.write(name, f"# {name}\n" * 20)
        writer.line(name, 1, 2)
    writer.line("never.py", 1, 2)
    writer.line("../outside.py", 1, 2)
    repository.commit("First")
    repository.git("mv", "moved.py", "now.py")
    repository.git("mv", "twice.py", "once.py")
    repository.git("rm", "deleted.py")
    repository.commit("Second")
    repository.git("mv", "once.py", "again.py")
    repository.commit("Third")
    repository.git("mv", "staged.py", "index.py")
    (tmp_path / "client.py").rename(tmp_path / "editor.py")
    (tmp_path / "lost.py").unlink()
    renamed = {"client.py": "editor.py", "lost.py": "nowhere.py", "stays.py": "index.py"}
    with ProjectLocator(read_trail(tmp_path), renamed=renamed) as locator:
        one = {name: locator.names.current_name(name) for name in locator.names.recorded}
    assert {name: now for name, now in one.items() if now != name} == {
        "moved.py": "now.py",
        "twice.py": "again.py",
        "staged.py": "index.py",
        "client.py": "editor.py",
    }
    with ProjectLocator(read_trail(tmp_path), renamed=renamed) as locator:
        all_names = locator.names.new_names
    assert one == {name: all_names.get(name, name) for name in one}
