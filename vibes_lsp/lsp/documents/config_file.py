"""`config.json` while it is edited: completion and hover from its schema, findings in its text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from lsprotocol import types

from vibes_lsp.checks.finding import Finding
from vibes_lsp.lsp.documents.rendering import SEPARATOR, Markup
from vibes_lsp.lsp.protocol.conversion import range_in_line, to_characters
from vibes_lsp.lsp.protocol.open_documents import Document
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.store.config import parse_config

if TYPE_CHECKING:
    from vibes_lsp.model.config_schema import ConfigSuggestion, SchemaNode
    from vibes_lsp.model.json_positions import JsonCursor

_MAX_TEXT: Final = 1 << 17
"""Characters of the largest text in which a place is looked for: read from its start, in 0.15 s."""
_MAX_VALUE: Final = 300


def config_document(ls: Server, uri: str) -> Document | None:
    """Return the policy of a trail, if that is an open document; None for other documents."""
    if not uri.endswith("/config.json"):
        return None
    audit_file, document = ls.projects.audit_file(uri), ls.documents.get(uri)
    is_config = audit_file is not None and audit_file[1] == audit_file[0].directory.config.name
    return document if is_config else None


def findings_in_config(document: Document, name: str) -> list[Finding]:
    """Return what is wrong with the text of an open policy.

    Args:
        document: The document.
        name: Its path, relative to the project.
    """
    from vibes_lsp.checks.files import config_findings  # noqa: PLC0415  # loads pydantic

    parsed = parse_config(document.content.encode("utf-8", "surrogatepass"))
    return list(config_findings(parsed, name))


def complete_config(ls: Server, uri: str, position: types.Position) -> types.CompletionList | None:
    """Return the members and values that can be written at a place; None for other documents."""
    document = config_document(ls, uri)
    if document is None:
        return None
    from vibes_lsp.model.config_schema import suggestions_at  # noqa: PLC0415  # loads pydantic

    source, line, before, offset = _source(ls, document, position)
    if len(source) > _MAX_TEXT:
        return types.CompletionList(is_incomplete=False, items=[])
    cursor, suggestions = suggestions_at(source, offset)
    span = cursor.start - before, cursor.end - before
    replaced = range_in_line(line, position.line, span, ls.documents.encoding)
    is_quoted = source.startswith('"', cursor.start) and cursor.end > cursor.start
    items = [
        _item(suggestion, replaced, number, is_quoted=is_quoted)
        for number, suggestion in enumerate(suggestions)
    ]
    return types.CompletionList(is_incomplete=False, items=items)


def _item(
    suggestion: ConfigSuggestion, replaced: types.Range, number: int, *, is_quoted: bool
) -> types.CompletionItem:
    bare = suggestion.label.strip('"')
    return types.CompletionItem(
        suggestion.label,
        kind=types.CompletionItemKind.Property
        if suggestion.is_member
        else types.CompletionItemKind.EnumMember,
        detail=_facts(suggestion.node) if suggestion.is_member else None,
        documentation=suggestion.node.description or None,
        sort_text=f"{number:04}",
        filter_text=f'"{bare}"' if is_quoted else bare,
        text_edit=types.TextEdit(
            replaced, f"{suggestion.before}{suggestion.value}{suggestion.after}"
        ),
    )


def hover_in_config(
    ls: Server, uri: str, position: types.Position, markup: Markup
) -> tuple[str, types.Range] | None:
    """Return what a member of a policy is for, and where it is; None elsewhere."""
    document = config_document(ls, uri)
    if document is None:
        return None
    from vibes_lsp.model.config_schema import node_at  # noqa: PLC0415  # loads pydantic

    member = _member_at(ls, document, position)
    node = None if member is None else node_at(member[0].path)
    if member is None or node is None or not member[0].path:
        return None
    cursor, span = member
    path = markup.quote(".".join(cursor.path), _MAX_VALUE)
    values = ", ".join(markup.quote(value, _MAX_VALUE) for value in node.values)
    parts = [
        SEPARATOR.join(filter(None, (path, _facts(node)))),
        node.description,
        f"One of {values}" if len(node.values) > 1 else "",
    ]
    return markup.paragraph_end.join(part for part in parts if part), span


def _member_at(
    ls: Server, document: Document, position: types.Position
) -> tuple[JsonCursor, types.Range] | None:
    """Return the name or value at a position of a JSON text, and where it is; None elsewhere."""
    from vibes_lsp.model.json_positions import cursor_at  # noqa: PLC0415

    source, line, before, offset = _source(ls, document, position)
    if len(source) > _MAX_TEXT:
        return None
    # a closing quote is a part, too
    cursors = (cursor_at(source, at) for at in (offset + 1, offset))
    cursor = next(
        (candidate for candidate in cursors if candidate.start <= offset < candidate.end), None
    )
    if cursor is None:
        return None
    span = cursor.start - before, cursor.end - before
    return cursor, range_in_line(line, position.line, span, ls.documents.encoding)


def _facts(node: SchemaNode) -> str:
    default = "" if node.default is None else f"default {node.default}"[:_MAX_VALUE]
    required = "required" if node.is_required else ""
    return SEPARATOR.join(filter(None, (node.type, default, required)))


def _source(ls: Server, document: Document, position: types.Position) -> tuple[str, str, int, int]:
    """Return a text with line feeds only, the line of a position, and the offsets of both."""
    lines: Sequence[str] = [*document.lines(1, document.length), ""]
    number = min(position.line, len(lines) - 1)
    before = sum(len(line) + 1 for line in lines[:number])
    column = to_characters(lines[number], position.character, ls.documents.encoding)
    return "\n".join(lines), lines[number], before, before + column
