"""Files that differ from the index; no filter runs."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from tests.trails import Repository
from vibes_lsp.git.diff import changed_in_work_tree

if TYPE_CHECKING:
    from pathlib import Path

NEW = "größe.py" if sys.platform == "win32" else "größe\nnew.py"


def changed(folder: Path) -> frozenset[str]:
    return changed_in_work_tree(folder)


def aged(repository: Repository) -> None:
    """Make all files older than the index, as they are a moment after a commit."""
    for path in repository.path.rglob("*.py"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    repository.git("update-index", "--refresh")


def test_changed_new_and_deleted_files_are_returned(repository: Repository) -> None:
    repository.write(".gitignore", "ignored/\n")
    for name in ("same", "on disk", "deleted", "same size"):
        repository.write(f"{name}.py", "12\n")
    repository.commit("First")
    aged(repository)
    assert "same.py" not in changed(repository.path)
    repository.write("on disk.py", "2\n")
    repository.write("same size.py", "34\n")
    repository.write(NEW, "2\n")
    repository.write("ignored/x.py", "2\n")
    (repository.path / "deleted.py").unlink()
    assert changed(repository.path) - {".gitignore"} == {
        "on disk.py",
        "same size.py",
        "deleted.py",
        NEW,
    }


def test_files_as_new_as_the_index_count_as_changed(repository: Repository) -> None:
    file = repository.write("a.py", "1\n")
    repository.commit("First")
    seen = file.stat()
    index = repository.path / ".git" / "index"
    repository.write("a.py", "2\n")
    os.utime(file, ns=(seen.st_mtime_ns, seen.st_mtime_ns))
    os.utime(index, ns=(seen.st_mtime_ns, seen.st_mtime_ns))
    assert changed(repository.path) == {"a.py"}


def test_no_filter_runs(repository: Repository, tmp_path: Path) -> None:
    repository.write(".gitattributes", "*.py filter=evil\n")
    repository.write("a.py", "1\n")
    repository.commit("First")
    ran = tmp_path / "ran"
    repository.git("config", "filter.evil.clean", f"touch {ran.as_posix()}; cat")
    repository.write("a.py", "2\n")
    assert "a.py" in changed(repository.path)
    assert not ran.exists()
    repository.git("status", "--short")
    assert ran.exists(), "git alone runs it: the trap works"


def test_no_filter_runs_where_git_compares_contents(repository: Repository, tmp_path: Path) -> None:
    repository.write(".gitattributes", "*.py filter=evil\n")
    file = repository.write("a.py", "1\n")
    repository.commit("First")
    ran, index = tmp_path / "ran", repository.path / ".git/index"
    repository.git("config", "filter.evil.clean", f"touch {ran.as_posix()}; cat")
    for changes in (False, True):
        modified = file.stat().st_mtime_ns
        if changes:
            repository.write("a.py", "2\n")
            os.utime(file, ns=(modified, modified))
        os.utime(index, ns=(modified, modified))
        assert changed(repository.path) == ({"a.py"} if changes else set())
    assert not ran.exists()
    # Else git compares no content of a file that was changed in another second.
    repository.git("-c", "core.trustctime=false", "diff-files", "--name-only")
    assert ran.exists(), "git alone runs it: the trap works"


def test_names_are_relative_to_the_folder(repository: Repository) -> None:
    for name in ("inner/a.py", "inner/same.py", "b.py"):
        repository.write(name, "1\n")
    repository.commit("First")
    aged(repository)
    for name in ("inner/a.py", "inner/new.py", "b.py"):
        repository.write(name, "other\n")
    assert changed(repository.path / "inner") == {"a.py", "new.py"}
    assert changed(repository.path) == {"inner/a.py", "inner/new.py", "b.py"}


def test_without_a_repository_nothing_changed(tmp_path: Path) -> None:
    assert changed(tmp_path) == frozenset()
