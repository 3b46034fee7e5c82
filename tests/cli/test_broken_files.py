"""Broken files: reported at their place, without a traceback and without any change on disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.cli.command_outcomes import DEEP, count_logged, run_commands
from tests.unit.checks.projects import CONFIG, LOG, MANIFEST

if TYPE_CHECKING:
    from tests.cli.run_vibes import RunVibes
    from tests.unit.checks.projects import Project

FILES: Final = (CONFIG, MANIFEST, LOG)


# --- the same defect in each of the three files -----------------------------------------------------------------------


def broken(project: Project, name: str, content: bytes) -> None:
    (project.root / name).write_bytes(content)


WHOLE: Final[dict[str, tuple[bytes, dict[str, str | None]]]] = {
    "empty": (
        b"",
        {
            CONFIG: f"{CONFIG}:1: error[config-json] expecting value",
            MANIFEST: f"{MANIFEST}:1: error[manifest-json] expecting value",
            LOG: None,
        },
    ),
    "broken": (
        b'{"a":1,\n"b":}\n',
        {
            CONFIG: f"{CONFIG}:2: error[config-json] expecting value",
            MANIFEST: f"{MANIFEST}:2: error[manifest-json] expecting value",
            LOG: f"{LOG}:2: error[log-line] extra data (column 4)",
        },
    ),
    "a list": (
        b"[]\n",
        {
            CONFIG: f"{CONFIG}:1: error[config-json] expected an object, found a JSON array",
            MANIFEST: f"{MANIFEST}:1: error[manifest-json] expected an object, found a JSON array",
            LOG: f"{LOG}:1: error[log-line] expected an object, found a JSON array",
        },
    ),
    "not a number": (
        b'{"standard":NaN}\n',
        {
            CONFIG: f"{CONFIG}:1: error[config-json] NaN is not JSON",
            MANIFEST: f"{MANIFEST}:1: error[manifest-json] NaN is not JSON",
            LOG: f"{LOG}:1: error[log-line] NaN is not JSON (column 13)",
        },
    ),
    "given twice": (
        b'{"standard":"VIBES","standard":"OTHER","entries":{}}\n',
        {
            CONFIG: f"{CONFIG}:1: error[config-json] duplicate member 'standard' with different values",
            MANIFEST: f"{MANIFEST}:1: error[manifest-frame] invalid standard 'OTHER': expected 'VIBES'",
            LOG: f"{LOG}:1: error[log-line] duplicate member 'standard' with different values (column 21)",
        },
    ),
    "deep": (
        DEEP + b"\n",
        {
            CONFIG: f"{CONFIG}:1: error[config-json] nested deeper than 64 levels",
            MANIFEST: f"{MANIFEST}:1: error[manifest-json] nested deeper than 64 levels",
            LOG: f"{LOG}:1: error[log-line] nested deeper than 64 levels (column 65)",
        },
    ),
    "not UTF-8": (
        b'{"standard":\n"\xff\xfe"}\n',
        {
            CONFIG: f"{CONFIG}:2: error[config-json] not UTF-8",
            MANIFEST: f"{MANIFEST}:2: error[manifest-json] not UTF-8",
            LOG: f"{LOG}:2: error[log-line] not UTF-8 (column 2)",
        },
    ),
    "UTF-16": (
        '{"standard":"VIBES"}\n'.encode("utf-16"),
        {
            CONFIG: f"{CONFIG}:1: error[config-json] not UTF-8",
            MANIFEST: f"{MANIFEST}:1: error[manifest-json] not UTF-8",
            LOG: f"{LOG}:1: error[log-line] not UTF-8",
        },
    ),
}
"""Defects of a whole file, and the error that each must give; None where it is none."""


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("defect", WHOLE)
def test_a_file_without_any_valid_content(
    project: Project, run_vibes: RunVibes, defect: str, name: str
) -> None:
    content, errors = WHOLE[defect]
    broken(project, name, content)
    found = run_commands(project, run_vibes)
    wanted = errors[name]
    assert found.check.code == (0 if wanted is None else 1)
    assert (wanted in found.errors) if wanted else not found.errors
    assert count_logged(found) == (0 if name == LOG else 7)
    assert found.doctor.code == (0 if wanted is None else 1)


@pytest.mark.parametrize("name", FILES)
def test_conflict_markers_are_reported_and_the_records_between_are_read(
    project: Project, run_vibes: RunVibes, name: str
) -> None:
    file = project.root / name
    lines = file.read_bytes().split(b"\n")
    ours, theirs = [b"<<<<<<< HEAD", *lines[2:4]], [b"=======", *lines[4:5], b">>>>>>> topic"]
    file.write_bytes(b"\n".join([*lines[:2], *ours, *theirs, *lines[5:]]))
    found = run_commands(project, run_vibes)
    assert f"{name}:3: error[conflict-marker] merge-conflict marker" in found.errors
    assert count_logged(found) == 7
    assert found.stats.code == 0
    if name == LOG:
        assert [error.partition(":")[2].partition(":")[0] for error in found.errors] == [
            "3",
            "6",
            "8",
        ]
    if name == MANIFEST:
        assert "manifest.json: line 3: merge-conflict marker" in found.doctor.out
        assert "context entries" in found.stats.out
        assert "11" in found.stats.lines[-1]


# --- something else in a file's place ----------------------------------------------------------------------------------


def a_folder(file: Path) -> None:
    file.mkdir()


def a_pipe(file: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    os.mkfifo(file)


def a_loop(file: Path) -> None:
    file.symlink_to(file.name)


def an_unreadable_file(file: Path) -> None:
    need_permissions()
    file.touch(mode=0o200)


def need_permissions() -> None:
    if os.name == "nt" or os.geteuid() == 0:
        pytest.skip("this user may read everything; a folder and a pipe replace the file")


PLACES: Final[dict[Callable[[Path], None], str]] = {
    a_folder: "is not a regular file",
    a_pipe: "is not a regular file",
    a_loop: "cannot be read: ",
    an_unreadable_file: "cannot be read: ",
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("put", PLACES, ids=lambda put: put.__name__)
def test_a_folder_or_pipe_in_place_of_a_file(
    project: Project, run_vibes: RunVibes, put: Callable[[Path], None], name: str
) -> None:
    file = project.root / name
    file.unlink()
    put(file)
    found = run_commands(project, run_vibes)
    (error,) = found.errors
    assert error.startswith(f"{name}: error[file-unreadable] {file.name} {PLACES[put]}")
    assert found.doctor.code == 1
    assert ("annotations: " in found.doctor.out) == (name != LOG)
    if name == LOG:
        assert (found.log.code, found.stats.code) == (2, 2)
        assert found.log.err.startswith(f"vibes: {file.name} {PLACES[put]}")
    else:
        assert count_logged(found) == 7


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file(project: Project, run_vibes: RunVibes, name: str) -> None:
    (project.root / name).unlink()
    found = run_commands(project, run_vibes)
    missing = {CONFIG: "config-missing", MANIFEST: "manifest-missing", LOG: "log-missing"}[name]
    assert found.errors == [f"{name}: error[{missing}] {name.partition('/')[2]} is missing"]
    assert count_logged(found) == (0 if name == LOG else 7)


@pytest.mark.parametrize("put", [a_folder, a_loop])
@pytest.mark.parametrize("name", [".gitignore", ".gitattributes", "blobs", "wal"])
def test_a_folder_or_pipe_in_place_of_an_optional_file(
    project: Project, run_vibes: RunVibes, put: Callable[[Path], None], name: str
) -> None:
    place = project.audit / name
    if place.is_dir():
        place.rename(project.root / "away")
    elif place.exists():
        place.unlink()
    put(place)
    assert count_logged(run_commands(project, run_vibes)) == 7


def test_a_directory_that_is_empty(project: Project, run_vibes: RunVibes) -> None:
    for path in list(project.audit.iterdir()):
        if path.is_file():
            path.unlink()
    found = run_commands(project, run_vibes)
    assert {error.partition("[")[2].partition("]")[0] for error in found.errors} == {
        "config-missing",
        "manifest-missing",
        "log-missing",
    }
    assert found.check.lines[3] == "Files found: none"


@pytest.mark.parametrize("command", ["check", "log", "stats", "doctor", "init"])
def test_a_directory_that_may_not_be_entered(
    project: Project, run_vibes: RunVibes, command: str
) -> None:
    need_permissions()
    project.audit.chmod(0)
    try:
        done = run_vibes(command, cwd=project.root)
    finally:
        project.audit.chmod(0o700)
    if command == "doctor":
        assert (done.code, done.err) == (1, "")
        assert done.out.count("Permission denied") == 3
    else:
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert "Permission denied" in done.err


@pytest.mark.parametrize("flags", [[], ["--dry-run"], ["--dry-run", "--json"]])
def test_an_unreadable_log_is_not_replaced(
    project: Project, run_vibes: RunVibes, flags: list[str]
) -> None:
    (project.root / LOG).unlink()
    (project.root / LOG).mkdir()
    done = run_vibes("backfill", *flags, cwd=project.root)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith("vibes: annotations.jsonl is not a regular file")
