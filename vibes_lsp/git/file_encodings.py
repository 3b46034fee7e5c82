"""The encoding of files on disk that git stores as UTF-8: the attribute `working-tree-encoding`.

Git is asked only where a file that sets attributes has that word.
"""

from __future__ import annotations

import codecs
import os
from pathlib import Path
from typing import Final

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.attribute_files import attribute_values, attributes_in_tree, mentions
from vibes_lsp.git.repository_state import is_special
from vibes_lsp.store.git_folders import git_folders, nearest_marker

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
    file = os.path.normpath(project / path)
    marker = nearest_marker(os.path.dirname(file))  # noqa: PTH120  # half the time of a Path's
    if marker is None:
        return None
    top, (_, common) = marker.parent, git_folders(marker)
    name = os.path.relpath(file, top)
    sources = [top / source for source in attributes_in_tree(Path(name).as_posix())]
    sources.append(common / "info/attributes")
    if any(map(is_special, sources)):  # git would wait for it
        return None
    if not any(mentions(source, _NAME.encode()) for source in sources):
        return None
    try:
        value = attribute_values(top, [name], _NAME)[name][_NAME]
        encoding = codecs.lookup(value).name
    except (HistoryUnavailable, LookupError, ValueError):
        return None
    is_used = encoding != "utf-8" and encoding.startswith(_FAMILIES)
    return encoding if is_used else None
