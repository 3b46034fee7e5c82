"""Create an audit directory (`vibes init`), and what git must know about it (RFC 4.2, R13). Existing files are kept."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from vibes_lsp.errors import RefusedWrite, UnreadableFile, UnsupportedVersion
from vibes_lsp.model.hashing import context_hash
from vibes_lsp.model.members import Members
from vibes_lsp.model.timestamps import format_timestamp
from vibes_lsp.model.tracking import Tracking
from vibes_lsp.model.vocabulary import NO_MODEL, AssuranceLevel, ContextType
from vibes_lsp.store.audit_dir import AUDIT_DIR_NAME, AuditDir
from vibes_lsp.store.config import load_config
from vibes_lsp.store.files import (
    TEMPORARY_SUFFIX,
    create_file,
    flush_folder,
    is_inside,
    open_for_writing,
    read_file,
    write_error,
)
from vibes_lsp.store.manifest import read_manifest
from vibes_lsp.store.manifest_format import new_manifest
from vibes_lsp.store.versions import CURRENT_VERSION, STANDARD, unsupported_versions

IGNORE_LINES: Final = ("audit.db*", "*.lock", "wal/", "spool/")
"""Derived and temporary files."""
ATTRIBUTE_LINES: Final = (
    "annotations.jsonl merge=union -text linguist-generated",
    "manifest.json merge=union -text linguist-generated",
)
"""Both growing files merge by union, keep their line ends, and are folded by hosts in diffs."""
REQUIRED_ATTRIBUTES: Final = {"merge": "union", "text": "unset"}
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
    return [pattern for pattern in IGNORE_LINES if any(map(own.tracks, _EXAMPLES[pattern]))]


def ignores_database(directory: AuditDir) -> bool:
    """Whether the directory's own `.gitignore` covers the derived database, as it must (RFC 7.8)."""
    return not _own_ignores(directory).tracks(directory.database.name)


def missing_attributes(directory: AuditDir) -> list[str]:
    """Return the attribute lines of ours that the directory's own `.gitattributes` has no equal for; the last match counts."""
    present = [line.split() for line in _lines(directory, directory.gitattributes.name)]
    return [line for line in ATTRIBUTE_LINES if not _has_needed(line.split()[0], present)]


def _has_needed(name: str, lines: list[list[str]]) -> bool:
    found: dict[str, str] = {}
    for words in lines:
        if words and fnmatchcase(name, words[0].removeprefix("/")):
            for word in words[1:]:
                found |= _attributes(word)
    return found.items() >= REQUIRED_ATTRIBUTES.items()


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


REVIEWER_TOOL: Final = "vibes-lsp"
"""The tool of a human reviewer's environment (R6)."""


@dataclass(frozen=True, slots=True)
class InitResult:
    """What `initialise` found and did: file names within the directory.

    Attributes:
        directory: The trail.
        created: Files that were missing.
        completed: Files that lacked lines, which were added behind those that are there.
        unchanged: Files that are as they were.
    """

    directory: AuditDir
    created: tuple[str, ...]
    completed: tuple[str, ...]
    unchanged: tuple[str, ...]


def initialise(
    project: Path,
    *,
    project_name: str,
    level: AssuranceLevel,
    extensions: Sequence[str] | None,
    tool_version: str,
    now: datetime,
) -> InitResult:
    """Create `.ai-audit/` in `project` with its files, each only where nothing is, and add the lines for git that are missing.

    Args:
        project: The project's root, an existing folder.
        project_name: For `config.json`.
        level: How much will be recorded.
        extensions: `tracked_extensions`; None tracks all files.
        tool_version: Our own version, for the reviewer's environment.
        now: The instant to note on the first entry.

    Raises:
        RefusedWrite: The folder does not exist or does not allow it.
        UnsupportedVersion: A file of the directory declares a major version that is not ours to add to.
    """
    directory = AuditDir(project.absolute() / AUDIT_DIR_NAME)
    unsupported = unsupported_versions(load_config(directory), read_manifest(directory))
    if unsupported:
        raise UnsupportedVersion(
            unsupported[0],
            hint="nothing was changed; upgrade, or correct the version if it is a mistake",
        )
    if not is_inside(directory.path, project):
        raise RefusedWrite(
            f"{directory.path} is a link out of the project",
            hint="remove it, or run init where it leads",
        )
    try:
        directory.path.mkdir(exist_ok=True)
    except OSError as error:
        raise RefusedWrite(
            f"cannot create {directory.path}: {error.strerror}",
            hint="init needs a folder it may write to",
        ) from error
    config: Members = {
        "standard": STANDARD,
        "standard_version": CURRENT_VERSION,
        "assurance_level": level.value,
        "project_name": project_name,
    }
    if extensions is not None:
        config["tracked_extensions"] = list(extensions)
    files = {
        directory.config: json.dumps(config, indent=2, ensure_ascii=False).encode() + b"\n",
        directory.manifest: new_manifest({**_reviewer(tool_version, now)}),
        directory.log: b"",
        directory.gitignore: "".join(f"{line}\n" for line in IGNORE_LINES).encode(),
        directory.gitattributes: "".join(f"{line}\n" for line in ATTRIBUTE_LINES).encode(),
    }
    created = [path.name for path, data in files.items() if create_file(path, data)]
    lacking = {
        directory.gitignore: missing_ignores(directory),
        directory.gitattributes: missing_attributes(directory),
    }
    completed = [path.name for path, lines in lacking.items() if lines and _add_lines(path, lines)]
    unchanged = [path.name for path in files if path.name not in {*created, *completed}]
    return InitResult(directory, tuple(created), tuple(completed), tuple(unchanged))


def _add_lines(path: Path, lines: Sequence[str]) -> bool:
    """Add lines behind those that a file has, with its line ends; False where that would not be a regular file of the project.

    Raises:
        RefusedWrite: The file system does not allow it; the file is as it was.
    """
    if path.is_symlink() or not path.is_file():
        return False
    try:
        with os.fdopen(open_for_writing(path, os.O_APPEND), "r+b") as file:
            before = file.read()
            end = b"\r\n" if before.endswith(b"\r\n") else b"\n"
            begin = b"" if not before or before.endswith(b"\n") else end
            file.write(begin + b"".join(line.encode() + end for line in lines))
    except OSError as error:
        raise write_error(path, error) from error
    return True


def _reviewer(tool_version: str, now: datetime) -> dict[str, Members]:
    entry: Members = {
        "type": ContextType.ENVIRONMENT.value,
        "tool_name": REVIEWER_TOOL,
        "tool_version": tool_version,
        "model_name": NO_MODEL,
        "model_version": NO_MODEL,
        "created_at": format_timestamp(now),
    }
    return {context_hash(entry): entry}


def export_trail(folder: Path, files: Mapping[str, bytes], *, source: AuditDir) -> AuditDir:
    """Write a new trail into `.ai-audit/` of a folder, with what git must know about it (R13).

    Args:
        folder: Empty, or not there yet.
        files: The content of each file by its path below the audit directory.
        source: The trail that it was made of.

    Raises:
        RefusedWrite: Something is in the folder, it lies in the trail itself, or it cannot be written; nothing was.
    """
    check_export_folder(folder, source)
    made = {
        **files,
        source.gitignore.name: "".join(f"{line}\n" for line in IGNORE_LINES).encode(),
        source.gitattributes.name: "".join(f"{line}\n" for line in ATTRIBUTE_LINES).encode(),
    }
    target = AuditDir(folder.absolute() / AUDIT_DIR_NAME)
    temporary = target.path.with_name(f"{os.urandom(8).hex()}{TEMPORARY_SUFFIX}")
    was_there = folder.is_dir()
    try:
        temporary.mkdir(parents=True)
        for name, content in made.items():
            path = temporary / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        temporary.rename(target.path)
    except OSError as error:
        shutil.rmtree(temporary, ignore_errors=True)
        if not was_there:
            with suppress(OSError):
                folder.rmdir()
        raise write_error(target.path, error) from error
    flush_folder(folder)
    return target


def check_export_folder(folder: Path, source: AuditDir) -> None:
    """Refuse a folder that a trail must not be written into.

    Raises:
        RefusedWrite: Something is in it, it is none, or it lies in the trail itself.
    """
    if is_inside(folder, source.path):
        raise RefusedWrite(
            f"{folder} lies in the trail that is exported",
            hint="give a folder elsewhere; nothing was written",
        )
    try:
        occupied = folder.exists() and any(folder.iterdir())
    except OSError as error:
        raise RefusedWrite(
            f"{folder} cannot be written to: {error.strerror}", hint="give an empty or a new folder"
        ) from error
    if occupied:
        raise RefusedWrite(
            f"{folder} is not empty", hint="give an empty or a new folder; nothing was written"
        )
