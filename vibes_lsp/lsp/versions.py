"""What a document was some changes ago: clients name versions that are not the open one any more when they tell of something."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_CHANGES: Final = 256
_CHARACTERS: Final = 4 << 20
"""How much replaced text is kept, at most."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """Lines that were replaced.

    Attributes:
        first: Index of the first of them.
        new: How many lines stand there now.
        old: They, with their ends.
    """

    first: int
    new: int
    old: Sequence[str]

    @property
    def size(self) -> int:
        """The number of characters."""
        return sum(map(len, self.old))


class Past:
    """The last changes of a document; the oldest are forgotten when there are many, or much text was replaced."""

    def __init__(self) -> None:
        self._changes: deque[tuple[int, Replaced]] = deque()
        self._characters = 0

    def add(self, version: int, replaced: Replaced) -> None:
        """Take in a change.

        Args:
            version: Of the document before it; several changes may lead from one version to the next.
            replaced: What it replaced.
        """
        self._changes.append((version, replaced))
        self._characters += replaced.size
        while self._changes and (len(self._changes) > _CHANGES or self._characters > _CHARACTERS):
            forgotten = self._changes[0][0]
            while self._changes and self._changes[0][0] == forgotten:  # half of a version is none
                self._characters -= self._changes.popleft()[1].size

    def latest(self, now: int) -> int:
        """Return the version before the last change; `now` where none is remembered."""
        return self._changes[-1][0] if self._changes else now

    def lines(self, now: Sequence[str], version: int) -> list[str] | None:
        """Return the lines as they were at a version; None when that is not known any more.

        Args:
            now: The lines as they are.
            version: One before the present.
        """
        if all(before != version for before, _ in self._changes):
            return None
        lines = list(now)
        is_there = False
        for before, replaced in reversed(self._changes):
            if is_there and before != version:
                break
            lines[replaced.first : replaced.first + replaced.new] = replaced.old
            is_there = before == version
        return lines
