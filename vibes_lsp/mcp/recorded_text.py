"""Recorded texts in answers: data that cannot pose as a part of an answer, and bounded in sum."""

from __future__ import annotations

from typing import Final

from vibes_lsp.mcp.answers import RecordedText
from vibes_lsp.model.escaping import marked_lines, single_line, without_invisible

MAX_NAME: Final = 100
"""Characters of a name or an id in an answer."""
_MAX_PATH: Final = 1_000
_MAX_SUM: Final = 30_000
"""Characters of all texts of an answer: agents cut or refuse answers of more than about 40,000."""


def name(value: object) -> str | None:
    """Return a recorded name or id on one line; None for what is not text."""
    return single_line(value, MAX_NAME) if isinstance(value, str) else None


def path_text(value: object) -> str | None:
    """Return a recorded path as it is, but visible and bounded; None for what is not text."""
    return without_invisible(value[:_MAX_PATH]) if isinstance(value, str) else None


class Quotations:
    """Quotes the texts of one answer; the later ones get what the earlier ones have left."""

    def __init__(self) -> None:
        self._left = _MAX_SUM

    def quote(self, text: str | None, limit: int) -> RecordedText | None:
        """Return a text as data.

        Args:
            text: The text.
            limit: How many of its characters are kept.

        Returns:
            None for a text that is missing or empty.
        """
        if not text:
            return None
        kept = min(len(text), limit, self._left)
        quoted = marked_lines(text, kept)
        self._left = max(0, self._left - len(quoted))
        return RecordedText(quoted=quoted, cut=len(text) - kept or None)
