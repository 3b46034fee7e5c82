"""Which annotations have no text in their file any more: of what is found elsewhere, these may have moved there (R14).

It reads files, and so is for a thread or the command line. A file is located in anew only when it has other bytes than last time, or the log
says something new of it: many are asked about each time a file of their folder is opened or saved.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec

from vibes_lsp.anchors.located import AnchoredRange, State
from vibes_lsp.anchors.locating import locate
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.index.columns import Columns
from vibes_lsp.index.project_files import read_content
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.vocabulary import Action

_MAX_SOURCE: Final = 8 << 20
_FILES: Final = 2_048
"""Files that are remembered: of most, that nothing is gone from them."""
_MANY: Final = 1_024
"""New lines of the log from which on nothing is remembered."""


class MovedOutRange(msgspec.Struct, frozen=True, gc=False):
    """An annotation whose text stands in its file no longer.

    Attributes:
        id: Of its first record.
        moment: Of its first record.
        recorded: What it was recorded for.
        is_guessed: Whether some lines of the file may be what became of it.
    """

    id: str
    moment: datetime
    recorded: AnchoredRange
    is_guessed: bool


class MovedOut:
    """Finds the annotations whose text is gone from their file.

    Args:
        trail: The trail, refreshed before every question.
    """

    def __init__(self, trail: Trail) -> None:
        self._trail = trail
        self._columns: Columns | None = None
        self._until = 0
        self._known: dict[str, tuple[bytes | None, Sequence[MovedOutRange]]] = {}

    def of(self, name: str) -> Sequence[MovedOutRange]:
        """Return those of a file as it is saved now; all, if there is no such file.

        Args:
            name: Relative to the project, as `normal_path` has it.
        """
        self._catch_up()
        content = self._read(name)
        digest = None if content is None else hashlib.sha256(content).digest()
        known = self._known.pop(name, None)
        if known is None or known[0] != digest:
            known = digest, self._find(name, content)
            if not self._trail.is_settled(name):
                return known[1]
        self._known[name] = known
        while len(self._known) > _FILES:
            del self._known[next(iter(self._known))]
        return known[1]

    def text(self, name: str) -> Text | None:
        """Return the text of a file as it is saved now; None if there is none."""
        content = self._read(name)
        return None if content is None else Text.from_bytes(content)

    def _catch_up(self) -> None:
        """Forget the files of which the log says something new."""
        columns = self._trail.log.columns
        if columns is not self._columns or len(columns) - self._until > _MANY:
            self._known.clear()
        elif len(columns) > self._until:
            for name in self._trail.files_since(self._until):
                self._known.pop(name, None)
        self._columns, self._until = columns, len(columns)

    def _find(self, name: str, content: bytes | None) -> Sequence[MovedOutRange]:
        lineages = [
            each
            for each in self._trail.lineages_in(name)
            if not each.superseded_by and each.action != Action.DELETE
        ]
        known = [
            (each, recorded)
            for each in lineages
            if (recorded := each.recorded) is not None and recorded.anchors.hash
        ]
        located = (
            [None] * len(known)
            if content is None
            else locate([recorded for _, recorded in known], Text.from_bytes(content))
        )
        return [
            MovedOutRange(
                lineage.first.id,
                lineage.first.moment,
                recorded,
                is_guessed=where is not None and where.start is not None,
            )
            for (lineage, recorded), where in zip(known, located, strict=True)
            if where is None or where.start is None or where.state == State.EDITED
        ]

    def _read(self, name: str) -> bytes | None:
        try:
            return read_content(self._trail.directory.project, name, limit=_MAX_SOURCE)
        except UnreadableFile:
            return None
