"""Texts in which annotations were made, kept on this machine for a while.

Git has a text only if it is committed. An edit that is changed before its commit would otherwise
leave no proof of which lines are still as they were written. A kept text is used only under the
hash that its record has, so no other content can take its place.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from vibes_lsp.errors import VibesError
from vibes_lsp.model.hashing import sha256
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import (
    make_folder,
    make_ignored_folder,
    read_file,
    replace_file,
    write_temporary,
)
from vibes_lsp.store.waiting import (
    make_private_folder,
    place_of_waiting,
    waiting_place,
)

MAX_TEXT: Final = 1 << 20
"""Largest text that is kept, in bytes."""
MAX_KEPT: Final = 64 << 20
"""Bytes of all kept texts; the oldest are removed first."""
RETENTION_SECONDS: Final = 30 * 86_400

_HASH: Final = re.compile(r"[0-9a-f]{64}")


def keep_text(directory: AuditDir, file_hash: str, content: bytes) -> None:
    """Keep a text; a failure changes nothing, because the text is only an aid.

    Args:
        directory: The trail.
        file_hash: The hash of the text, as its records have it.
        content: The text.
    """
    if len(content) > MAX_TEXT:
        return
    place = place_of_waiting(directory)
    with suppress(VibesError, OSError):
        if place is not None:
            make_private_folder(place, place.texts)
            _keep_in(place.texts, file_hash, content)
            return
    with suppress(VibesError, OSError):
        make_ignored_folder(directory.spool)
        make_folder(directory.kept_texts)
        directory.kept_texts.chmod(0o700)
        _keep_in(directory.kept_texts, file_hash, content)


def _keep_in(folder: Path, file_hash: str, content: bytes) -> None:
    """Keep a text in a folder.

    Raises:
        RefusedWrite: The folder cannot be written.
    """
    path = folder / file_hash
    if path.exists():
        now = time.time()
        os.utime(path, (now, now))
        return
    replace_file(write_temporary(folder, content, durable=False), path)
    if file_hash.startswith("0"):  # once for 16 texts: it examines each file
        _remove_oldest(folder, time.time())


def read_kept_text(directory: AuditDir, file_hash: str) -> bytes | None:
    """Return the text with this hash; None if it is not kept."""
    if not _HASH.fullmatch(file_hash):
        return None
    place = waiting_place(directory)
    for folder in (*([] if place is None else [place.texts]), directory.kept_texts):
        with suppress(VibesError):
            content = read_file(folder / file_hash, limit=MAX_TEXT)
            if content is not None and sha256(content) == file_hash:
                return content
    return None


def _remove_oldest(folder: Path, present: float) -> None:
    """Remove texts that are too old, and the oldest ones above the limit of bytes."""
    files: list[tuple[float, int, str]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            status = entry.stat(follow_symlinks=False)
            files.append((status.st_mtime, status.st_size, entry.path))
    kept = 0
    for modified, size, path in sorted(files, reverse=True):
        kept += size
        if kept > MAX_KEPT or present - modified > RETENTION_SECONDS:
            Path(path).unlink(missing_ok=True)
