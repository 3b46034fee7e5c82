"""Where annotations are in the texts of some files, told by whoever keeps up with these: else each record would have them searched for anew."""

from __future__ import annotations

from typing import Final

from vibes_lsp.anchors.text import Text
from vibes_lsp.index.placements import Known

_FILES: Final = 16
"""Files that are remembered: those that somebody is at work on."""


class Whereabouts:
    """What was told last of each file; it holds for that very text, and threads may share it."""

    def __init__(self) -> None:
        self._told: dict[str, tuple[str, Known]] = {}

    def tell(self, path: str, content: str, known: Known) -> None:
        """Take in where annotations are.

        Args:
            path: Of the file, relative to the project.
            content: Its text.
            known: Where they are in it; those that are left out are looked for.
        """
        self._told.pop(path, None)
        self._told[path] = content, known
        while len(self._told) > _FILES:
            self._told.pop(next(iter(self._told)), None)

    def of(self, path: str, text: Text) -> Known:
        """Return where annotations are in a text; nothing when another one was told of."""
        content, known = self._told.get(path, ("", {}))
        return known if content == text.content else {}
