"""Writing a whole new trail somewhere else, in one step: it is there with all its files, or nothing is."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from vibes_lsp.errors import RefusedWrite
from vibes_lsp.store.disk import inside
from vibes_lsp.store.durability import TEMPORARY, flush_folder, refusal
from vibes_lsp.store.initialise import ATTRIBUTES, IGNORED
from vibes_lsp.store.layout import AUDIT_DIR_NAME, AuditDir


def export_trail(folder: Path, files: Mapping[str, bytes], *, source: AuditDir) -> AuditDir:
    """Write a new trail into `.ai-audit/` of a folder, with what git must know about it (R13).

    Args:
        folder: Empty, or not there yet.
        files: The content of each file by its path below the audit directory.
        source: The trail that it was made of.

    Raises:
        RefusedWrite: Something is in the folder, it lies in the trail itself, or it cannot be written; nothing was.
    """
    check_free(folder, source)
    made = {
        **files,
        source.gitignore.name: "".join(f"{line}\n" for line in IGNORED).encode(),
        source.gitattributes.name: "".join(f"{line}\n" for line in ATTRIBUTES).encode(),
    }
    target = AuditDir(folder.absolute() / AUDIT_DIR_NAME)
    temporary = target.path.with_name(f"{os.urandom(8).hex()}{TEMPORARY}")
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
        raise refusal(target.path, error) from error
    flush_folder(folder)
    return target


def check_free(folder: Path, source: AuditDir) -> None:
    """Refuse a folder that a trail must not be written into.

    Raises:
        RefusedWrite: Something is in it, it is none, or it lies in the trail itself.
    """
    if inside(folder, source.path):
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
