"""Selection ranges: from the line to the lines that one edit owns, then to the whole edit."""

from __future__ import annotations

from itertools import pairwise

from lsprotocol import types

from vibes_lsp.lsp.protocol.conversion import to_column
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.lsp.state.snapshots import DocumentSnapshot, owns_line


def register(server: Server) -> None:
    """Answer `textDocument/selectionRange`."""

    @server.feature(types.TEXT_DOCUMENT_SELECTION_RANGE)
    def selection_ranges(
        ls: Server, params: types.SelectionRangeParams
    ) -> list[types.SelectionRange] | None:
        snapshot = ls.projects.snapshot(params.text_document.uri)
        if snapshot is None:
            return None
        selections = [_nested(ls, snapshot, position) for position in params.positions]
        if not any(selection.parent for selection in selections):
            return None  # other servers know these lines better
        return selections


def _nested(
    ls: Server, snapshot: DocumentSnapshot, position: types.Position
) -> types.SelectionRange:
    """Return the ranges around a position, innermost first; no AI's line has only itself."""
    line, lines = position.line + 1, snapshot.text.lines
    spans: list[tuple[int, int]] = []
    for placement in snapshot.placements_at(line):
        if owns_line(placement, line):
            spans += (span for span in placement.owned_ranges if span[0] <= line <= span[1])
            spans.append((placement.located.start or line, placement.located.end or line))
    if not spans or line > len(lines):
        return types.SelectionRange(types.Range(position, position))
    text, encoding = lines[line - 1], ls.documents.encoding
    indent = to_column(text, len(text) - len(text.lstrip()), encoding)
    end = to_column(text, len(text), encoding)
    here = types.Position(position.line, min(position.character, end))
    code = types.Range(
        types.Position(position.line, min(indent, here.character)),
        types.Position(position.line, end),
    )
    nested: types.SelectionRange | None = None
    for first, last in reversed(_growing(spans)):
        column = to_column(lines[last - 1], len(lines[last - 1]), encoding)
        outer = types.Range(types.Position(first - 1, 0), types.Position(last - 1, column))
        nested = types.SelectionRange(outer, nested)
    return types.SelectionRange(types.Range(here, here), types.SelectionRange(code, nested))


def _growing(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans each of which includes the one before, without repetitions."""
    ordered = sorted(set(spans), key=lambda span: span[1] - span[0])
    nested_spans = ordered[:1]
    for _, span in pairwise(ordered):
        if span[0] <= nested_spans[-1][0] and span[1] >= nested_spans[-1][1]:
            nested_spans.append(span)
    return nested_spans
