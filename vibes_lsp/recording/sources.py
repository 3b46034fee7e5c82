"""The text that is recorded about when none is given: the file's, as it is saved."""

from __future__ import annotations

from pathlib import Path

from vibes_lsp.anchors.text import Text
from vibes_lsp.index.sources import read_source


def source_text(project: Path, path: str) -> Text:
    """Return the text of a file of the project; whoever records can also give it.

    Raises:
        UnreadableFile: It is not there, cannot be read, or is a link out of the project.
    """
    return read_source(project, path, hint="save it first, or give its text")
