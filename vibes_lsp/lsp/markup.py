"""How hovers are written: Markdown, or plain text for clients that know no other. Text from a trail stays text in both."""

from __future__ import annotations

from dataclasses import dataclass

from lsprotocol.types import MarkupKind

from vibes_lsp.model.inert import fenced, flat, span

__all__ = ["Markup", "fenced", "flat"]


@dataclass(frozen=True, slots=True)
class Markup:
    """One of the two ways to write a hover."""

    kind: MarkupKind

    @property
    def _marks(self) -> bool:
        return self.kind == MarkupKind.Markdown

    @property
    def line_end(self) -> str:
        """What separates two lines of a paragraph."""
        return "  \n" if self._marks else "\n"

    @property
    def rule(self) -> str:
        """What separates two annotations."""
        return "\n\n---\n\n" if self._marks else "\n\n"

    def strong(self, text: str) -> str:
        """Emphasise words of our own."""
        return f"**{text}**" if self._marks else text

    def quote(self, value: object, limit: int) -> str:
        """Write untrusted text, on one line, cut to `limit` characters."""
        return span(value, limit) if self._marks else flat(value, limit)
