"""What git must know about an audit directory (RFC 4.2, R13): the lines we write, and which of them its own files lack."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Final

from vibes_lsp.errors import UnreadableFile
from vibes_lsp.model.tracking import Tracking
from vibes_lsp.store.disk import read_file
from vibes_lsp.store.layout import AuditDir

IGNORED: Final = ("audit.db*", "*.lock", "wal/", "spool/")
"""Derived and temporary files."""
ATTRIBUTES: Final = (
    "annotations.jsonl merge=union -text linguist-generated",
    "manifest.json merge=union -text linguist-generated",
)
"""Both growing files merge by union, keep their line ends, and are folded by hosts in diffs."""
NEEDED: Final = {"merge": "union", "text": "unset"}
"""Values of git's attributes, as `git check-attr` prints them, that both growing files must have."""

_EXAMPLES: Final = {
    "audit.db*": ("audit.db", "audit.db-journal", "audit.db-shm", "audit.db-wal"),
    "*.lock": ("append.lock", "fold.lock"),
    "wal/": ("wal/entries.jsonl",),
    "spool/": ("spool/requests.lock",),
}
"""Names that each pattern is written for: it is missing where one of them is not ignored."""


def missing_ignores(directory: AuditDir) -> list[str]:
    """Return the ignore patterns of ours that the directory's own `.gitignore` has no equal for."""
    own = _own_ignores(directory)
    return [pattern for pattern in IGNORED if any(map(own.tracks, _EXAMPLES[pattern]))]


def ignores_database(directory: AuditDir) -> bool:
    """Whether the directory's own `.gitignore` covers the derived database, as it must (RFC 7.8)."""
    return not _own_ignores(directory).tracks(directory.database.name)


def missing_attributes(directory: AuditDir) -> list[str]:
    """Return the attribute lines of ours that the directory's own `.gitattributes` has no equal for; the last match counts."""
    present = [line.split() for line in _lines(directory, directory.gitattributes.name)]
    return [line for line in ATTRIBUTES if not _has_needed(line.split()[0], present)]


def _has_needed(name: str, lines: list[list[str]]) -> bool:
    found: dict[str, str] = {}
    for words in lines:
        if words and fnmatchcase(name, words[0].removeprefix("/")):
            for word in words[1:]:
                found |= _attributes(word)
    return found.items() >= NEEDED.items()


def _attributes(word: str) -> dict[str, str]:
    """Return the attributes that one word of a line sets."""
    if word == "binary":
        return {"diff": "unset", "merge": "unset", "text": "unset"}
    name, _, value = word.lstrip("-!").partition("=")
    return {name: {"-": "unset", "!": "unspecified"}.get(word[:1]) or value or "set"}


def _own_ignores(directory: AuditDir) -> Tracking:
    """Return what the directory's `.gitignore` leaves to git: what it ignores is not tracked."""
    return Tracking(None, _lines(directory, directory.gitignore.name))


def _lines(directory: AuditDir, name: str) -> list[str]:
    try:
        data = read_file(directory.path / name, limit=1 << 20) or b""
    except UnreadableFile:
        return []
    return [line.rstrip("\r") for line in data.decode("utf-8", "replace").split("\n")]
