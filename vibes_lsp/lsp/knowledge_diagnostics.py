"""Diagnostics of the knowledge base: stale evidence at lines, faults in files of `.vouch/`."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Final

from lsprotocol import types

from vibes_lsp.anchors.location import State
from vibes_lsp.lsp.conversion import range_in_line
from vibes_lsp.lsp.knowledge_texts import state_words
from vibes_lsp.lsp.placed_evidence import KNOWLEDGE_DIR, DocumentKnowledge, PlacedCitation
from vibes_lsp.lsp.server import Server
from vibes_lsp.model.escaping import single_line

if TYPE_CHECKING:
    from vibes_lsp.knowledge.file_checks import FileFault
    from vibes_lsp.knowledge.object_format import Span

_SOURCE: Final = "vibes"
_SEVERITIES: Final = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}
_MAX_FOUND: Final = 200
_MAX_FILES: Final = 20
_TEXT: Final = 80
_MESSAGE: Final = 300
_FIRST_WORD: Final = re.compile(r"\s*(\S+)")
_FIRST_LINE: Final = types.Range(types.Position(0, 0), types.Position(0, 0))


async def knowledge_diagnostics(ls: Server, knowledge: DocumentKnowledge) -> list[types.Diagnostic]:
    """Return what is wrong about claims in a document, or in a file of the knowledge base."""
    if knowledge.is_of_knowledge_base:
        return await _of_file(ls, knowledge)
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
    span = found.span(1) if found is not None else (0, 0)
    return range_in_line(text, line - 1, span, ls.documents.encoding)


async def _of_file(ls: Server, knowledge: DocumentKnowledge) -> list[types.Diagnostic]:
    """Return the faults of an open file of the knowledge base, and what its evidence has become."""
    # Imported late: a server without a knowledge base does not load pydantic's models.
    from vibes_lsp.knowledge.file_checks import check_file  # noqa: PLC0415
    from vibes_lsp.knowledge.object_format import MemberSpans  # noqa: PLC0415
    from vibes_lsp.knowledge.objects import Kind, kind_and_id  # noqa: PLC0415

    document = ls.documents.get(knowledge.uri)
    if document is None:
        return []
    text, path = document.content, knowledge.path.removeprefix(f"{KNOWLEDGE_DIR}/")
    work = partial(check_file, knowledge.snapshot, path, text, datetime.now(UTC))
    lines = text.split("\n")
    found = [_fault(ls, lines, each) for each in await ls.run_in_thread(work)]
    kind, identifier = kind_and_id(path) or (None, "")
    claim = knowledge.snapshot.claim(identifier) if kind is Kind.CLAIM else None
    if claim is None:
        return found
    spans = MemberSpans(text)
    await ls.run_in_thread(partial(spans.of, ("evidence",)))  # parses the text
    places = await _evidence_of(ls, knowledge, claim["id"])
    for number, evidence in enumerate(claim["evidence"]):
        placed = places.get(evidence)
        if placed is not None and not placed[1].is_as_quoted:
            severity = types.DiagnosticSeverity.Information
            state = placed[1].located.state.value
            message = single_line(f"{placed[0]}: {state_words(placed[1])}", _MESSAGE)
            place = _span_range(ls, lines, spans.of(("evidence", number)))
            found.append(
                types.Diagnostic(place, message, severity, f"evidence-{state}", source=_SOURCE)
            )
    return found


async def _evidence_of(
    ls: Server, knowledge: DocumentKnowledge, claim: str
) -> dict[str, tuple[str, PlacedCitation]]:
    """Return the evidence of a claim that is placed in files, with the file of each."""
    files = ls.knowledge.citing(knowledge, lambda each: claim in each.claims, _MAX_FILES)
    return {
        str(placed.citation.evidence["id"]): (file.path, placed)
        async for file in files
        for placed in file.placed
        if claim in placed.citation.claims
    }


def _fault(ls: Server, lines: list[str], fault: FileFault) -> types.Diagnostic:
    return types.Diagnostic(
        _span_range(ls, lines, fault.span),
        single_line(fault.message, _MESSAGE),
        _SEVERITIES[fault.severity],
        fault.code.replace("_", "-"),
        source=_SOURCE,
    )


def _span_range(ls: Server, lines: list[str], span: Span) -> types.Range:
    line = lines[span.line] if span.line < len(lines) else ""
    end = len(line) if span.end is None else span.end
    return range_in_line(line, span.line, (span.start, end), ls.documents.encoding)
