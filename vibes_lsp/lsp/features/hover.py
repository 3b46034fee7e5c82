"""Hover: a summary of the owner of a line, then the other annotations there, then claims.

A line that no annotation owns shows what git-ai's notes say, else which agent the trailers of its
commit name, labelled as such. In audit files, a hover says what the member under it is about.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, TypeAlias

from lsprotocol import types

from vibes_lsp.attestation.tiers import ATTESTATION_NAMES
from vibes_lsp.errors import MalformedJson
from vibes_lsp.lsp.documents.audit_files import audit_position, describe_reference
from vibes_lsp.lsp.documents.config_file import hover_in_config, member_at
from vibes_lsp.lsp.documents.description import Description
from vibes_lsp.lsp.documents.knowledge_navigation import knowledge_hover
from vibes_lsp.lsp.documents.knowledge_texts import ClaimTexts
from vibes_lsp.lsp.documents.rendering import INDEXING, SEPARATOR, Markup
from vibes_lsp.lsp.protocol.conversion import range_of_lines
from vibes_lsp.lsp.state.attestations import AttestationState
from vibes_lsp.lsp.state.knowledge_bases import DocumentKnowledge
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.lsp.state.snapshots import DocumentSnapshot, owns_line
from vibes_lsp.model.ages import describe_age, describe_span
from vibes_lsp.model.canonical_json import canonical_json, parse_object
from vibes_lsp.model.hashing import sha256
from vibes_lsp.model.members import Members, mapping, text
from vibes_lsp.model.timestamps import parse_timestamp

_MAX_ANNOTATIONS: Final = 5
_MAX_TEXT: Final = 300
_SHORT: Final = 8
_MESSAGES: Final = {
    "payload": "made over the payload, as DSSE says",
    "payload-text": "made over the base64url text of the payload",
    "digest": "made over the digest of the payload: its signer never saw the payload",
}
_ROLES: Final = {"user": "a user's key", "tool-provider": "a tool provider's key"}
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
    about = ls.attestation_about(uri)
    if about is not None and about[1] in ATTESTATION_NAMES:
        member = _in_attestation(ls, uri, position, markup, about[0])
        return member or _attestation_report(about[0], markup)
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
    return None if about is None or position.line else _attestation_report(about[0], markup)


def _attestation_report(state: AttestationState, markup: Markup) -> _Said:
    return markup.block(state.report(datetime.now(UTC)).splitlines()), None


def _in_attestation(
    ls: Server, uri: str, position: types.Position, markup: Markup, state: AttestationState
) -> _Said | None:
    """Return what the member of an attestation at a position is; None between members.

    Args:
        ls: The server.
        uri: The attestation, which is open.
        position: The position.
        markup: How to write.
        state: The attestation as it was last verified.
    """
    document = ls.documents.get(uri)
    member = None if document is None else member_at(ls, document, position)
    if document is None or member is None or not state.members:
        return None
    cursor, place = member
    described = list(_described(cursor.path, state, markup))
    if described and not _is_verified(document.content, state):
        described[1:] = ["Not verified: the text is not the attestation as saved"]
    return (markup.paragraph_end.join(described), place) if described else None


def _is_verified(content: str, state: AttestationState) -> bool:
    """Whether a text is the envelope that was verified; white space does not count."""
    try:
        envelope = parse_object(content)
    except MalformedJson:
        return False
    return sha256(canonical_json(envelope)) == text(state.members, "attestationId")


def _described(path: tuple[str, ...], state: AttestationState, markup: Markup) -> Iterator[str]:
    """Yield paragraphs, the first of which says what the member is."""
    results = {str(number): result for number, result in enumerate(state.signature_results())}
    match path:
        case ("payloadType", *_):
            yield _title(markup, "Type of the payload", "an in-toto statement about audit files")
        case ("payload", *_):
            yield from _statement(state, markup)
        case ("signatures",):
            yield _title(markup, "Signatures", str(len(results)))
            for signature in results.values():
                yield _verdict(signature, markup)
        case ("signatures", index, *names) if index in results:
            yield from _signature(results[index], names[:1], markup)
        case _:
            return


def _statement(state: AttestationState, markup: Markup) -> Iterator[str]:
    members = state.members
    at = parse_timestamp(text(members, "attestedAt") or "")
    age = describe_age(at, datetime.now(UTC)) if at is not None else "no time stated"
    yield _title(markup, "Signed statement", f"attested {age}")
    for name, label in (
        ("project", "Project"),
        ("assuranceLevel", "Assurance level"),
        ("validation", "Result of the check"),
        ("commit", "Commit"),
    ):
        value = text(members, name)
        if value is not None:
            short = value[:_SHORT] if name == "commit" else value
            yield f"{label}: {markup.name(short, _MAX_TEXT)}"
    for file in state.files():
        name, digest = text(file, "name") or "", text(file, "attestedSha256") or ""
        said = markup.words(text(file, "reason") or "", _MAX_TEXT)
        yield f"{markup.quote(name, _MAX_TEXT)} {digest[:_SHORT]}: {said}"


def _signature(signature: Members, names: list[str], markup: Markup) -> Iterator[str]:
    match names:
        case ["keyid"]:
            role = _ROLES.get(text(signature, "role") or "", "whose is not known")
            yield _title(markup, "Key", role)
        case ["sig"]:
            message = _MESSAGES.get(text(signature, "signedMessage") or "", "")
            yield _title(markup, "Signature", message)
        case ["signed_at"] | ["time_sig"]:
            is_time = names == ["signed_at"]
            name = "Time of the signature" if is_time else "Signature over digest and time"
            yield _title(markup, name, "by its signer's own word")
            yield _delay(signature)
            return
        case _:
            yield _title(markup, "Signature", "")
    yield _verdict(signature, markup)


def _delay(signature: Members) -> str:
    at = parse_timestamp(text(signature, "signedAt") or "")
    if at is None:
        return "Not proven: no good signature covers the time"
    seconds = mapping(signature, "signingDelay").get("secondsAfterNewestRecord")
    if not isinstance(seconds, int | float):
        return f"Signed {describe_age(at, datetime.now(UTC))}"
    side = "after" if seconds >= 0 else "before"
    span = describe_span(abs(seconds))
    return f"Signed {describe_age(at, datetime.now(UTC))}, {span} {side} the newest record"


def _verdict(signature: Members, markup: Markup) -> str:
    key = markup.quote(text(signature, "keyId") or "no key id", _MAX_TEXT)
    reason = markup.words(text(signature, "reason") or "", _MAX_TEXT)
    return f"{key} {text(signature, 'verdict') or ''}: {reason}"


def _title(markup: Markup, name: str, more: str) -> str:
    return SEPARATOR.join(filter(None, (markup.strong(name), more)))
