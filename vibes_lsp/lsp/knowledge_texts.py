"""Claims and proposals at lines, as JSON and as texts for people.

All their text is untrusted and escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from vibes_lsp.anchors.location import State
from vibes_lsp.lsp.knowledge_bases import DocumentKnowledge, PlacedCitation
from vibes_lsp.lsp.rendering import SEPARATOR, Markup
from vibes_lsp.model.ages import describe_age
from vibes_lsp.model.escaping import single_line

_TEXT: Final = 400
_NAME: Final = 60
_STATES: Final = {
    State.EXACT: "lines as quoted",
    State.MOVED: "lines as quoted, moved",
    State.EDITED: "lines edited since",
    State.LOST: "lines could not be found",
    State.UNVERIFIED: "lines not verified",
}


def claim_members(knowledge: DocumentKnowledge, placed: PlacedCitation) -> list[dict[str, Any]]:
    """Return the claims that cite one piece of evidence, as `vibes.kbAt` has them."""
    found = []
    for identifier in placed.citation.claims:
        claim = knowledge.snapshot.claim(identifier)
        if claim is not None:
            found.append(
                {
                    "claimId": identifier,
                    "text": claim["text"],
                    "type": claim["type"],
                    "status": claim["status"],
                    "confidence": claim["confidence"],
                    "approvedBy": claim.get("approved_by"),
                    "updatedAt": claim["updated_at"],
                    "lastConfirmedAt": claim.get("last_confirmed_at"),
                    **_place_members(placed),
                }
            )
    return found


def proposal_members(knowledge: DocumentKnowledge, placed: PlacedCitation) -> list[dict[str, Any]]:
    """Return the proposals that cite one piece of evidence, as `vibes.kbAt` has them."""
    found = []
    for identifier in placed.citation.proposals:
        proposal = knowledge.snapshot.proposal(identifier)
        if proposal is not None:
            found.append({**describe_proposal(proposal), **_place_members(placed)})
    return found


def describe_proposal(proposal: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a proposal that do not depend on a place."""
    payload = proposal["payload"]
    return {
        "proposalId": proposal["id"],
        "kind": proposal["kind"],
        "text": proposal_text(proposal),
        "type": payload.get("type"),
        "confidence": payload.get("confidence"),
        "proposedBy": proposal["proposed_by"],
        "proposedAt": proposal["proposed_at"],
        "rationale": proposal.get("rationale"),
    }


def proposal_text(proposal: Mapping[str, Any]) -> str:
    """Return what a proposal says: the text, title or name of its object."""
    payload = proposal["payload"]
    for name in ("text", "title", "name"):
        if isinstance(payload.get(name), str):
            return str(payload[name])
    return str(payload.get("id", ""))


def state_words(placed: PlacedCitation) -> str:
    """Return what happened to the lines of evidence, for people."""
    words = _STATES[State(placed.located.state)]
    return f"{words}, may be elsewhere" if placed.located.ambiguous else words


def _place_members(placed: PlacedCitation) -> dict[str, Any]:
    evidence, located = placed.citation.evidence, placed.located
    start, end = located.start, located.end
    lines = (
        None
        if start is None or end is None
        else {"start": {"line": start - 1, "character": 0}, "end": {"line": end, "character": 0}}
    )
    return {
        "evidenceId": evidence["id"],
        "sourceId": evidence["source_id"],
        "locator": evidence["locator"],
        "quote": evidence["quote"],
        "range": lines,
        "lineStart": start,
        "lineEnd": end,
        "recordedLineStart": placed.lines.recorded.start,
        "recordedLineEnd": placed.lines.recorded.end,
        "state": located.state.value,
        "ambiguous": located.ambiguous,
        "stateText": state_words(placed),
    }


def hover_text(
    knowledge: DocumentKnowledge, placed: Sequence[PlacedCitation], markup: Markup, now: datetime
) -> list[str]:
    """Return one text for each claim and each proposal on a line."""
    return [
        text
        for each in placed
        for text in (*_claims(knowledge, each, markup, now), *_proposals(knowledge, each, markup))
    ]


def _claims(
    knowledge: DocumentKnowledge, placed: PlacedCitation, markup: Markup, now: datetime
) -> Iterator[str]:
    for claim in claim_members(knowledge, placed):
        head = [f"{markup.strong('Claim')} {_word(claim['type'])}", _word(claim["status"])]
        head.append(f"confidence {float(claim['confidence']):.0%}")
        by = claim["approvedBy"]
        head.append(f"approved by {markup.name(by, _NAME)}" if by else "approver unknown")
        confirmed = claim["lastConfirmedAt"]
        if confirmed is not None:
            head.append(f"confirmed {describe_age(datetime.fromisoformat(confirmed), now)}")
        lines = [
            markup.sentence(claim["text"], _TEXT),
            SEPARATOR.join(head),
            f"Evidence: {claim['stateText']}",
        ]
        yield markup.line_end.join(lines)


def _proposals(
    knowledge: DocumentKnowledge, placed: PlacedCitation, markup: Markup
) -> Iterator[str]:
    for proposal in proposal_members(knowledge, placed):
        by = markup.name(proposal["proposedBy"], _NAME)
        lines = [
            markup.sentence(proposal["text"], _TEXT),
            f"{markup.strong('Proposed')} by {by}{SEPARATOR}waits for a decision",
            f"Evidence: {proposal['stateText']}",
        ]
        yield markup.line_end.join(lines)


def _word(value: object) -> str:
    """Return a word of one of our vocabularies."""
    return single_line(value, _NAME)


def lens_title(claims: int, pending: int) -> str:
    """Return the text of a lens: how many claims rest on the lines, how many wait."""
    noun = "claim" if claims == 1 else "claims"
    parts = [f"{claims} {noun}"] if claims else []
    return ", ".join([*parts, f"{pending} pending"] if pending else parts)
