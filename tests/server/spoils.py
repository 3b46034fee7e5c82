"""What can become of the files of an audit directory, and the finding that tells of it."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

import pytest

from tests.server.project import STORY, Project

Spoil: TypeAlias = Callable[[Project], object]


def replaced_by_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def conflict(file: Path) -> None:
    head, *rest = file.read_bytes().split(b"\n")
    file.write_bytes(b"\n".join([head, b"<<<<<<< HEAD", *rest]))


def edited(file: Path, old: bytes, new: bytes) -> None:
    content = file.read_bytes()
    assert old in content
    file.write_bytes(content.replace(old, new))


def replaced_by_loop(file: Path) -> None:
    need_links()
    file.unlink()
    file.symlink_to(file.name)


def escaping_link(project: Project) -> None:
    need_links()
    blobs = project.root / ".ai-audit" / "blobs"
    blobs.mkdir()
    (blobs / "link").symlink_to(project.root / "a.py")
    external(project, "blobs/link")


def need_links() -> None:
    if os.name == "nt":
        pytest.skip("links need a privilege there")


def external(project: Project, path: str) -> None:
    (project.root / ".ai-audit" / "wal").mkdir(exist_ok=True)
    entry = {
        "type": "reasoning",
        "external": True,
        "blob_path": path,
        "reasoning_model": "m",
        "created_at": project.now(),
    }
    reason_with(project, project.entry(entry))


def bomb(project: Project) -> None:
    project.files.write("blobs/bomb.gz", gzip.compress(b"\0" * (64 << 20)))
    entry = {
        "type": "reasoning",
        "external": True,
        "blob_path": "blobs/bomb.gz",
        "reasoning_model": "m",
        "created_at": project.now(),
    }
    reason_with(project, project.entry(entry))


def reason_with(project: Project, key: str) -> None:
    project.files.log.write_bytes(b"")
    project.line("a.py", 4, 7, text=STORY, reasoning=key)


SPOILS: Final[dict[str, tuple[Spoil, str, str, int]]] = {
    # name -> what to do to a sound project; the file, the check and the 1-based line that tell of it
    "log-broken-json": (
        lambda it: it.raw_log(b'{"type":"line",\n'),
        "annotations.jsonl",
        "log-line",
        2,
    ),
    "log-array": (lambda it: it.raw_log(b"[1]\n"), "annotations.jsonl", "log-line", 2),
    "log-conflict": (
        lambda it: it.raw_log(b"<<<<<<< HEAD\n=======\n>>>>>>> x\n"),
        "annotations.jsonl",
        "conflict-marker",
        2,
    ),
    "log-nan": (
        lambda it: it.raw_log(b'{"type":"line","line_start":NaN}\n'),
        "annotations.jsonl",
        "log-line",
        2,
    ),
    "log-not-utf-8": (
        lambda it: it.raw_log(b'{"type":"line","file_path":"\xff"}\n'),
        "annotations.jsonl",
        "log-line",
        2,
    ),
    "log-nul": (lambda it: it.raw_log(b"\x00\x00\x00\n"), "annotations.jsonl", "log-line", 2),
    "log-deep": (
        lambda it: it.raw_log(b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}\n"),
        "annotations.jsonl",
        "log-line",
        2,
    ),
    "log-9-mb-line": (
        lambda it: it.raw_log(b'{"type":"line","note":"' + b"x" * (9 << 20) + b'"}\n'),
        "annotations.jsonl",
        "log-line",
        2,
    ),
    "log-torn": (
        lambda it: it.raw_log(b'{"type":"line","file_pa'),
        "annotations.jsonl",
        "log-end",
        2,
    ),
    "log-key-twice": (
        lambda it: it.raw_log(b'{"type":"line","type":"edge"}\n'),
        "annotations.jsonl",
        "log-line",
        2,
    ),
    "log-missing": (lambda it: it.files.log.unlink(), "annotations.jsonl", "log-missing", 1),
    "log-loop": (
        lambda it: replaced_by_loop(it.files.log),
        "annotations.jsonl",
        "file-unreadable",
        1,
    ),
    "log-folder": (
        lambda it: replaced_by_folder(it.files.log),
        "annotations.jsonl",
        "file-unreadable",
        1,
    ),
    "manifest-broken-json": (
        lambda it: it.raw_manifest(b'{"standard":"VIBES",\n"version":"1.0",\n"entries":{'),
        "manifest.json",
        "manifest-json",
        3,
    ),
    "manifest-list": (lambda it: it.raw_manifest(b"[]"), "manifest.json", "manifest-json", 1),
    "manifest-conflict": (
        lambda it: conflict(it.files.manifest),
        "manifest.json",
        "conflict-marker",
        2,
    ),
    "manifest-nan": (
        lambda it: edited(
            it.files.manifest, b'"type":"environment"', b'"type":"environment","n":NaN'
        ),
        "manifest.json",
        "manifest-json",
        2,
    ),
    "manifest-key-twice": (
        lambda it: edited(
            it.files.manifest, b'"type":"environment"', b'"type":"environment","type":"prompt"'
        ),
        "manifest.json",
        "entry-field",
        2,
    ),
    "manifest-changed": (
        lambda it: it.entry({"type": "prompt", "n": 1}, key="ab" * 32),
        "manifest.json",
        "hash-mismatch",
        3,
    ),
    "manifest-version": (
        lambda it: edited(it.files.manifest, b'"version":"1.0"', b'"version":"2.0"'),
        "manifest.json",
        "version-unsupported",
        1,
    ),
    "manifest-missing": (
        lambda it: it.files.manifest.unlink(),
        "manifest.json",
        "manifest-missing",
        1,
    ),
    "manifest-loop": (
        lambda it: replaced_by_loop(it.files.manifest),
        "manifest.json",
        "file-unreadable",
        1,
    ),
    "manifest-not-utf-8": (
        lambda it: it.raw_manifest(b'{"standard":"\xff"}'),
        "manifest.json",
        "manifest-json",
        1,
    ),
    "manifest-deep": (
        lambda it: it.raw_manifest(b"[" * 100_000),
        "manifest.json",
        "manifest-json",
        1,
    ),
    "manifest-empty": (lambda it: it.raw_manifest(b""), "manifest.json", "manifest-json", 1),
    "manifest-folder": (
        lambda it: replaced_by_folder(it.files.manifest),
        "manifest.json",
        "file-unreadable",
        1,
    ),
    "config-broken-json": (
        lambda it: it.files.write("config.json", b'{\n"standard":\n}'),
        "config.json",
        "config-json",
        3,
    ),
    "config-list": (
        lambda it: it.files.write("config.json", b"[]"),
        "config.json",
        "config-json",
        1,
    ),
    "config-not-utf-8": (
        lambda it: it.files.write("config.json", b"\xff\xfe"),
        "config.json",
        "config-json",
        1,
    ),
    "config-nan": (
        lambda it: it.files.write("config.json", b'{"a":NaN}'),
        "config.json",
        "config-field",
        1,
    ),
    "config-key-twice": (
        lambda it: it.files.write("config.json", b'{"a":1,\n"a":2}'),
        "config.json",
        "config-json",
        2,
    ),
    "config-version": (
        lambda it: it.config(standard_version="2.0"),
        "config.json",
        "version-unsupported",
        3,
    ),
    "config-missing": (lambda it: it.files.config.unlink(), "config.json", "config-missing", 1),
    "config-loop": (
        lambda it: replaced_by_loop(it.files.config),
        "config.json",
        "file-unreadable",
        1,
    ),
    "config-folder": (
        lambda it: replaced_by_folder(it.files.config),
        "config.json",
        "file-unreadable",
        1,
    ),
    "blob-bomb": (bomb, "manifest.json", "blob-broken", 3),
    "blob-escapes": (
        lambda it: external(it, "../../../../../etc/hostname"),
        "manifest.json",
        "blob-escapes",
        3,
    ),
    "blob-absolute": (lambda it: external(it, "/etc/hostname"), "manifest.json", "blob-escapes", 3),
    "blob-link-escapes": (escaping_link, "manifest.json", "blob-escapes", 3),
    "blob-is-a-folder": (lambda it: external(it, "wal"), "manifest.json", "blob-broken", 3),
    "blob-absent": (
        lambda it: external(it, "blobs/absent.json.gz"),
        "manifest.json",
        "blob-missing",
        3,
    ),
}
