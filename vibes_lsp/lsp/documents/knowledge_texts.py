"""Claims and proposals at lines, as JSON and as texts for people.

All their text is untrusted and escaped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from vibes_lsp.anchors.location import State
from vibes_lsp.knowledge.ai_lines import AiLines, CountAiLines, no_ai_lines
from vibes_lsp.lsp.documents.rendering import SEPARATOR, Markup
from vibes_lsp.lsp.state.knowledge_bases import DocumentKnowledge, PlacedCitation
from vibes_lsp.model.ages import describe_age
from vibes_lsp.model.escaping import single_line
from vibes_lsp.reports.placements import describe_lines, lsp_range

_TEXT: Final = 400
_NAME: Final = 60
_MAX_SHOWN: Final = 5
_MAX_QUOTE: Final = 10_000
_STATES: Final = {
    State.EXACT: "lines as quoted",
    State.MOVED: "lines as quoted, moved",
    State.EDITED: "lines edited since",
    State.LOST: "lines could not be found",
    State.UNVERIFIED: "lines not verified",
}


@dataclass(frozen=True, slots=True)
class ClaimTexts:
    """The claims and proposals about one version of a file.

    Attributes:
        knowledge: What the knowledge base says about it.
        now: The time.
        count: Counts the lines of it that an AI wrote.
    """

    knowledge: DocumentKnowledge
    now: datetime
    count: CountAiLines = no_ai_lines

    def claims(self, placed: Iterable[PlacedCitation]) -> list[dict[str, Any]]:
        """Return the claims that cite pieces of evidence, as `vibes.kbAt` has them."""
        return [
            {**self._claim(claim), **self._place(placed_citation)}
            for placed_citation in placed
            for identifier in placed_citation.citation.claims
            if (claim := self.knowledge.snapshot.claim(identifier)) is not None
        ]

    def proposals(self, placed: Iterable[PlacedCitation]) -> list[dict[str, Any]]:
        """Return the proposals that cite pieces of evidence, as `vibes.kbAt` has them."""
        return [
            {**describe_proposal(proposal, self.now), **self._place(placed_citation)}
            for placed_citation in placed
            for identifier in placed_citation.citation.proposals
            if (proposal := self.knowledge.snapshot.proposal(identifier)) is not None
        ]

    def hover(self, placed: Sequence[PlacedCitation], markup: Markup) -> list[str]:
        """Return a text for each claim and each proposal on a line, as far as there is room."""
        texts = [
            text for placed_citation in placed for _, text in self._texts(placed_citation, markup)
        ]
        left = len(texts) - _MAX_SHOWN
        return [*texts[:_MAX_SHOWN], f"… and {left} more"] if left > 0 else texts

    def document(self, wanted: Collection[str], markup: Markup) -> str:
        """Return claims and proposals with their quotes, as one text."""
        parts: list[str] = []
        for placed in self.knowledge.placed:
            texts = [text for name, text in self._texts(placed, markup) if name in wanted]
            if texts:
                parts += [*texts, _quote(placed, markup)]
        return markup.paragraph_end.join(parts)

    def _texts(self, placed: PlacedCitation, markup: Markup) -> Iterator[tuple[str, str]]:
        for claim in self.claims([placed]):
            yield claim["claimId"], _claim_text(claim, markup)
        for proposal in self.proposals([placed]):
            yield proposal["proposalId"], _proposal_text(proposal, markup)

    def _claim(self, claim: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "claimId": claim["id"],
            "text": claim["text"],
            "type": claim["type"],
            "status": claim["status"],
            "confidence": claim["confidence"],
            "approvedBy": claim.get("approved_by"),
            "isApproverProven": self.knowledge.snapshot.proves_approver(claim),
            "updatedAt": claim["updated_at"],
            "lastConfirmedAt": claim.get("last_confirmed_at"),
            "ageText": _claim_age(claim, self.now),
        }

    def _place(self, placed: PlacedCitation) -> dict[str, Any]:
        evidence, located = placed.citation.evidence, placed.located
        start, end = located.start, located.end
        ai = AiLines() if start is None or end is None else self.count(start, end)
        return {
            "evidenceId": evidence["id"],
            "sourceId": evidence["source_id"],
            "locator": evidence["locator"],
            "quote": evidence["quote"],
            "range": lsp_range(start, end),
            "lineStart": start,
            "lineEnd": end,
            "recordedLineStart": placed.lines.recorded.start,
            "recordedLineEnd": placed.lines.recorded.end,
            "state": located.state.value,
            "ambiguous": located.ambiguous,
            "stateText": ", ".join(words for words in (state_words(placed), ai.words()) if words),
            "aiLines": ai.as_json() if ai else None,
        }


def describe_proposal(proposal: Mapping[str, Any], now: datetime) -> dict[str, Any]:
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
        "ageText": describe_age(datetime.fromisoformat(proposal["proposed_at"]), now),
        "rationale": proposal.get("rationale"),
    }


def _claim_age(claim: Mapping[str, Any], now: datetime) -> str:
    """Return when a claim was last confirmed, else changed, for people."""
    confirmed = claim.get("last_confirmed_at")
    age = describe_age(datetime.fromisoformat(confirmed or claim["updated_at"]), now)
    return f"{'confirmed' if confirmed else 'changed'} {age}"


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


def _claim_text(claim: Mapping[str, Any], markup: Markup) -> str:
    approver = "approver unknown"
    if claim["approvedBy"]:
        proof = "" if claim["isApproverProven"] else " (not proven)"
        approver = f"approved by {markup.name(claim['approvedBy'], _NAME)}{proof}"
    head = [
        f"{markup.strong('Claim')} {_word(claim['type'])}",
        _word(claim["status"]),
        f"confidence {float(claim['confidence']):.0%}",
        approver,
        claim["ageText"],
    ]
    lines = [
        markup.sentence(claim["text"], _TEXT),
        SEPARATOR.join(head),
        f"Evidence: {claim['stateText']}",
    ]
    return markup.line_end.join(lines)


def _proposal_text(proposal: Mapping[str, Any], markup: Markup) -> str:
    by = markup.name(proposal["proposedBy"], _NAME)
    lines = [
        markup.sentence(proposal["text"], _TEXT),
        f"{markup.strong('Proposed')} by {by}{SEPARATOR}waits for a decision",
        f"Evidence: {proposal['stateText']}",
    ]
    return markup.line_end.join(lines)


def _quote(placed: PlacedCitation, markup: Markup) -> str:
    evidence, located = placed.citation.evidence, placed.located
    now = ""
    if located.start is not None and located.end is not None:
        now = f", now {describe_lines(located.start, located.end)}"
    head = f"{markup.quote(evidence['locator'], _NAME)}{now}"
    original, recorded = placed.lines.original, placed.lines.recorded
    proven = [] if original is None else original.lines[recorded.start - 1 : recorded.end]
    quote = "\n".join(proven) if proven else str(evidence["quote"] or "")
    lines = quote[:_MAX_QUOTE].splitlines()
    return f"{head}\n\n{markup.block(lines)}" if lines else head


def _word(value: object) -> str:
    """Return a word of one of our vocabularies."""
    return single_line(value, _NAME)


def lens_title(claims: int, pending: int) -> str:
    """Return the text of a lens: how many claims rest on the lines, how many wait."""
    noun = "claim" if claims == 1 else "claims"
    parts = [f"{claims} {noun}"] if claims else []
    return ", ".join([*parts, f"{pending} pending"] if pending else parts)
