"""RFC 4: the files that are created, and git's settings for them."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from tests.conformance.requirement import rfc_writer
from tests.conformance.trail_access import run_vibes
from tests.trails import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conformance.recorded_trail import RecordedTrail


@rfc_writer(
    "4.1",
    "stated",
    "the trail is `.ai-audit/` at the project root, with the RFC's file names",
)
def test_files_have_their_names(high: RecordedTrail) -> None:
    names = {path.name for path in (high.root / ".ai-audit").iterdir()}
    assert names >= {"manifest.json", "annotations.jsonl", "config.json", "blobs", ".gitignore"}


@rfc_writer(
    "4.2",
    "SHOULD",
    "git tracks manifest, log and policy, and no derived or temporary file",
)
def test_git_tracks_the_right_files(high: RecordedTrail, tmp_path: Path) -> None:
    tree = tmp_path / "clone"
    Repository(tree)
    shutil.copytree(high.root, tree, dirs_exist_ok=True)
    (tree / ".ai-audit" / "audit.db").write_bytes(b"")
    subprocess.run(["git", "add", "-A"], cwd=tree, check=True)
    listed = subprocess.run(
        ["git", "ls-files"], cwd=tree, check=True, capture_output=True, text=True
    ).stdout.split()
    below = {name.removeprefix(".ai-audit/") for name in listed if name.startswith(".ai-audit/")}
    assert {name for name in below if not name.startswith("blobs/")} == {
        "manifest.json",
        "annotations.jsonl",
        "config.json",
        ".gitignore",
        ".gitattributes",
    }


@rfc_writer("4.2", "SHOULD", "a new trail has a `.gitignore` that names `audit.db`")
def test_a_new_trail_ignores_the_database(tmp_path: Path) -> None:
    assert run_vibes(tmp_path, "init").code == 0
    assert "audit.db" in (tmp_path / ".ai-audit" / ".gitignore").read_text(encoding="utf-8")
