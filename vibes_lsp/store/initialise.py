"""Create an audit directory, new (`vibes init`) or from an export, and its git files (R13)."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from vibes_lsp.errors import RefusedWrite, UnreadableFile
from vibes_lsp.model.hashing import context_hash
from vibes_lsp.model.members import Members
from vibes_lsp.model.timestamps import format_timestamp
from vibes_lsp.model.tracking import Tracking
from vibes_lsp.model.vocabulary import NO_MODEL, AssuranceLevel, ContextType
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.config import load_config
from vibes_lsp.store.files import (
    TEMPORARY_SUFFIX,
    create_file,
    flush_folder,
    is_inside,
    open_for_writing,
    read_file,
    replace_file,
    write_error,
    write_temporary,
)
from vibes_lsp.store.manifest import read_manifest
from vibes_lsp.store.manifest_format import new_manifest
from vibes_lsp.store.trail_search import AUDIT_DIR_NAME
from vibes_lsp.store.versions import CURRENT_VERSION, STANDARD, refuse_unsupported

IGNORE_LINES: Final = ("audit.db*", "*.lock", "wal/", "spool/")
"""Patterns for derived and temporary files."""
ATTRIBUTE_LINES: Final = (
    "annotations.jsonl merge=union -text linguist-generated",
    "manifest.json merge=union -text linguist-generated",
)
"""Both growing files merge by union, keep their line ends and are collapsed in diffs."""
REQUIRED_ATTRIBUTES: Final = {"merge": "union", "text": "unset"}
"""The attributes that both growing files need, with values as `git check-attr` prints them."""


def missing_ignores(directory: AuditDir) -> list[str]:
    """Return the `IGNORE_LINES` that the directory's `.gitignore` lacks."""
    return _missing_lines(directory, directory.gitignore, IGNORE_LINES)


def missing_attributes(directory: AuditDir) -> list[str]:
    """Return the `ATTRIBUTE_LINES` that the directory's `.gitattributes` lacks."""
    return _missing_lines(directory, directory.gitattributes, ATTRIBUTE_LINES)


def _missing_lines(directory: AuditDir, path: Path, lines: Sequence[str]) -> list[str]:
    present = _lines(directory, path.name)
    return [line for line in lines if line not in present]


def ignores_database(directory: AuditDir) -> bool:
    """Whether the directory's `.gitignore` covers the derived database, as RFC 7.8 requires."""
    rules = Tracking(None, _lines(directory, directory.gitignore.name))
    return not rules.tracks(directory.database.name)


def _lines(directory: AuditDir, name: str) -> list[str]:
    try:
        content = read_file(directory.path / name, limit=1 << 20) or b""
    except UnreadableFile:
        return []
    return [line.rstrip() for line in content.decode("utf-8", "replace").split("\n")]


REVIEWER_TOOL: Final = "vibes-lsp"
"""The tool of a human reviewer's environment (R6)."""


@dataclass(frozen=True, slots=True)
class InitResult:
    """The result of `initialise`, as file names in the directory.

    Attributes:
        directory: The trail.
        created: Files that were missing.
        completed: Files that lacked lines; these were appended.
        unchanged: Files that needed no change.
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
    """Create the missing files of `.ai-audit/` and append missing lines to its git files.

    Args:
        project: The project root, an existing folder.
        project_name: For `config.json`.
        level: The assurance level.
        extensions: `tracked_extensions`; None tracks all files.
        tool_version: The version of this program, for the reviewer's environment.
        now: The time of the first entry.

    Raises:
        RefusedWrite: The folder does not exist or is not writable.
        UnsupportedVersion: A file of the directory has an unsupported major version.
    """
    directory = AuditDir(project.absolute() / AUDIT_DIR_NAME)
    refuse_unsupported(load_config(directory), read_manifest(directory))
    if not is_inside(directory.path, project):
        raise RefusedWrite(
            f"{directory.path} links to a folder outside the project",
            hint="remove the link, or run `vibes init` in that project",
        )
    try:
        directory.path.mkdir(exist_ok=True)
    except OSError as error:
        raise RefusedWrite(
            f"cannot create {directory.path}: {error.strerror}",
            hint="check the permissions of the folder",
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
        directory.config: _encode_config(config),
        directory.manifest: new_manifest({**_reviewer_environment(tool_version, now)}),
        directory.log: b"",
        directory.gitignore: "".join(f"{line}\n" for line in IGNORE_LINES).encode(),
        directory.gitattributes: "".join(f"{line}\n" for line in ATTRIBUTE_LINES).encode(),
    }
    created = [path.name for path, content in files.items() if create_file(path, content)]
    lacking = {
        directory.gitignore: missing_ignores(directory),
        directory.gitattributes: missing_attributes(directory),
    }
    completed = [
        path.name for path, lines in lacking.items() if lines and _append_missing_lines(path, lines)
    ]
    unchanged = [path.name for path in files if path.name not in {*created, *completed}]
    return InitResult(directory, tuple(created), tuple(completed), tuple(unchanged))


def enable_risk_scoring(directory: AuditDir) -> bool:
    """Turn PRISM on in `config.json`; return False if it is on.

    Raises:
        RefusedWrite: The file cannot be read or written, or is not formatted as this program
            formats it, which would be lost.
    """
    config = load_config(directory)
    scoring = config.members.get("risk_scoring")
    if isinstance(scoring, dict) and scoring.get("enabled") is True:
        return False
    by_hand = 'add "risk_scoring": {"enabled": true} to it'
    if config.problem is not None:
        raise RefusedWrite(f"cannot change {directory.config}: it is not valid", hint=by_hand)
    if config.data != _encode_config(config.members) or not isinstance(scoring, dict | None):
        raise RefusedWrite(
            f"cannot change {directory.config} without changing its format", hint=by_hand
        )
    members = {**config.members, "risk_scoring": {**(scoring or {}), "enabled": True}}
    temporary = write_temporary(directory.path, _encode_config(members), like=directory.config)
    replace_file(temporary, directory.config)
    return True


def _encode_config(members: Members) -> bytes:
    return (
        json.dumps(members, indent=2, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
    )


def _append_missing_lines(path: Path, lines: Sequence[str]) -> bool:
    """Append lines to a file, with its line ends; return False if it is a link or not a file.

    Raises:
        RefusedWrite: The file cannot be written; it is unchanged.
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


def _reviewer_environment(tool_version: str, now: datetime) -> dict[str, Members]:
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
    """Write a whole trail into `.ai-audit/` of a folder in one step, all files or none (R13).

    Args:
        folder: An empty or missing folder.
        files: File contents by path in the audit directory.
        source: The exported trail.

    Raises:
        RefusedWrite: The folder is not empty, is inside the exported trail or is not writable.
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
    """Reject a folder that a trail must not be written to.

    Raises:
        RefusedWrite: It is not empty, not a folder, or inside the exported trail.
    """
    if is_inside(folder, source.path):
        raise RefusedWrite(
            f"{folder} is inside the exported trail",
            hint="nothing was written; choose a folder elsewhere",
        )
    try:
        occupied = folder.exists() and any(folder.iterdir())
    except OSError as error:
        raise RefusedWrite(
            f"cannot write to {folder}: {error.strerror}", hint="choose an empty or a new folder"
        ) from error
    if occupied:
        raise RefusedWrite(
            f"{folder} is not empty", hint="nothing was written; choose an empty or a new folder"
        )
