"""Diagnostics of the knowledge base: stale evidence at lines, faults in files of `.vouch/`."""

from __future__ import annotations

import re
from typing import Final

from lsprotocol import types

from vibes_lsp.anchors.location import State
from vibes_lsp.lsp.conversion import to_column
from vibes_lsp.lsp.knowledge_bases import DocumentKnowledge, PlacedCitation
from vibes_lsp.lsp.server import Server
from vibes_lsp.model.escaping import single_line

_SOURCE: Final = "vibes"
_MAX_FOUND: Final = 200
_TEXT: Final = 80
_FIRST_WORD: Final = re.compile(r"\s*(\S+)")
_FIRST_LINE: Final = types.Range(types.Position(0, 0), types.Position(0, 0))


async def knowledge_diagnostics(ls: Server, knowledge: DocumentKnowledge) -> list[types.Diagnostic]:
    """Return what is wrong about claims in a document."""
    stale = [each for each in knowledge.placed if each.is_stale and each.citation.claims]
    return [_stale(ls, knowledge, each) for each in stale[:_MAX_FOUND]]


def _stale(ls: Server, knowledge: DocumentKnowledge, placed: PlacedCitation) -> types.Diagnostic:
    """Return that the evidence of claims is not as it was quoted, at its first word."""
    texts = [
        f"“{single_line(claim['text'], _TEXT)}”"
        for identifier in placed.citation.claims[:2]
        if (claim := knowledge.snapshot.claim(identifier)) is not None
    ]
    more = len(placed.citation.claims) - len(texts)
    claims = ", ".join(texts) + (f" and {more} more" if more else "")
    is_lost = placed.located.state == State.LOST
    what = "could not be found" if is_lost else "was edited since it was quoted"
    return types.Diagnostic(
        _first_word(ls, knowledge.uri, placed.located.start),
        f"evidence of {claims} {what}",
        types.DiagnosticSeverity.Information,
        f"evidence-{placed.located.state.value}",
        source=_SOURCE,
    )


def _first_word(ls: Server, uri: str, line: int | None) -> types.Range:
    document = ls.documents.get(uri)
    if line is None or document is None:
        return _FIRST_LINE
    text = "".join(document.lines(line, line))
    found = _FIRST_WORD.match(text)
    start, end = found.span(1) if found is not None else (0, 0)
    columns = [to_column(text, at, ls.documents.encoding) for at in (start, end)]
    return types.Range(*(types.Position(line - 1, column) for column in columns))
