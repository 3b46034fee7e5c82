"""Regular expressions that are compiled when they are first used.

To compile those for secrets takes longer than most commands run, and few of them are ever tried.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cached_property
from typing import Final


class LazyPattern:
    """A regular expression with the methods of a compiled one.

    Args:
        pattern: Its text.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern: Final = pattern

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The compiled pattern."""
        return re.compile(self.pattern)

    def match(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """As that of `re.Pattern`."""
        return self.compiled.match(text, start, end)

    def fullmatch(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """As that of `re.Pattern`."""
        return self.compiled.fullmatch(text, start, end)

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """As that of `re.Pattern`."""
        return self.compiled.search(text, start, end)

    def finditer(
        self, text: str, start: int = 0, end: int = sys.maxsize
    ) -> Iterator[re.Match[str]]:
        """As that of `re.Pattern`."""
        return self.compiled.finditer(text, start, end)
