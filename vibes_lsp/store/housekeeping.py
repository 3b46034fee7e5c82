"""What git must know about an audit directory (RFC 4.2, R13): the lines we write and look for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from vibes_lsp.errors import UnreadableFile
from vibes_lsp.store.disk import read_file
from vibes_lsp.store.layout import AuditDir

IGNORED: Final = ("audit.db*", "*.lock", "wal/", "spool/")
"""Derived and temporary files."""
ATTRIBUTES: Final = (
    "annotations.jsonl merge=union -text linguist-generated",
    "manifest.json merge=union -text linguist-generated",
)
"""Both growing files merge by union, keep their line ends, and are folded by hosts in diffs."""


def missing_ignores(directory: AuditDir) -> list[str]:
    """Return the ignore lines that the directory's `.gitignore` lacks; `audit.db` counts in any spelling."""
    present = set(_lines(directory, directory.gitignore.name))
    if "*" in present:
        return []
    if "audit.db" in present and {"audit.db-shm", "audit.db-wal"} <= present:
        present.add("audit.db*")
    return [pattern for pattern in IGNORED if pattern not in present]


def ignores_database(directory: AuditDir) -> bool:
    """Whether the directory's `.gitignore` names the derived database, as it must (RFC 7.8)."""
    return IGNORED[0] not in missing_ignores(directory)


def missing_attributes(directory: AuditDir) -> list[str]:
    """Return the attribute lines that are missing; one that names the file and `merge=union` counts."""
    present = [line.split() for line in _lines(directory, directory.gitattributes.name)]
    return [line for line in ATTRIBUTES if not any(_serves(line.split(), words) for words in present)]


def _serves(wanted: Sequence[str], words: Sequence[str]) -> bool:
    name, *attributes = wanted
    needed = {attribute for attribute in attributes if attribute != "linguist-generated"}
    return bool(words) and words[0] in (name, f"/{name}", "*") and needed <= set(words[1:])


def _lines(directory: AuditDir, name: str) -> list[str]:
    try:
        data = read_file(directory.path / name, limit=1 << 20) or b""
    except UnreadableFile:
        return []
    return [line.strip() for line in data.decode("utf-8", "replace").splitlines()]
