"""Folding in audit files: sessions and the edges of an annotation in the log, objects elsewhere.

A client that can limit a provider to some files asks for those only: code is folded by others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from lsprotocol import types

from vibes_lsp.lsp.documents.audit_files import OutlinedRecord, outline_log
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.model.vocabulary import RecordType

METHOD: Final = types.TEXT_DOCUMENT_FOLDING_RANGE
REGISTRATIONS: Final = (
    types.FoldingRangeRegistrationOptions(
        [types.TextDocumentFilterPattern(pattern="**/.ai-audit/*.{json,jsonl}")]
    ),
)
_MAX_RANGES: Final = 5_000
_MAX_TEXT: Final = 2 << 20
"""Characters of the largest text whose brackets are matched: some hundredths of a second."""
_BRACKET: Final = re.compile(r'"(?>(?:[^"\\\n]|\\.)*)"?|[{}\[\]\n]')


def register(server: Server) -> None:
    """Answer `textDocument/foldingRange`."""

    @server.feature(METHOD)
    def fold(ls: Server, params: types.FoldingRangeParams) -> list[types.FoldingRange] | None:
        uri = params.text_document.uri
        audit_file, document = ls.projects.audit_file(uri), ls.documents.get(uri)
        if audit_file is None or document is None:
            return None
        if audit_file[1] == audit_file[0].directory.log.name:
            ranges = _sessions_and_edges(outline_log(document))
        elif len(document.content) <= _MAX_TEXT:
            ranges = _brackets(document.content)
        else:
            return None
        limit: int | None = ls.declared("text_document", "folding_range", "range_limit")
        most = _MAX_RANGES if limit is None else min(limit, _MAX_RANGES)
        return [types.FoldingRange(*lines) for lines in islice(ranges, most)]


def _sessions_and_edges(records: Iterable[OutlinedRecord]) -> Iterator[tuple[int, int]]:
    """Yield runs of records of one session, and annotations with the edges that follow them.

    A record without a session, such as the edge of a backfill, belongs to the one before.
    """
    session: str | None = None
    begun = last = head = 0
    for record in records:
        is_edge = record.type == RecordType.EDGE
        if not is_edge and last > head:
            yield head, last
        if record.session is not None and record.session != session:
            if last > begun:
                yield begun, last
            session, begun = record.session, record.line
        if not is_edge:
            head = record.line
        last = record.line
    if last > head:
        yield head, last
    if last > begun:
        yield begun, last


def _brackets(text: str) -> Iterator[tuple[int, int]]:
    """Yield objects and arrays of several lines; the closing bracket stays visible."""
    line, last = 0, -1  # the line of the last range: brackets of one line fold together
    opened: list[int] = []
    for match in _BRACKET.finditer(text):
        token = match.group()
        if token == "\n":
            line += 1
        elif token in "{[":
            opened.append(line)
        elif token in "}]" and opened:
            start = opened.pop()
            if line - 1 > start and last != start:
                yield start, line - 1
                last = start
