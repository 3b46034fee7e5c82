"""Folders inside an audit directory: created when needed, and those of this machine hidden from git.

A folder of temporary files carries a `.gitignore` of its own that covers everything in it, itself included. So no lock, journal
or spool file ever shows in `git status`, whatever the ignore rules of the project say.
"""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Final

from vibes_lsp.errors import RefusedWrite
from vibes_lsp.store.disk import create_file
from vibes_lsp.store.durability import refusal

_ALL: Final = b"*\n"


def make_folder(folder: Path) -> None:
    """Create a folder of the audit directory unless it is there.

    Raises:
        RefusedWrite: The audit directory does not allow it, or something else, such as a link, is in its place.
    """
    try:
        if stat.S_ISDIR(folder.lstat().st_mode):
            return
    except FileNotFoundError:
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise refusal(folder, error) from error
        return
    except OSError as error:
        raise refusal(folder, error) from error
    raise RefusedWrite(
        f"{folder} is not a folder",
        hint="move it away; a folder is expected in its place, and a link could lead elsewhere",
    )


def make_hidden_folder(folder: Path) -> None:
    """Create a folder of temporary files unless it is there, and hide its content from git.

    Raises:
        RefusedWrite: As for `make_folder`.
    """
    make_folder(folder)
    create_file(folder / ".gitignore", _ALL)
