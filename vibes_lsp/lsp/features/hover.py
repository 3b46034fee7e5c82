"""Hover: a summary of the owner of a line, then the other annotations there, then claims.

A line that no annotation owns shows what git-ai's notes say, else which agent the trailers of its
commit name, labelled as such.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import partial
from typing import Final, cast

from lsprotocol import types

from vibes_lsp.exchange.note_overlay import NotedLines
from vibes_lsp.history.agent_trailers import AgentTrailer
from vibes_lsp.index.placements import Placement
from vibes_lsp.lsp.audit_files import audit_position
from vibes_lsp.lsp.config_file import hover_in_config
from vibes_lsp.lsp.description import Description
from vibes_lsp.lsp.encoded_answers import EncodedResult, encode_result
from vibes_lsp.lsp.knowledge_navigation import knowledge_hover
from vibes_lsp.lsp.knowledge_texts import hover_text
from vibes_lsp.lsp.placed_evidence import DocumentKnowledge
from vibes_lsp.lsp.projects import StillReading
from vibes_lsp.lsp.record_description import describe_reference
from vibes_lsp.lsp.rendering import READING, Markup
from vibes_lsp.lsp.server import Server
from vibes_lsp.lsp.snapshots import DocumentSnapshot, owns_line
from vibes_lsp.model.escaping import code_block
from vibes_lsp.model.members import Members, integer, mapping, text
from vibes_lsp.verify.tiers import ATTESTATION_NAMES

_MAX_ANNOTATIONS: Final = 5
_MINUTE: Final = 60
"""Seconds for which a text stays as it is: it says how old an annotation is."""


def register(server: Server) -> None:
    """Answer `textDocument/hover`."""
    server.protocol.direct_answers[types.TEXT_DOCUMENT_HOVER] = partial(_direct_hover, server)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
        if not ls.settings.hover:
            return None
        knowledge = await ls.knowledge.about(params.text_document.uri)
        found = await _provenance_hover(ls, params)
        if knowledge is None:
            return found
        markup = Markup(_markup_kind(ls))
        found = _with_claims(ls, markup, found, knowledge, params.position.line + 1)
        return found or await knowledge_hover(ls, knowledge.uri, params.position, markup)


def _direct_hover(ls: Server, params: Members) -> EncodedResult | None:
    """Answer about an open document without knowledge base, from bytes if it was asked before."""
    uri, line = (
        text(mapping(params, "textDocument"), "uri"),
        integer(mapping(params, "position"), "line"),
    )
    if uri is None or line is None or not (ls.settings.hover and ls.can_answer_directly(uri)):
        return None
    snapshot = ls.projects.snapshot(uri)
    if snapshot is None or snapshot.version is None:
        return None
    variant = ls.settings, int(time.time()) // _MINUTE
    known: dict[int, EncodedResult] = ls.encoded.get("hover", snapshot, variant, dict)
    found = known.get(line)
    if found is None:
        hover = _hover(_description(ls, snapshot), line + 1, shows_notes=ls.settings.notes)
        found = encode_result(None if hover is None else _as_json(hover))
        if not any(_has_blob(each, snapshot) for each in snapshot.placements_at(line + 1)):
            known[line] = found
    return found


def _has_blob(placement: Placement, snapshot: DocumentSnapshot) -> bool:
    """Whether a text of an annotation is in a file of its own, which may be written later."""
    key = placement.current.text("reasoning_hash")
    entry = snapshot.trail.trail.manifest.entry(key) if key else None
    return entry is not None and "blob_path" in entry


def _as_json(hover: types.Hover) -> Members:
    """Return a hover of ours as JSON; all of ours have markup."""
    contents = cast("types.MarkupContent", hover.contents)
    result: Members = {"contents": {"kind": contents.kind.value, "value": contents.value}}
    if hover.range is not None:
        result["range"] = {
            name: {"line": place.line, "character": place.character}
            for name, place in (("start", hover.range.start), ("end", hover.range.end))
        }
    return result


def _description(ls: Server, snapshot: DocumentSnapshot) -> Description:
    markup = Markup(_markup_kind(ls))
    return Description(snapshot, markup, datetime.now(UTC), ls.settings.show_prompts)


async def _provenance_hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    line = params.position.line + 1
    try:
        snapshot = ls.projects.snapshot(params.text_document.uri)
        if snapshot is None:
            return _audit_hover(ls, params.text_document.uri, params.position)
    except StillReading:
        excerpt = await ls.excerpts.snapshot(params.text_document.uri)
        found = (
            None if excerpt is None else _hover(_description(ls, excerpt), line, shows_notes=False)
        )
        return _still_reading(found)
    return _hover(_description(ls, snapshot), line, shows_notes=ls.settings.notes)


def _still_reading(found: types.Hover | None) -> types.Hover:
    """Return a hover that says that reviews and other records may be missing from it."""
    if found is None or not isinstance(found.contents, types.MarkupContent):
        return types.Hover(types.MarkupContent(types.MarkupKind.PlainText, READING))
    markup = Markup(found.contents.kind)
    value = f"{found.contents.value}{markup.paragraph_end}{READING}"
    return types.Hover(types.MarkupContent(markup.kind, value), found.range)


def _with_claims(
    ls: Server,
    markup: Markup,
    found: types.Hover | None,
    knowledge: DocumentKnowledge,
    line: int,
) -> types.Hover | None:
    """Return a hover with the claims and proposals whose evidence is on a line below it."""
    placed = knowledge.at(line, line)
    if not placed:
        return found
    contents = None if found is None else found.contents
    before = [contents.value] if isinstance(contents, types.MarkupContent) else []
    count = ls.projects.ai_lines_of(knowledge.uri)
    claims = hover_text(knowledge, placed, markup, datetime.now(UTC), count)
    start, end = placed[0].located.start or line, placed[0].located.end or line
    evidence = types.Range(types.Position(start - 1, 0), types.Position(end, 0))
    value = markup.rule.join([*before, *claims])
    place = evidence if found is None else found.range
    return types.Hover(types.MarkupContent(markup.kind, value), place)


def _audit_hover(ls: Server, uri: str, position: types.Position) -> types.Hover | None:
    """Return what an id or a member of the policy is, else the report on the attestation."""
    kind = _markup_kind(ls)
    member = hover_in_config(ls, uri, position, Markup(kind))
    if member is not None:
        return member
    found = audit_position(ls, uri, position)
    report = _attestation_hover(ls, uri, position.line)
    if found is None or (found.named is None and report is not None):
        return report
    value = describe_reference(ls, found, Markup(kind))
    return report if value is None else types.Hover(types.MarkupContent(kind, value), found.range)


def _attestation_hover(ls: Server, uri: str, line: int) -> types.Hover | None:
    """Return the report on an attestation: anywhere in it, and on line 1 of other audit files."""
    about = ls.attestation_about(uri)
    if about is None or (line > 0 and about[1] not in ATTESTATION_NAMES):
        return None
    report, kind = about[0].report(datetime.now(UTC)), _markup_kind(ls)
    value = code_block(report.splitlines(), "text") if kind is types.MarkupKind.Markdown else report
    return types.Hover(types.MarkupContent(kind, value))


def _markup_kind(ls: Server) -> types.MarkupKind:
    """Return Markdown if the client declares it, else plain text."""
    document = ls.client_capabilities.text_document
    hover = document.hover if document is not None else None
    formats = hover.content_format if hover is not None else None
    is_markdown = formats is not None and types.MarkupKind.Markdown in formats
    return types.MarkupKind.Markdown if is_markdown else types.MarkupKind.PlainText


def _note_hover(description: Description, note: NotedLines) -> types.Hover:
    content = types.MarkupContent(description.markup.kind, description.describe_note(note))
    return types.Hover(
        content, types.Range(types.Position(note.start - 1, 0), types.Position(note.end, 0))
    )


def _trailer_hover(description: Description, trailer: AgentTrailer, line: int) -> types.Hover:
    content = types.MarkupContent(description.markup.kind, description.describe_trailer(trailer))
    return types.Hover(content, types.Range(types.Position(line - 1, 0), types.Position(line, 0)))


def _hover(description: Description, line: int, *, shows_notes: bool) -> types.Hover | None:
    placements = description.snapshot.placements_at(line)
    owners = [each for each in placements if owns_line(each, line)]
    note = None if owners or not shows_notes else description.snapshot.note_at(line)
    if not placements:
        if note is not None:
            return _note_hover(description, note)
        trailer = description.snapshot.trailer_at(line) if shows_notes else None
        return None if trailer is None else _trailer_hover(description, trailer, line)
    others = [each for each in placements if each not in owners]
    ordered = owners + sorted(others, key=lambda each: each.lineage.rank, reverse=True)
    parts = [
        description.summarise(ordered[0], line),
        *(description.mention(each, line) for each in ordered[1:_MAX_ANNOTATIONS]),
    ]
    if len(ordered) > _MAX_ANNOTATIONS:
        parts.append(f"… and {len(ordered) - _MAX_ANNOTATIONS} earlier")
    if note is not None:
        parts.append(description.describe_note(note))
    first = ordered[0].located
    content = types.MarkupContent(description.markup.kind, description.markup.rule.join(parts))
    start, end = types.Position((first.start or line) - 1, 0), types.Position(first.end or line, 0)
    return types.Hover(content, types.Range(start, end))
