"""Opens a file in the user's editor, at a line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import click

from vibes_lsp.errors import VibesError

_WITH_LINES: Final = ("emacs", "emacsclient", "kak", "micro", "nano", "nvim", "vi", "vim")
"""Editors that take the line as `+LINE`; others open the file at its beginning."""


def open_in_editor(path: Path, line: int) -> None:
    """Open a file in the program that `VISUAL` or `EDITOR` names, and wait for its end.

    Args:
        path: The file, absolute.
        line: Its line to begin at, 1-based.

    Raises:
        VibesError: No program is named, or it fails.
    """
    editor = (os.environ.get("VISUAL") or os.environ.get("EDITOR") or "").strip()
    if not editor:
        raise VibesError("no editor: set the environment variable EDITOR")
    program = Path(editor.split()[0]).name.removesuffix(".exe")
    command = f"{editor} +{line}" if program in _WITH_LINES else editor
    try:
        click.edit(editor=command, filename=str(path))
    except click.ClickException as error:
        raise VibesError(f"cannot edit {path}: {error.format_message()}") from None
    except ValueError as error:
        raise VibesError(f"invalid EDITOR {editor!r}: {error}") from None
