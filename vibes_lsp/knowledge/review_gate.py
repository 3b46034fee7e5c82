"""The review gate: proposals, and decisions that are taken once (vouch 4).

A decision, the object that it creates and its audit events are one change, so that a crash leaves
all of them or none.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, TypeAlias

from vibes_lsp.errors import (
    DecidedOtherwise,
    ForbiddenSelfApproval,
    InvalidObject,
    UnknownId,
    VibesError,
)
from vibes_lsp.knowledge.actors import is_same_actor
from vibes_lsp.knowledge.changes import Change, changing
from vibes_lsp.knowledge.drafts import ClaimDraft, ProposalDraft
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase
from vibes_lsp.knowledge.objects import (
    Claim,
    Evidence,
    Kind,
    KnowledgeObject,
    Proposal,
    ProposalKind,
    is_id,
    parse_object,
    slug,
)
from vibes_lsp.knowledge.sources import PlannedEvidence, create_evidence, plan_evidence

TRUSTED_AGENT: Final = "trusted-agent"
_SUMMARY: Final = 120
_DECIDED: Final = frozenset(
    {"contradicts", "last_confirmed_at", "status", "superseded_by", "supersedes"}
)
"""Members that a proposal never sets: decisions do."""
_BY_THE_GATE: Final = frozenset({"approved_by", "auto_approved", "proposed_by"})
"""Members that a proposal never sets: they say who decided, and version 1.5 who proposed."""
_EXPIRED: Final = "expired"

Verdict: TypeAlias = Literal["approved", "rejected"]


@dataclass(frozen=True, slots=True)
class Proposed:
    """The result of a proposal.

    Attributes:
        proposal: The proposal, which is on disk unless it was a dry run or has errors.
        object_id: The id of the object that an approval creates.
        errors: The rules that it breaks.
    """

    proposal: Proposal
    object_id: str
    errors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProposalDecision:
    """A decision on a proposal.

    Attributes:
        proposal: The proposal with its decision.
        kind: The kind of the object that it created; None after a rejection.
        object_id: Its id.
    """

    proposal: Proposal
    kind: Kind | None
    object_id: str | None


class ReviewGate:
    """Creates proposals and decides on them.

    Args:
        knowledge: The knowledge base.
        now: The clock.
    """

    def __init__(
        self, knowledge: KnowledgeBase, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._knowledge = knowledge
        self._now = now

    def propose(self, draft: ProposalDraft, *, actor: str) -> Proposed:
        """Create a proposal, unless the object would break a rule (vouch 3).

        New evidence of a claim is written at once: it needs no review.

        Raises:
            VibesError: The knowledge base cannot be read or written.
        """
        now, kind = self._now(), draft.kind
        about = set(ProposalDraft.model_fields)
        payload = draft.model_dump(mode="json", exclude=about, exclude_none=True)
        errors: list[str] = []
        evidence: list[PlannedEvidence] = []
        if isinstance(draft, ClaimDraft):
            evidence, payload["evidence"] = self._cite(draft, now, errors)
        wished = draft.slug_hint or draft.summary()
        payload = {"id": slug(wished), **payload}
        if draft.slug_hint is not None and not is_id(draft.slug_hint):
            errors.append("slug_hint: expected letters, digits, '-', '_' and '.'")
        with changing(self._knowledge, actor, now) as change:
            if not errors:
                payload["id"] = self._free_id(kind.kind, payload["id"])
            errors += self.find_errors(
                kind, payload, now, {planned.evidence.id for planned in evidence}
            )
            proposal = Proposal(
                id=f"{now:%Y%m%d-%H%M%S}-{uuid.uuid4().hex[:8]}",
                kind=kind.value,
                proposed_by=actor,
                session_id=draft.session_id,
                proposed_at=now,
                payload=payload,
                rationale=draft.rationale,
            )
            if not errors and not draft.dry_run:
                for planned in evidence:
                    create_evidence(change, planned)
                change.create(Kind.PENDING, proposal)
                details = {"kind": kind.value, "payload_summary": draft.summary()[:_SUMMARY]}
                change.record("proposal.create", [proposal.id], details)
        return Proposed(proposal, payload["id"], tuple(errors))

    def approve(
        self,
        proposal_id: str,
        *,
        actor: str,
        reason: str | None = None,
        may_approve_own: bool | None = None,
    ) -> ProposalDecision:
        """Approve a proposal and write its object; an approved one is returned as it is.

        Args:
            proposal_id: The proposal.
            actor: Who approves.
            reason: Why.
            may_approve_own: Whether the proposer may; None for the setting of the project.

        Raises:
            DecidedOtherwise: It is rejected.
            ForbiddenSelfApproval: The actor proposed it.
            InvalidObject: The object breaks a rule now, or its id is taken.
            UnknownId: There is no such proposal.
            VibesError: The knowledge base cannot be read or written.
        """
        now = self._now()
        with changing(self._knowledge, actor, now) as change:
            pending = self._pending(proposal_id, "approved")
            if isinstance(pending, ProposalDecision):
                return pending
            if may_approve_own is None:
                role = self._knowledge.config().review.approver_role
                may_approve_own = role == TRUSTED_AGENT
            if not may_approve_own and is_same_actor(actor, pending.proposed_by):
                raise ForbiddenSelfApproval(
                    f"forbidden_self_approval: {actor} made proposal {proposal_id}",
                    hint="let another actor decide, or set review.approver_role: trusted-agent",
                )
            errors = self.approval_errors(_kind_of(pending), pending, now)
            if errors:
                raise InvalidObject(
                    f"proposal {proposal_id} cannot be approved: {'; '.join(errors)}",
                    hint="reject it, and propose again",
                )
            return _decide(change, pending, "approved", reason)

    def reject(self, proposal_id: str, *, actor: str, reason: str) -> ProposalDecision:
        """Reject a proposal; a rejected one is returned as it is.

        Raises:
            DecidedOtherwise: It is approved.
            InvalidObject: The reason is empty.
            UnknownId: There is no such proposal.
            VibesError: The knowledge base cannot be read or written.
        """
        if not reason.strip():
            raise InvalidObject("reason: is empty: a rejection needs one")
        with changing(self._knowledge, actor, self._now()) as change:
            pending = self._pending(proposal_id, "rejected")
            if isinstance(pending, ProposalDecision):
                return pending
            if self._is_begun(pending):
                raise DecidedOtherwise(
                    f"proposal {proposal_id}: an approval has written its object already",
                    hint="approve it again to complete that, then archive the object",
                )
            return _decide(change, pending, "rejected", reason)

    def expire(self, *, actor: str, after_days: int | None = None) -> list[ProposalDecision]:
        """Reject the proposals that waited for too long, but none whose approval is begun.

        Args:
            actor: Who does it.
            after_days: For how long; None for the setting of the project.

        Raises:
            VibesError: The knowledge base cannot be read or written.
        """
        with changing(self._knowledge, actor, self._now()) as change:
            overdue = self.overdue(after_days)
            return [
                _decide(change, proposal, "rejected", _EXPIRED, event="proposal.expire")
                for proposal in overdue
            ]

    def overdue(self, after_days: int | None = None) -> list[Proposal]:
        """Return the proposals that waited for too long, but none whose approval is begun.

        Args:
            after_days: For how long; None for the setting of the project.

        Raises:
            VibesError: The settings cannot be read.
        """
        days = after_days or self._knowledge.config().review.expire_pending_after_days
        limit = self._now() - timedelta(days=days)
        return [
            proposal
            for proposal in self.pending()
            if proposal.proposed_at < limit and self._can_be_rejected(proposal)
        ]

    def pending(self) -> list[Proposal]:
        """Return the proposals that wait for a decision, the oldest first."""
        proposals = self._knowledge.proposals(Kind.PENDING)
        return [proposal for proposal in proposals if self._knowledge.is_waiting(proposal.id)]

    def approval_errors(self, kind: ProposalKind, pending: Proposal, now: datetime) -> list[str]:
        """Return why a proposal cannot be approved: rules that it breaks now, or a taken id.

        Args:
            kind: What the proposal creates.
            pending: The proposal.
            now: The time.

        Raises:
            VibesError: The knowledge base cannot be read.
        """
        errors = self.find_errors(kind, _proposable(pending.payload), now)
        is_taken = self._knowledge.exists(kind.kind, str(pending.payload.get("id")))
        if is_taken and not self._is_begun(pending):
            errors.append(f"id: {kind} {pending.payload.get('id')} exists")
        return errors

    def find_errors(
        self,
        kind: ProposalKind,
        payload: dict[str, Any],
        now: datetime,
        new_evidence: set[str] | None = None,
    ) -> list[str]:
        """Return the rules that the object of a payload breaks (vouch 3).

        Args:
            kind: What it is.
            payload: Its members.
            now: The time.
            new_evidence: Ids of evidence that is written together with it.
        """
        try:
            parse_object(kind.kind, payload, default_time=now)
        except InvalidObject as error:
            return [error.message]
        if kind is ProposalKind.CLAIM:
            return self._citation_errors(payload, new_evidence or set())
        if kind is ProposalKind.PAGE:
            return self._missing(payload, {"claims": Kind.CLAIM, "sources": Kind.SOURCE})
        if kind is ProposalKind.RELATION and payload.get("evidence"):
            return self._citation_errors(payload, set())
        return []

    def _cite(
        self, draft: ClaimDraft, now: datetime, errors: list[str]
    ) -> tuple[list[PlannedEvidence], list[str]]:
        """Return the new evidence of a claim, and the ids of all that it cites."""
        evidence: list[PlannedEvidence] = []
        ids: list[str] = []
        for cited in draft.evidence:
            if isinstance(cited, str):
                ids.append(cited)
                continue
            try:
                evidence.append(plan_evidence(self._knowledge, cited, now))
                ids.append(evidence[-1].evidence.id)
            except VibesError as error:
                errors.append(error.message)
        return evidence, list(dict.fromkeys(ids))

    def _citation_errors(self, payload: dict[str, Any], new: set[str]) -> list[str]:
        cited = payload.get("evidence") or []
        errors = [
            f"evidence: no source or evidence {identifier}"
            for identifier in cited
            if identifier not in new
            and not self._knowledge.exists(Kind.SOURCE, identifier)
            and not self._has_source(identifier)
        ]
        is_relaxed = (
            payload.get("status", "working") == "working"
            and not self._knowledge.config().review.require_citations
        )
        if not cited and not is_relaxed:
            errors.append("evidence: a claim needs at least one citation")
        return errors

    def _has_source(self, evidence_id: str) -> bool:
        """Return whether evidence exists, with its source (vouch 3.2)."""
        if not self._knowledge.exists(Kind.EVIDENCE, evidence_id):
            return False
        with suppress(VibesError):
            evidence = self._knowledge.read(Kind.EVIDENCE, evidence_id)
            if isinstance(evidence, Evidence):
                return self._knowledge.exists(Kind.SOURCE, evidence.source_id)
        return False

    def _missing(self, payload: dict[str, Any], members: dict[str, Kind]) -> list[str]:
        return [
            f"{name}: no {kind.noun} {identifier}"
            for name, kind in members.items()
            for identifier in payload.get(name) or []
            if not self._knowledge.exists(kind, identifier)
        ]

    def _free_id(self, kind: Kind, wished: str) -> str:
        """Return an id that neither an object nor a waiting proposal has."""
        waiting = set(self._waiting_ids(wished))
        number, candidate = 1, wished
        while candidate in waiting or self._knowledge.exists(kind, candidate):
            number += 1
            candidate = f"{wished}-{number}"
        return candidate

    def _waiting_ids(self, start: str) -> Iterator[str]:
        """Yield the ids with some start that proposals wish for; parses only files that have it."""
        for identifier in self._knowledge.ids(Kind.PENDING):
            with suppress(VibesError):
                content = self._knowledge.read_bytes(Kind.PENDING, identifier) or b""
                if start.encode() in content:
                    proposal = self._knowledge.parse(Kind.PENDING, identifier, content)
                    if isinstance(proposal, Proposal):
                        yield str(proposal.payload.get("id"))

    def _pending(self, proposal_id: str, verdict: Verdict) -> Proposal | ProposalDecision:
        """Return a proposal that waits, or the decision that it has; the caller holds the lock."""
        decided = self._knowledge.read(Kind.DECISION, proposal_id)
        if isinstance(decided, Proposal):
            if decided.status != verdict:
                raise DecidedOtherwise(
                    f"proposal {proposal_id} is {decided.status}: a decision is final"
                )
            return _decision(decided)
        pending = self._knowledge.read(Kind.PENDING, proposal_id)
        if not isinstance(pending, Proposal):
            raise UnknownId(f"no proposal {proposal_id}", hint="see `vibes kb pending`")
        return pending

    def _can_be_rejected(self, pending: Proposal) -> bool:
        with suppress(VibesError):
            return not self._is_begun(pending)
        return False  # whether its object is there, cannot be read

    def _is_begun(self, pending: Proposal) -> bool:
        """Return whether another program wrote the object of a proposal, but not its decision.

        One that later decisions have changed is more than begun. Its approver may be any name:
        who completes the approval replaces it.
        """
        try:
            kind = ProposalKind(pending.kind).kind
            existing = self._knowledge.read(kind, str(pending.payload.get("id")))
        except (InvalidObject, ValueError):
            return False
        if existing is None:
            return False
        members = existing.members()
        payload = _proposable(pending.payload)
        expected = parse_object(kind, payload, default_time=self._now()).members()
        compared = (payload.keys() | _DECIDED) & expected.keys()
        if any(members.get(name) != expected[name] for name in compared):
            return False
        return not any(
            decided.status == "approved" and decided.payload.get("id") == existing.id
            for decided in self._knowledge.proposals(Kind.DECISION)
        )


def _decide(
    change: Change,
    pending: Proposal,
    verdict: Verdict,
    reason: str | None,
    *,
    event: str = "proposal.reject",
) -> ProposalDecision:
    decided = pending.model_copy(
        update={
            "status": verdict,
            "decided_at": change.moment,
            "decided_by": change.actor,
            "decision_reason": reason,
        }
    )
    decision = _decision(decided)
    if decision.kind is not None:
        created = _object_of(decided, decision.kind)
        if not change.create(decision.kind, created):
            _set_approver(change, decided, created)
    change.create(Kind.DECISION, decided)
    change.remove_pending(decided.id)
    if decision.kind is None:
        change.record(event, [decided.id], {"reason": reason})
    else:
        object_id = decision.object_id or ""
        details = {"object_id": object_id, "reason": reason}
        change.record("proposal.approve", [decided.id], details)
        of_session = {} if decided.session_id is None else {"session_id": decided.session_id}
        details = {"proposal_id": decided.id, **of_session}
        change.record(f"{decision.kind.noun}.create", [object_id], details)
    return decision


def _set_approver(change: Change, decided: Proposal, created: KnowledgeObject) -> None:
    """Name who decides in a claim that another program wrote, and anybody may have named."""
    claim = change.knowledge.read(Kind.CLAIM, created.id) if isinstance(created, Claim) else None
    if isinstance(claim, Claim) and claim.approved_by != decided.decided_by:
        named = claim.model_copy(update={"approved_by": decided.decided_by})
        change.replace(Kind.CLAIM, named)


def _kind_of(proposal: Proposal) -> ProposalKind:
    try:
        return ProposalKind(proposal.kind)
    except ValueError:
        raise InvalidObject(
            f"proposal {proposal.id}: kind: {proposal.kind} cannot be approved here",
            hint="approve it with the program that made it",
        ) from None


def _decision(decided: Proposal) -> ProposalDecision:
    if decided.status != "approved":
        return ProposalDecision(decided, None, None)
    return ProposalDecision(decided, _kind_of(decided).kind, str(decided.payload.get("id")))


def _object_of(decided: Proposal, kind: Kind) -> KnowledgeObject:
    """Return the object that a decision creates, always the same."""
    moment = decided.decided_at or decided.proposed_at
    approver = {"approved_by": decided.decided_by} if kind is Kind.CLAIM else {}
    return parse_object(kind, {**_proposable(decided.payload), **approver}, default_time=moment)


def _proposable(payload: dict[str, Any]) -> dict[str, Any]:
    """Return a payload without what only later decisions set, which no reviewer is shown."""
    decided = _DECIDED | _BY_THE_GATE
    return {name: value for name, value in payload.items() if name not in decided}
