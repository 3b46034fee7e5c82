"""What a member of an attestation is, for a hover: whose key, which files, whether it is good."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from lsprotocol import types

from vibes_lsp.errors import MalformedJson
from vibes_lsp.lsp.attestations import AttestationState
from vibes_lsp.lsp.config_file import member_at
from vibes_lsp.lsp.rendering import SEPARATOR, Markup
from vibes_lsp.lsp.server import Server
from vibes_lsp.model.ages import describe_age, describe_span
from vibes_lsp.model.canonical_json import canonical_json, parse_object
from vibes_lsp.model.hashing import sha256
from vibes_lsp.model.members import Members, mapping, text
from vibes_lsp.model.timestamps import parse_timestamp

_MAX_TEXT: Final = 300
_SHORT: Final = 8
_MESSAGES: Final = {
    "payload": "made over the payload, as DSSE says",
    "payload-text": "made over the base64url text of the payload",
    "digest": "made over the digest of the payload: its signer never saw the payload",
}
_ROLES: Final = {"user": "a user's key", "tool-provider": "a tool provider's key"}


def hover_in_attestation(
    ls: Server, uri: str, position: types.Position, markup: Markup, state: AttestationState
) -> types.Hover | None:
    """Return what the member of an attestation at a position is; None between members.

    Args:
        ls: The server.
        uri: The attestation, which is open.
        position: The position.
        markup: How to write.
        state: The attestation as it was last verified.
    """
    document = ls.documents.get(uri)
    found = None if document is None else member_at(ls, document, position)
    if document is None or found is None or not state.members:
        return None
    cursor, place = found
    described = list(_described(cursor.path, state, markup))
    if not described:
        return None
    if not _is_verified(document.content, state):
        described[1:] = ["Not verified: the text is not the attestation as saved"]
    return types.Hover(
        types.MarkupContent(markup.kind, markup.paragraph_end.join(described)), place
    )


def _is_verified(content: str, state: AttestationState) -> bool:
    """Whether a text is the envelope that was verified; white space does not count."""
    try:
        envelope = parse_object(content)
    except MalformedJson:
        return False
    return sha256(canonical_json(envelope)) == text(state.members, "attestationId")


def _described(path: tuple[str, ...], state: AttestationState, markup: Markup) -> Iterator[str]:
    """Yield paragraphs, the first of which says what the member is."""
    match path:
        case ("payloadType", *_):
            yield _title(markup, "Type of the payload", "an in-toto statement about audit files")
        case ("payload", *_):
            yield from _statement(state, markup)
        case ("signatures",):
            yield _title(markup, "Signatures", str(len(state.signature_results())))
            for each in state.signature_results():
                yield _verdict(each, markup)
        case ("signatures", index, *names) if int(index) < len(state.signature_results()):
            yield from _signature(state.signature_results()[int(index)], names[:1], markup)
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


def _signature(each: Members, names: list[str], markup: Markup) -> Iterator[str]:
    match names:
        case ["keyid"]:
            role = _ROLES.get(text(each, "role") or "", "whose is not known")
            yield _title(markup, "Key", role)
        case ["sig"]:
            message = _MESSAGES.get(text(each, "signedMessage") or "", "")
            yield _title(markup, "Signature", message)
        case ["signed_at"] | ["time_sig"]:
            is_time = names == ["signed_at"]
            name = "Time of the signature" if is_time else "Signature over digest and time"
            yield _title(markup, name, "by its signer's own word")
            yield _delay(each)
            return
        case _:
            yield _title(markup, "Signature", "")
    yield _verdict(each, markup)


def _delay(each: Members) -> str:
    at = parse_timestamp(text(each, "signedAt") or "")
    if at is None:
        return "Not proven: no good signature covers the time"
    seconds = mapping(each, "signingDelay").get("secondsAfterNewestRecord")
    if not isinstance(seconds, int | float):
        return f"Signed {describe_age(at, datetime.now(UTC))}"
    side = "after" if seconds >= 0 else "before"
    span = describe_span(abs(seconds))
    return f"Signed {describe_age(at, datetime.now(UTC))}, {span} {side} the newest record"


def _verdict(each: Members, markup: Markup) -> str:
    key = markup.quote(text(each, "keyId") or "no key id", _MAX_TEXT)
    reason = markup.words(text(each, "reason") or "", _MAX_TEXT)
    return f"{key} {text(each, 'verdict') or ''}: {reason}"


def _title(markup: Markup, name: str, more: str) -> str:
    return SEPARATOR.join(filter(None, (markup.strong(name), more)))
