"""Changes of reviewed claims, each audited and none reviewed again (vouch 5.5)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from vibes_lsp.errors import InvalidObject, UnknownId, VibesError
from vibes_lsp.knowledge.changes import Change, changing
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase
from vibes_lsp.knowledge.objects import CLOSED, Claim, Evidence, Kind, Page, Relation, Source, is_id
from vibes_lsp.knowledge.sources import (
    InlineEvidence,
    create_evidence,
    plan_evidence,
    plan_lines,
)


class Lifecycle:
    """Changes claims for one actor.

    Args:
        knowledge: The knowledge base.
        actor: Who does it.
        now: When.
    """

    def __init__(self, knowledge: KnowledgeBase, actor: str, now: datetime) -> None:
        self._knowledge = knowledge
        self._actor = actor
        self._now = now

    def supersede(self, old_id: str, new_id: str, reason: str | None = None) -> tuple[Claim, Claim]:
        """Mark a claim as superseded by another (vouch 3.4).

        Returns:
            The old claim and the new one.

        Raises:
            InvalidObject: They are the same, the old one is redacted or has another successor, or
                the new one is itself superseded by the old one, directly or not.
            UnknownId: There is no such claim.
            VibesError: The knowledge base cannot be read or written.
        """
        with changing(self._knowledge, self._actor, self._now) as change:
            old, new = self._claim(old_id), self._claim(new_id)
            self._check_supersession(old, new)
            old = self._changed(old, status="superseded", superseded_by=new.id)
            new = self._changed(new, supersedes=_with(new.supersedes, old.id))
            _write(change, new, old)
            self._relate(change, new.id, "supersedes", old.id)
            change.record("claim.supersede", [old.id, new.id], _because(reason))
            return old, new

    def contradict(
        self, first_id: str, second_id: str, reason: str | None = None
    ) -> tuple[Claim, Claim, str]:
        """Record on both claims that they contradict each other (vouch 3.5).

        Returns:
            The claims, and the id of their relation.

        Raises:
            InvalidObject: They are the same.
            UnknownId: There is no such claim.
            VibesError: The knowledge base cannot be read or written.
        """
        if first_id == second_id:
            raise InvalidObject("a claim cannot contradict itself")
        with changing(self._knowledge, self._actor, self._now) as change:
            first, second = self._claim(first_id), self._claim(second_id)
            first = self._contested(first, second.id)
            second = self._contested(second, first.id)
            _write(change, first, second)
            relation = self._relate(change, first.id, "contradicts", second.id)
            change.record("claim.contradict", [first.id, second.id], _because(reason))
            return first, second, relation

    def archive(self, identifier: str, reason: str | None = None) -> Claim | Page:
        """Archive a claim, or a page if no claim has the id.

        Raises:
            InvalidObject: The claim is redacted.
            UnknownId: There is neither.
            VibesError: The knowledge base cannot be read or written.
        """
        with changing(self._knowledge, self._actor, self._now) as change:
            if not self._knowledge.exists(Kind.CLAIM, identifier):
                page = self._knowledge.read(Kind.PAGE, identifier)
                if isinstance(page, Page):
                    page = page.model_copy(update={"status": "archived", "updated_at": self._now})
                    change.replace(Kind.PAGE, page)
                    change.record("page.archive", [page.id], _because(reason))
                    return page
            claim = self._claim(identifier)
            _refuse_redacted(claim)
            claim = self._changed(claim, status="archived")
            _write(change, claim)
            change.record("claim.archive", [claim.id], _because(reason))
            return claim

    def confirm(self, claim_id: str) -> Claim:
        """Confirm that a claim still holds.

        Raises:
            UnknownId: There is no such claim.
            VibesError: The knowledge base cannot be read or written.
        """
        with changing(self._knowledge, self._actor, self._now) as change:
            claim = self._changed(self._claim(claim_id), last_confirmed_at=self._now)
            _write(change, claim)
            change.record("claim.confirm", [claim.id])
            return claim

    def cite(self, claim_id: str, cited: Sequence[str | InlineEvidence]) -> Claim:
        """Add citations to a claim: ids of sources and evidence, or new evidence.

        Raises:
            InvalidObject: One does not exist, or its lines are not its quote.
            UnknownId: There is no such claim.
            VibesError: The knowledge base cannot be read or written.
        """
        with changing(self._knowledge, self._actor, self._now) as change:
            claim = self._claim(claim_id)
            ids = [self._citation(change, citation) for citation in cited]
            added = [
                identifier for identifier in dict.fromkeys(ids) if identifier not in claim.evidence
            ]
            if added:
                claim = self._changed(claim, evidence=[*claim.evidence, *added])
                _write(change, claim)
                details = {"evidence_added": added}
                change.record("claim.cite", [claim.id], details)
            return claim

    def reanchor(
        self,
        claim_id: str,
        evidence_id: str,
        source: Source,
        content: bytes,
        locator: str,
    ) -> Evidence:
        """Cite new evidence in place of older evidence of a claim, which stays (vouch 2.2).

        Args:
            claim_id: The claim.
            evidence_id: The older evidence, which it cites.
            source: The source of the new evidence, registered or not.
            content: The bytes of the source.
            locator: The lines that are evidence now.

        Returns:
            The new evidence.

        Raises:
            InvalidObject: The claim does not cite the evidence, or the source has no such lines.
            UnknownId: There is no such claim.
            VibesError: The knowledge base cannot be read or written.
        """
        with changing(self._knowledge, self._actor, self._now) as change:
            claim = self._claim(claim_id)
            if evidence_id not in claim.evidence:
                raise InvalidObject(f"claim {claim_id} does not cite evidence {evidence_id}")
            planned = plan_lines(source, content, locator, self._now, replaces=evidence_id)
            create_evidence(change, planned)
            added = planned.evidence.id
            if added not in claim.evidence:
                _write(change, self._changed(claim, evidence=[*claim.evidence, added]))
                details = {"evidence_added": [added], "replaces": evidence_id}
                change.record("claim.cite", [claim.id], details)
            return planned.evidence

    def _check_supersession(self, old: Claim, new: Claim) -> None:
        if old.id == new.id:
            raise InvalidObject("a claim cannot supersede itself")
        _refuse_redacted(old)
        if old.superseded_by is not None and old.superseded_by != new.id:
            raise InvalidObject(f"claim {old.id} is superseded by {old.superseded_by}")
        seen, successor = {new.id}, new.superseded_by
        while successor is not None and successor not in seen:
            if successor == old.id:
                raise InvalidObject(f"claim {new.id} is superseded by {old.id}: a cycle is refused")
            seen.add(successor)
            next_claim = self._knowledge.read(Kind.CLAIM, successor)
            successor = next_claim.superseded_by if isinstance(next_claim, Claim) else None

    def _contested(self, claim: Claim, contradicted_id: str) -> Claim:
        is_outdated = claim.status in CLOSED
        status = claim.status if is_outdated else "contested"
        return self._changed(
            claim, contradicts=_with(claim.contradicts, contradicted_id), status=status
        )

    def _citation(self, change: Change, cited: str | InlineEvidence) -> str:
        if isinstance(cited, str):
            kinds = (Kind.SOURCE, Kind.EVIDENCE)
            if not any(self._knowledge.exists(kind, cited) for kind in kinds):
                raise InvalidObject(f"evidence: no source or evidence {cited}")
            return cited
        planned = plan_evidence(self._knowledge, cited, self._now)
        create_evidence(change, planned)
        return planned.evidence.id

    def _claim(self, identifier: str) -> Claim:
        claim = self._knowledge.read(Kind.CLAIM, identifier)
        if not isinstance(claim, Claim):
            raise UnknownId(f"no claim {identifier}", hint="see `vibes kb list claims`")
        return claim

    def _changed(self, claim: Claim, **members: Any) -> Claim:
        return claim.model_copy(update={**members, "updated_at": self._now})

    def _relate(self, change: Change, source: str, relation: Any, target: str) -> str:
        """Write the relation between two claims unless it is there; return its id."""
        identifier = f"{source}--{relation}--{target}"
        if not is_id(identifier):  # too long
            identifier = f"{relation}-{hashlib.sha256(identifier.encode()).hexdigest()[:16]}"
        relation_object = Relation(
            id=identifier,
            source=source,
            relation=relation,
            target=target,
            confidence=1.0,
            created_at=self._now,
            updated_at=self._now,
        )
        if change.create(Kind.RELATION, relation_object):
            change.record("relation.create", [relation_object.id])
        return relation_object.id


def _refuse_redacted(claim: Claim) -> None:
    """Refuse another status for a claim that only its status marks as redacted."""
    if claim.status == "redacted":
        raise InvalidObject(f"claim {claim.id} is redacted, and stays so")


def _because(reason: str | None) -> dict[str, str]:
    return {} if reason is None else {"reason": reason}


def _write(change: Change, *claims: Claim) -> None:
    for claim in claims:
        change.replace(Kind.CLAIM, claim)


def citations_of(knowledge: KnowledgeBase, claim_id: str) -> list[dict[str, Any]]:
    """Return what a claim cites: evidence as it is, sources with their kind, and what is missing.

    Raises:
        UnknownId: There is no such claim.
        VibesError: The claim cannot be read.
    """
    claim = knowledge.read(Kind.CLAIM, claim_id)
    if not isinstance(claim, Claim):
        raise UnknownId(f"no claim {claim_id}", hint="see `vibes kb list claims`")
    return [_citation_of(knowledge, cited) for cited in claim.evidence]


def _citation_of(knowledge: KnowledgeBase, cited: str) -> dict[str, Any]:
    try:
        evidence = knowledge.read(Kind.EVIDENCE, cited)
        if isinstance(evidence, Evidence):
            return evidence.members()
        if knowledge.exists(Kind.SOURCE, cited):
            source = knowledge.read(Kind.SOURCE, cited)
            if isinstance(source, Source):
                return {"kind": "source", **source.members()}
    except VibesError as error:
        return {"kind": "missing", "ref": cited, "reason": error.message}
    return {"kind": "missing", "ref": cited}


def _with(ids: Sequence[str], added: str) -> list[str]:
    return [*ids] if added in ids else [*ids, added]
