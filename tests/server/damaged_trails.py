"""Damaged audit directories, and the finding that reports each."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

import pytest

from tests.server.project import STORY, Project

Damage: TypeAlias = Callable[[Project], object]


def replace_by_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def add_conflict_markers(file: Path) -> None:
    head, *rest = file.read_bytes().split(b"\n")
    file.write_bytes(b"\n".join([head, b"<<<<<<< HEAD", *rest]))


def replace_bytes(file: Path, old: bytes, new: bytes) -> None:
    content = file.read_bytes()
    assert old in content
    file.write_bytes(content.replace(old, new))


def replace_by_link_loop(file: Path) -> None:
    need_links()
    file.unlink()
    file.symlink_to(file.name)


def add_escaping_link(project: Project) -> None:
    need_links()
    blobs = project.root / ".ai-audit" / "blobs"
    blobs.mkdir()
    (blobs / "link").symlink_to(project.root / "a.py")
    refer_to_blob(project, "blobs/link")


def need_links() -> None:
    if os.name == "nt":
        pytest.skip("links need a privilege there")


def refer_to_blob(project: Project, path: str) -> None:
    (project.root / ".ai-audit" / "wal").mkdir(exist_ok=True)
    entry = {
        "type": "reasoning",
        "external": True,
        "blob_path": path,
        "reasoning_model": "m",
        "created_at": project.now(),
    }
    add_reasoning(project, project.entry(entry))


def add_bomb(project: Project) -> None:
    project.files.write("blobs/bomb.gz", gzip.compress(b"\0" * (64 << 20)))
    entry = {
        "type": "reasoning",
        "external": True,
        "blob_path": "blobs/bomb.gz",
        "reasoning_model": "m",
        "created_at": project.now(),
    }
    add_reasoning(project, project.entry(entry))


def add_reasoning(project: Project, key: str) -> None:
    project.files.log.write_bytes(b"")
    project.line("a.py", 4, 7, text=STORY, reasoning=key)


DAMAGES: Final[dict[str, tuple[Damage, str, str, int]]] = {
    # name -> damage to a sound project; file, check and 1-based line of its finding
    "log-broken-json": (
        lambda project: project.raw_log(b'{"type":"line",\n'),
        "annotations.jsonl",
        "log-line",
        2,
    ),
    "log-array": (lambda project: project.raw_log(b"[1]\n"), "annotations.jsonl", "log-line", 2),
    "log-conflict": (
        lambda project: project.raw_log(b"<<<<<<< HEAD\n=======\n>>>>>>> x\n"),
        "annotations.jsonl",
        "conflict-marker",
        2,
    ),
    "log-nan": (
        lambda project: project.raw_log(b'{"type":"line","line_start":NaN}\n'),
        "annotations.jsonl",
        "log-line",
        2,
    ),
    "log-not-utf-8": (
        lambda project: project.raw_log(b'{"type":"line","file_path":"\xff"}\n'),
        "annotations.jsonl",
        "log-line",
        2,
    ),
    "log-nul": (
        lambda project: project.raw_log(b"\x00\x00\x00\n"),
        "annotations.jsonl",
        "log-line",
        2,
    ),
    "log-deep": (
        lambda project: project.raw_log(b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}\n"),
        "annotations.jsonl",
        "log-line",
        2,
    ),
    "log-9-mb-line": (
        lambda project: project.raw_log(b'{"type":"line","note":"' + b"x" * (9 << 20) + b'"}\n'),
        "annotations.jsonl",
        "log-line",
        2,
    ),
    "log-torn": (
        lambda project: project.raw_log(b'{"type":"line","file_pa'),
        "annotations.jsonl",
        "log-end",
        2,
    ),
    "log-key-twice": (
        lambda project: project.raw_log(b'{"type":"line","type":"edge"}\n'),
        "annotations.jsonl",
        "log-line",
        2,
    ),
    "log-missing": (
        lambda project: project.files.log.unlink(),
        "annotations.jsonl",
        "log-missing",
        1,
    ),
    "log-loop": (
        lambda project: replace_by_link_loop(project.files.log),
        "annotations.jsonl",
        "file-unreadable",
        1,
    ),
    "log-folder": (
        lambda project: replace_by_folder(project.files.log),
        "annotations.jsonl",
        "file-unreadable",
        1,
    ),
    "manifest-broken-json": (
        lambda project: project.raw_manifest(
            b'{"standard":"VIBES",\n"version":"1.0",\n"entries":{'
        ),
        "manifest.json",
        "manifest-json",
        3,
    ),
    "manifest-list": (
        lambda project: project.raw_manifest(b"[]"),
        "manifest.json",
        "manifest-json",
        1,
    ),
    "manifest-conflict": (
        lambda project: add_conflict_markers(project.files.manifest),
        "manifest.json",
        "conflict-marker",
        2,
    ),
    "manifest-nan": (
        lambda project: replace_bytes(
            project.files.manifest, b'"type":"environment"', b'"type":"environment","n":NaN'
        ),
        "manifest.json",
        "manifest-json",
        2,
    ),
    "manifest-key-twice": (
        lambda project: replace_bytes(
            project.files.manifest, b'"type":"environment"', b'"type":"environment","type":"prompt"'
        ),
        "manifest.json",
        "entry-field",
        2,
    ),
    "manifest-changed": (
        lambda project: project.entry({"type": "prompt", "n": 1}, key="ab" * 32),
        "manifest.json",
        "hash-mismatch",
        3,
    ),
    "manifest-version": (
        lambda project: replace_bytes(
            project.files.manifest, b'"version":"1.0"', b'"version":"2.0"'
        ),
        "manifest.json",
        "version-unsupported",
        1,
    ),
    "manifest-missing": (
        lambda project: project.files.manifest.unlink(),
        "manifest.json",
        "manifest-missing",
        1,
    ),
    "manifest-loop": (
        lambda project: replace_by_link_loop(project.files.manifest),
        "manifest.json",
        "file-unreadable",
        1,
    ),
    "manifest-not-utf-8": (
        lambda project: project.raw_manifest(b'{"standard":"\xff"}'),
        "manifest.json",
        "manifest-json",
        1,
    ),
    "manifest-deep": (
        lambda project: project.raw_manifest(b"[" * 100_000),
        "manifest.json",
        "manifest-json",
        1,
    ),
    "manifest-empty": (
        lambda project: project.raw_manifest(b""),
        "manifest.json",
        "manifest-json",
        1,
    ),
    "manifest-folder": (
        lambda project: replace_by_folder(project.files.manifest),
        "manifest.json",
        "file-unreadable",
        1,
    ),
    "config-broken-json": (
        lambda project: project.files.write("config.json", b'{\n"standard":\n}'),
        "config.json",
        "config-json",
        3,
    ),
    "config-list": (
        lambda project: project.files.write("config.json", b"[]"),
        "config.json",
        "config-json",
        1,
    ),
    "config-not-utf-8": (
        lambda project: project.files.write("config.json", b"\xff\xfe"),
        "config.json",
        "config-json",
        1,
    ),
    "config-nan": (
        lambda project: project.files.write("config.json", b'{"a":NaN}'),
        "config.json",
        "config-json",
        1,
    ),
    "config-key-twice": (
        lambda project: project.files.write("config.json", b'{"a":1,\n"a":2}'),
        "config.json",
        "config-json",
        2,
    ),
    "config-version": (
        lambda project: project.config(standard_version="2.0"),
        "config.json",
        "version-unsupported",
        3,
    ),
    "config-missing": (
        lambda project: project.files.config.unlink(),
        "config.json",
        "config-missing",
        1,
    ),
    "config-loop": (
        lambda project: replace_by_link_loop(project.files.config),
        "config.json",
        "file-unreadable",
        1,
    ),
    "config-folder": (
        lambda project: replace_by_folder(project.files.config),
        "config.json",
        "file-unreadable",
        1,
    ),
    "blob-bomb": (add_bomb, "manifest.json", "blob-broken", 3),
    "blob-escapes": (
        lambda project: refer_to_blob(project, "../../../../../etc/hostname"),
        "manifest.json",
        "blob-escapes",
        3,
    ),
    "blob-absolute": (
        lambda project: refer_to_blob(project, "/etc/hostname"),
        "manifest.json",
        "blob-escapes",
        3,
    ),
    "blob-link-escapes": (add_escaping_link, "manifest.json", "blob-escapes", 3),
    "blob-is-a-folder": (
        lambda project: refer_to_blob(project, "wal"),
        "manifest.json",
        "blob-broken",
        3,
    ),
    "blob-absent": (
        lambda project: refer_to_blob(project, "blobs/absent.json.gz"),
        "manifest.json",
        "blob-missing",
        3,
    ),
}
