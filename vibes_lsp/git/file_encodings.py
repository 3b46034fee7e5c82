"""The encoding of files on disk that git stores as UTF-8: the attribute `working-tree-encoding`.

Git is asked only where a file that sets attributes has that word.
"""

from __future__ import annotations

import codecs
import os
from functools import lru_cache
from pathlib import Path
from typing import Final

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.attribute_files import ATTRIBUTES, mentions
from vibes_lsp.git.process import run_git
from vibes_lsp.git.repository_state import common_git_folder, is_special
from vibes_lsp.store.file_stamps import FileStamp, file_stamp
from vibes_lsp.store.trail_search import is_repository

_NAME: Final = "working-tree-encoding"
_FAMILIES: Final = ("utf-16", "utf-32", "iso8859", "cp", "koi8", "shift_jis", "euc", "gb", "big5")
"""How the encodings begin that are used: those of texts. Python has others, such as of archives."""


def as_stored(project: Path, path: str, content: bytes) -> bytes:
    """Return the bytes of a file as git stores them; as they are where nothing is converted.

    Args:
        project: The project's root.
        path: The file, relative to it.
        content: Its bytes on disk.
    """
    encoding = working_tree_encoding(project, path)
    if encoding is None:
        return content
    try:
        return content.decode(encoding).encode()
    except UnicodeError:  # git refuses to store it
        return content


def working_tree_encoding(project: Path, path: str) -> str | None:
    """Return the encoding of a file on disk, where git stores another; None for most files.

    Args:
        project: The project's root.
        path: The file, relative to it.
    """
    folder = Path(os.path.normpath(project / path)).parent
    sources: list[Path] = []
    for top in (folder, *folder.parents):
        sources.append(top / ATTRIBUTES)
        if is_repository(str(top)):
            break
    else:
        return None
    common = common_git_folder(top)
    if common is not None:
        sources.append(common / "info/attributes")
    if any(map(is_special, sources)):  # git would wait for it
        return None
    if not any(mentions(file, _NAME.encode()) for file in sources):
        return None
    stamps = tuple((file, stamp) for file in sources if (stamp := file_stamp(file)) is not None)
    return _asked(top, os.path.relpath(project / path, top), stamps)


@lru_cache(maxsize=4096)
def _asked(top: Path, name: str, _sources: tuple[tuple[Path, FileStamp], ...]) -> str | None:
    """Return what git says of a file, until a file that sets attributes changes."""
    try:
        answer = run_git(top, "check-attr", "-z", _NAME, "--", name).split(b"\0")
        value = answer[2].decode("ascii")
        encoding = codecs.lookup(value).name
    except (HistoryUnavailable, IndexError, LookupError, ValueError):
        return None
    is_used = encoding != "utf-8" and encoding.startswith(_FAMILIES)
    return encoding if is_used else None
