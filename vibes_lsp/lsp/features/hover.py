"""Hover: a summary of the owner of a line, then the other annotations there, then claims.

A line that no annotation owns shows what git-ai's notes say, else which agent the trailers of its
commit name, labelled as such. In audit files, a hover says what the member under it is about.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, TypeAlias

from lsprotocol import types

from vibes_lsp.attestation.tiers import ATTESTATION_NAMES
from vibes_lsp.errors import MalformedJson
from vibes_lsp.lsp.documents.audit_files import audit_position, describe_reference
from vibes_lsp.lsp.documents.config_file import hover_in_config
from vibes_lsp.lsp.documents.description import Description
from vibes_lsp.lsp.documents.knowledge_navigation import knowledge_hover
from vibes_lsp.lsp.documents.knowledge_texts import ClaimTexts
from vibes_lsp.lsp.documents.rendering import INDEXING, Markup
from vibes_lsp.lsp.protocol.conversion import range_of_lines
from vibes_lsp.lsp.state.attestations import AttestationState
from vibes_lsp.lsp.state.knowledge_bases import DocumentKnowledge
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.lsp.state.snapshots import DocumentSnapshot, owns_line
from vibes_lsp.model.canonical_json import canonical_json, parse_object
from vibes_lsp.model.hashing import sha256
from vibes_lsp.model.members import text

_MAX_ANNOTATIONS: Final = 5
_Said: TypeAlias = tuple[str, types.Range | None]
"""A text, and what it is about."""


def register(server: Server) -> None:
    """Answer `textDocument/hover`."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
        if not ls.settings.hover:
            return None
        uri, position = params.text_document.uri, params.position
        formats = ls.declared("text_document", "hover", "content_format") or ()
        is_markdown = types.MarkupKind.Markdown in formats
        markup = Markup(types.MarkupKind.Markdown if is_markdown else types.MarkupKind.PlainText)
        knowledge = await ls.knowledge.about(uri)
        said = await _provenance(ls, uri, position, markup)
        if knowledge is not None:
            said = _with_claims(ls, markup, said, knowledge, position.line + 1)
            said = said or await knowledge_hover(ls, knowledge.uri, position, markup)
        return said and types.Hover(types.MarkupContent(markup.kind, said[0]), said[1])


async def _provenance(
    ls: Server, uri: str, position: types.Position, markup: Markup
) -> _Said | None:
    snapshot = ls.projects.snapshot(uri)
    if snapshot is None:
        return await _in_audit_file(ls, uri, position, markup)
    if snapshot.trail.is_indexing:
        return INDEXING, None
    return _at_line(ls, snapshot, position.line + 1, markup)


def _at_line(ls: Server, snapshot: DocumentSnapshot, line: int, markup: Markup) -> _Said | None:
    """Return what is known of a line, 1-based: its owners, then the other annotations there.

    A line without owners shows what git-ai's notes say; one without annotations and notes shows the
    agent that its commit names.
    """
    description = Description(snapshot, markup, datetime.now(UTC), ls.settings.show_prompts)
    placements = snapshot.placements_at(line)
    owners = [placement for placement in placements if owns_line(placement, line)]
    note = None if owners or not ls.settings.notes else snapshot.note_at(line)
    if not placements:
        trailer = snapshot.trailer_at(line) if ls.settings.notes else None
        if note is not None:
            return description.describe_note(note), range_of_lines(line, line)
        if trailer is not None:
            return description.describe_trailer(trailer), range_of_lines(line, line)
        return None
    others = [placement for placement in placements if placement not in owners]
    others.sort(key=lambda placement: placement.lineage.rank, reverse=True)
    ordered = owners + others
    parts = [
        description.summarise(ordered[0], line),
        *(description.mention(placement, line) for placement in ordered[1:_MAX_ANNOTATIONS]),
    ]
    if len(ordered) > _MAX_ANNOTATIONS:
        parts.append(f"… and {len(ordered) - _MAX_ANNOTATIONS} earlier")
    commit = None if owners else snapshot.commit_at(line)
    if note is not None:
        parts.append(description.describe_note(note))
    elif commit is not None:
        parts.append(description.describe_commit(commit))
    first = ordered[0].located
    return markup.rule.join(parts), range_of_lines(first.start or line, first.end or line)


def _with_claims(
    ls: Server, markup: Markup, said: _Said | None, knowledge: DocumentKnowledge, line: int
) -> _Said | None:
    """Return a hover with the claims and proposals whose evidence is on a line below it."""
    placed = knowledge.at(line, line)
    if not placed:
        return said
    count = ls.projects.ai_lines_of(knowledge.uri)
    claims = ClaimTexts(knowledge, datetime.now(UTC), count).hover(placed, markup)
    if said is not None:
        return markup.rule.join([said[0], *claims]), said[1]
    first = placed[0].located
    return markup.rule.join(claims), range_of_lines(first.start or line, first.end or line)


async def _in_audit_file(
    ls: Server, uri: str, position: types.Position, markup: Markup
) -> _Said | None:
    """Return what an id or a member is, else the report on the attestation."""
    about, document = ls.attestation_about(uri), ls.documents.get(uri)
    if about is not None and about[1] in ATTESTATION_NAMES:
        report = _attestation_report(about[0], markup)
        if document is not None and _is_verified(document.content, about[0]):
            return report, None
        return f"Not verified: the text is not the attestation as saved\n\n{report}", None
    member = hover_in_config(ls, uri, position, markup)
    if member is not None:
        return member
    audit_file = ls.projects.audit_file(uri)
    if audit_file is not None and audit_file[0].is_indexing:
        return INDEXING, None
    place = audit_position(ls, uri, position)
    reference = None if place is None else await describe_reference(ls, place, markup)
    if place is not None and reference is not None:
        return reference, place.range
    return None if about is None or position.line else (_attestation_report(about[0], markup), None)


def _attestation_report(state: AttestationState, markup: Markup) -> str:
    return markup.block(state.report(datetime.now(UTC)).splitlines())


def _is_verified(content: str, state: AttestationState) -> bool:
    """Whether a text is the envelope that was verified; white space does not count."""
    try:
        envelope = parse_object(content)
    except MalformedJson:
        return False
    return sha256(canonical_json(envelope)) == text(state.members, "attestationId")
