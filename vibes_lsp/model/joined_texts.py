"""Search many short texts at once, which takes a fraction of the time of searching each."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Final


class JoinedTexts:
    """Some texts, joined by newlines.

    Args:
        texts: The texts.

    Attributes:
        texts: As given.
        joined: All of them.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts: Final = texts
        self.joined: Final = "\n".join(texts)
        self._starts: Final = [0, *accumulate(len(text) + 1 for text in texts)]

    @cached_property
    def _folded(self) -> str:
        # lower() would make this letter two characters; all others stay one
        return self.joined.replace("\u0130", "i").lower()

    def folded(self, index: int) -> str:
        """Return a text in lower case, as long as the text."""
        return self._folded[self._starts[index] : self._starts[index + 1] - 1]

    def containing(self, *literals: str) -> list[int]:
        """Return the indexes of the texts that contain one of some literals, in order.

        Args:
            literals: Texts without a newline.
        """
        return _sorted(self._with(literal, self.joined) for literal in literals)

    def folded_containing(self, *literals: str) -> list[int]:
        """Return the indexes of the texts that contain a literal in lower case, in order."""
        return _sorted(self._with(literal, self._folded) for literal in literals)

    def _with(self, literal: str, joined: str) -> Iterator[int]:
        starts = self._starts
        at = joined.find(literal)
        while at >= 0:
            index = bisect_right(starts, at) - 1
            yield index
            at = joined.find(literal, starts[index + 1])


def _sorted(groups: Iterable[Iterable[int]]) -> list[int]:
    return sorted({index for group in groups for index in group})
