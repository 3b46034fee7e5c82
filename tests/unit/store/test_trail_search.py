"""Whose trail a folder has: the search ends where another user's or another project's begins."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.trails import Repository
from vibes_lsp.errors import AuditDirNotFound
from vibes_lsp.store.audit_dir import find_audit_dir, named_audit_dir, nearest_audit_dir
from vibes_lsp.store.safe_directories import is_safe_directory

if TYPE_CHECKING:
    from pathlib import Path

STRANGER = 12345


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return folder


def trail(folder: Path) -> Path:
    (folder / ".ai-audit").mkdir(parents=True)
    return folder


def give(path: Path) -> None:
    """Give a file or folder to another user."""
    if os.name == "nt" or os.geteuid() != 0:
        pytest.skip("only root can give files to another user")
    os.chown(path, STRANGER, STRANGER)


def found(folder: Path) -> Path | None:
    directory = nearest_audit_dir(str(folder))
    return None if directory is None else directory.project


def test_the_search_ends_at_the_top_of_a_repository(tmp_path: Path) -> None:
    outer = trail(tmp_path / "outer")
    Repository(outer / "inner")
    (outer / "inner/src").mkdir()
    (outer / "other/.git").mkdir(parents=True)  # git ignores an empty one
    (outer / "worktree").mkdir()
    (outer / "worktree/.git").write_text("gitdir: /nowhere\n")
    assert found(outer / "inner/src") is None
    assert found(outer / "worktree") is None
    assert found(outer / "other") == outer
    assert found(trail(outer / "inner/src") / "deep") == outer / "inner/src"


def test_the_search_ends_at_the_home_folder(home: Path, tmp_path: Path) -> None:
    trail(tmp_path)
    assert found(home / "code/p") is None
    assert found(trail(home) / "code/p") == home


def test_another_users_repository_has_no_trail(tmp_path: Path, home: Path) -> None:
    project = trail(tmp_path / "p")
    Repository(project)
    give(project)
    with pytest.raises(AuditDirNotFound, match="owned by another user") as raised:
        find_audit_dir(project / "src")
    assert raised.value.hint is not None
    assert f"git config --global --add safe.directory {project}" in raised.value.hint
    (home / ".gitconfig").write_text(f"[safe]\n\tdirectory = {project}\n")
    assert found(project / "src") == project


@pytest.mark.parametrize("name", [".ai-audit", ".git", "."])
def test_all_of_a_repository_is_the_users(tmp_path: Path, name: str) -> None:
    project = trail(tmp_path / "p")
    Repository(project)
    give(project / name)
    assert found(project) is None


def test_a_folder_of_another_user_in_the_users_repository_is_the_users(tmp_path: Path) -> None:
    project = trail(tmp_path / "p")
    Repository(project)
    (project / "build").mkdir()
    give(project / "build")
    assert found(project / "build") == project


def test_outside_a_repository_each_folder_on_the_way_is_the_users(tmp_path: Path) -> None:
    trail(tmp_path)
    (tmp_path / "shared/mine").mkdir(parents=True)
    assert found(tmp_path / "shared/mine") == tmp_path
    give(tmp_path / "shared")
    assert found(tmp_path / "shared/mine") is None


def test_a_trail_that_another_user_put_into_a_shared_folder_is_not_used(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    (shared / "mine").mkdir(parents=True)
    shared.chmod(0o1777)
    give(trail(shared) / ".ai-audit")
    assert found(shared / "mine") is None


def test_a_link_to_another_projects_trail_is_refused(tmp_path: Path) -> None:
    other, project = trail(tmp_path / "other"), tmp_path / "p"
    project.mkdir()
    (project / ".ai-audit").symlink_to(other / ".ai-audit")
    for find in (find_audit_dir, named_audit_dir):
        with pytest.raises(AuditDirNotFound, match="link out of the project"):
            find(project)
    assert found(project) is None


def test_a_link_inside_the_project_is_its_own_trail(tmp_path: Path) -> None:
    project = tmp_path / "p"
    (project / "meta/audit").mkdir(parents=True)
    (project / ".ai-audit").symlink_to("meta/audit")
    assert found(project) == project


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("[safe]\n\tdirectory = {p}\n", True),
        ('[safe]\n\tdirectory = "{p}" ; mine\n', True),
        ("[SAFE] DIRECTORY={p} # mine\n", True),
        ("[safe]\n\tdirectory = *\n", True),
        ("[safe]\n\tdirectory = {above}/*\n", True),
        ("[safe]\n\tdirectory = ~/p\n", False),
        ("[safe]\n\tdirectory = {above}\n", False),
        ("[safe]\n\tdirectory = {p}/src\n", False),
        ("[safe]\n\tdirectory = {p}\n\tdirectory =\n", False),
        ('[safe "x"]\n\tdirectory = {p}\n', False),
        ("[core]\n\tdirectory = {p}\n", False),
        ("[safe]\n[core]\n\tdirectory = {p}\n", False),
        ("", False),
    ],
)
def test_safe_directories_are_those_of_git(
    tmp_path: Path, home: Path, settings: str, expected: bool
) -> None:
    (home / ".gitconfig").write_text(settings.format(p=tmp_path / "p", above=tmp_path))
    assert is_safe_directory(str(tmp_path / "p")) is expected


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes by name")
def test_settings_that_cannot_be_read_declare_nothing(tmp_path: Path, home: Path) -> None:
    os.mkfifo(home / ".gitconfig")
    assert not is_safe_directory(str(tmp_path / "p"))
