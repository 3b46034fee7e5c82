"""Read the project's files, and find paths that name none of them (R19)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from vibes_lsp.anchors.encodings import as_saved
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.git.file_encodings import as_stored
from vibes_lsp.model.paths import PathKind, normal_path, path_kind
from vibes_lsp.store.files import is_circular, is_inside, read_file

_MAX_SOURCE: Final = 64 << 20
"""Largest source file that is read, in bytes."""
_HINT: Final = "give a file of the project"


def read_source(project: Path, path: str, *, hint: str = _HINT) -> Text:
    """Return the text of a file of the project; raises like `read_content`."""
    return Text.from_bytes(read_content(project, path, hint=hint))


def given_text(project: Path, path: str, text: str) -> Text:
    """Return what another program gives as the text of a file, in the encoding that the file has.

    Args:
        project: The project's root.
        path: The file, relative to it; it may not exist.
        text: The text.
    """
    saved = ""
    if not text.isascii():
        with suppress(UnreadableFile):
            saved = read_source(project, path).content
    return Text(as_saved(text, saved))


def read_content(project: Path, path: str, *, limit: int = _MAX_SOURCE, hint: str = _HINT) -> bytes:
    """Return the bytes of a file of the project, in the encoding in which git stores them.

    Args:
        project: The project's root.
        path: Relative to it.
        limit: Largest file that is read, in bytes.
        hint: The hint of the error if the file does not exist.

    Raises:
        UnreadableFile: It does not exist, cannot be read, or links out of the project (R19).
    """
    if not is_inside(project / path, project) and not is_circular(project / path):
        raise UnreadableFile(f"{path} is outside the project")
    content = read_file(project / path, limit=limit)
    if content is None:
        raise UnreadableFile(f"{path} does not exist", hint=hint)
    return as_stored(project, path, content)


_REASONS: Final = {
    PathKind.ABSOLUTE: "absolute",
    PathKind.ESCAPING: "outside the project",
    PathKind.UNUSABLE: "invalid",
    PathKind.TOO_LONG: "too long",
}
ABSENT: Final = "missing"


def why_foreign(path: str, project: Path) -> str | None:
    """Return in words why a path names no file of the project; None if it names one (R19)."""
    reason = _REASONS.get(path_kind(path))
    if reason is not None:
        return reason
    # A Path takes three times as long, and there may be a million, too many for a cache.
    file = f"{project}/{normal_path.__wrapped__(path)}".rstrip("/")
    return None if os.path.isfile(file) else ABSENT  # noqa: PTH113


def count_foreign(paths: Iterable[str], project: Path) -> int:
    """Return how many paths name no file of the project (R19)."""
    return sum(why_foreign(path, project) is not None for path in paths)
