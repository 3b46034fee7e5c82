"""Reasoning that cannot or must not be unpacked: reported at its place, and bounded."""

from __future__ import annotations

import base64
import os
import zlib
from typing import TYPE_CHECKING

import pytest

from tests.trails import gzipped
from tests.unit.checks.projects import MANIFEST

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes
    from tests.unit.checks.projects import Project

SECRET = "the content of a file outside"


def findings(project: Project, run_vibes: RunVibes) -> list[tuple[str, str, int, str]]:
    """Check the project and return check, field, line and message of each finding."""
    before = project.contents()
    report = run_vibes("check", "--json", cwd=project.root)
    assert project.contents() == before
    return [
        (each["check"], each["field"], each["line"], each["message"])
        for each in report.json["findings"]
    ]


@pytest.mark.parametrize(
    "path",
    ["../secret.txt", "blobs/../../secret.txt", "..\\secret.txt", "/etc/hostname", "blobs/\x00"],
)
def test_a_path_that_leaves_the_directory_is_never_opened(
    project: Project, run_vibes: RunVibes, path: str
) -> None:
    (project.root / "secret.txt").write_text(SECRET)
    key = project.external_reasoning(path)
    ((check, field, line, message),) = findings(project, run_vibes)
    assert (check, field, line) == ("blob-escapes", "blob_path", project.place(key))
    assert message.endswith("leaves the audit directory")
    shown = run_vibes("show", key, cwd=project.root)
    assert shown.code == 0
    assert SECRET not in shown.out
    assert "leaves the audit directory" in shown.out


def test_a_link_that_leaves_the_directory_is_never_followed(
    project: Project, run_vibes: RunVibes
) -> None:
    (project.root / "secret.txt").write_text(SECRET)
    (project.audit / "blobs" / "link").symlink_to(project.root / "secret.txt")
    (project.audit / "far").symlink_to(project.root, target_is_directory=True)
    for path in ("blobs/link", "far/secret.txt"):
        assert (
            SECRET not in run_vibes("show", project.external_reasoning(path), cwd=project.root).out
        )
    assert [found[0] for found in findings(project, run_vibes)] == ["blob-escapes"] * 2


def test_a_long_path_is_cut(project: Project, run_vibes: RunVibes) -> None:
    key = project.external_reasoning("../" + "x" * 100_000)
    ((check, _, _, message),) = findings(project, run_vibes)
    assert check == "blob-escapes"
    assert len(message) < 300
    assert run_vibes("show", key, cwd=project.root).code == 0


def gzip_bomb(megabytes: int) -> bytes:
    """Return gzip data that unpacks to many megabytes."""
    packer = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
    million = b"x" * 1_000_000
    return b"".join(packer.compress(million) for _ in range(megabytes)) + packer.flush()


@pytest.mark.parametrize("form", ["compressed", "external"])
def test_a_bomb_is_not_unpacked(project: Project, run_vibes: RunVibes, form: str) -> None:
    data = gzip_bomb(100)
    if form == "external":
        project.writer.files.write("blobs/bomb.gz", data)
        key = project.external_reasoning("blobs/bomb.gz")
        field, where = "blob_path", "blobs/bomb.gz"
    else:
        packed = base64.b64encode(data).decode()
        key = project.writer.entry(
            {
                "type": "reasoning",
                "reasoning_text_compressed": packed,
                "reasoning_model": "m",
                "created_at": project.writer.now(),
            }
        )
        field = where = "reasoning_text_compressed"
    message = f"{where}: unpacks to more than 16,777,216 bytes"
    assert findings(project, run_vibes) == [("blob-broken", field, project.place(key), message)]
    assert f"({message})" in run_vibes("show", key, cwd=project.root).out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x1f\x8bno gzip", "blobs/one: not gzip data"),
        (gzipped(b"whole")[:-9], "blobs/one: truncated gzip data"),
        (b"\xff\xfe", "blobs/one: not UTF-8 at byte 0"),
    ],
)
def test_a_blob_that_is_broken(
    project: Project, run_vibes: RunVibes, content: bytes, message: str
) -> None:
    project.writer.files.write("blobs/one", content)
    key = project.external_reasoning("blobs/one")
    assert findings(project, run_vibes) == [
        ("blob-broken", "blob_path", project.place(key), message)
    ]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_a_blob(project: Project, run_vibes: RunVibes) -> None:
    os.mkfifo(project.audit / "blobs" / "pipe")
    project.external_reasoning("blobs/pipe")
    ((check, _, _, message),) = findings(project, run_vibes)
    assert (check, message) == ("blob-broken", "blob blobs/pipe: pipe is not a regular file")


def test_a_lone_surrogate_in_a_blob_is_text_like_any_other(
    project: Project, run_vibes: RunVibes
) -> None:
    content = rb'{"type":"reasoning","reasoning_text":"half \ud83d","reasoning_model":"m"}'
    project.writer.files.write(f"blobs/{'0' * 64}.json.gz", gzipped(content))
    key = project.external_reasoning(f"blobs/{'0' * 64}.json.gz")
    assert [found[0] for found in findings(project, run_vibes)] == ["blob-name"]
    assert r"half \ud83d" in run_vibes("show", key, cwd=project.root).out


def test_the_manifest_names_the_place_of_each(project: Project, run_vibes: RunVibes) -> None:
    keys = [project.external_reasoning(f"blobs/{number}.gz") for number in range(3)]
    report = run_vibes("check", cwd=project.root)
    assert [line.partition(": ")[0] for line in report.lines if "[blob-missing]" in line] == [
        f"{MANIFEST}:{project.place(key)}" for key in keys
    ]


def test_blobs_of_a_project_that_is_reached_by_a_link_are_inside(
    project: Project, run_vibes: RunVibes, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(project.root, target_is_directory=True)
    assert run_vibes("check", "--audit-dir", tmp_path / "link", cwd=tmp_path).code == 0
