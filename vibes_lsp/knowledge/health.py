"""What is wrong in a knowledge base: `lint` for its content, `doctor` for all of it (vouch 5.7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from vibes_lsp.errors import VibesError
from vibes_lsp.knowledge.audit_log import check_chain
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase
from vibes_lsp.knowledge.object_index import ObjectIndex
from vibes_lsp.knowledge.objects import Kind, ProposalKind
from vibes_lsp.knowledge.sources import verify_sources

STALE_DAYS: Final = 180
Severity = Literal["error", "warning", "info"]
_CLOSED: Final = frozenset({"superseded", "archived", "redacted"})


@dataclass(frozen=True, slots=True)
class HealthFinding:
    """Something wrong.

    Attributes:
        severity: How bad it is.
        code: What kind of fault it is.
        message: What is wrong, and where.
        object_ids: The objects concerned.
    """

    severity: Severity
    code: str
    message: str
    object_ids: tuple[str, ...]


def lint(index: ObjectIndex, now: datetime, *, stale_days: int = STALE_DAYS) -> list[HealthFinding]:
    """Return what a person should mend in the content; the index is fresh."""
    return [
        *(
            HealthFinding("error", "broken_object", each.reason, (each.id,))
            for each in index.broken()
        ),
        *_claim_findings(index, now, stale_days),
        *_page_findings(index),
        *_evidence_findings(index),
        *_relation_findings(index),
    ]


def doctor(knowledge: KnowledgeBase, index: ObjectIndex, now: datetime) -> list[HealthFinding]:
    """Return all that is wrong: content, captured bytes, decisions, audit log, settings."""
    return [
        *lint(index, now),
        *_source_findings(knowledge),
        *_decision_findings(knowledge, index),
        *_log_findings(knowledge),
        *_config_findings(knowledge),
    ]


def _claim_findings(index: ObjectIndex, now: datetime, stale_days: int) -> Iterator[HealthFinding]:
    claims = {each["id"]: each for each in index.members(Kind.CLAIM)}
    citable = index.ids(Kind.SOURCE) | index.ids(Kind.EVIDENCE)
    entities = index.ids(Kind.ENTITY)
    for claim in claims.values():
        yield from _citation_findings(claim, citable)
        yield from _link_findings(claim, claims)
        for entity in claim["entities"]:
            if entity not in entities:
                yield _claim_finding(
                    claim, "warning", "dangling_reference", f"entities: no entity {entity}"
                )
        seen = claim["last_confirmed_at"] or claim["updated_at"]
        age = now - datetime.fromisoformat(seen)
        if claim["status"] not in _CLOSED and age > timedelta(days=stale_days):
            yield _claim_finding(
                claim, "warning", "stale_claim", f"not confirmed for {age.days} days"
            )


def _citation_findings(claim: dict[str, Any], citable: set[str]) -> Iterator[HealthFinding]:
    if not claim["evidence"]:
        yield _claim_finding(claim, "error", "uncited_claim", "has no citation")
    for cited in claim["evidence"]:
        if cited not in citable:
            message = f"cites {cited}, which is missing"
            yield _claim_finding(claim, "error", "broken_citation", message)


def _link_findings(
    claim: dict[str, Any], claims: dict[str, dict[str, Any]]
) -> Iterator[HealthFinding]:
    for name, target in _links(claim):
        if target not in claims:
            message = f"{name}: no claim {target}"
            yield _claim_finding(claim, "error", "dangling_reference", message)
    for other in claim["contradicts"]:
        if other in claims and claim["id"] not in claims[other]["contradicts"]:
            message = f"contradicts {other}, which does not contradict it"
            yield _claim_finding(claim, "error", "one_sided_contradiction", message)
    if _is_in_cycle(claim, claims):
        yield _claim_finding(claim, "error", "supersession_cycle", "supersedes itself")


def _claim_finding(
    claim: dict[str, Any], severity: Severity, code: str, reason: str
) -> HealthFinding:
    return HealthFinding(severity, code, f"claim {claim['id']} {reason}", (claim["id"],))


def _links(claim: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name in ("supersedes", "contradicts"):
        yield from ((name, each) for each in claim[name])
    if claim["superseded_by"]:
        yield "superseded_by", claim["superseded_by"]


def _is_in_cycle(claim: dict[str, Any], claims: dict[str, dict[str, Any]]) -> bool:
    seen: set[str] = set()
    successor = claim["superseded_by"]
    while successor in claims and successor not in seen:
        seen.add(successor)
        successor = claims[successor]["superseded_by"]
    return claim["id"] in seen


def _page_findings(index: ObjectIndex) -> Iterator[HealthFinding]:
    targets = {
        "claims": index.ids(Kind.CLAIM),
        "entities": index.ids(Kind.ENTITY),
        "sources": index.ids(Kind.SOURCE),
    }
    for page in index.members(Kind.PAGE):
        for name, known in targets.items():
            for target in page[name]:
                if target not in known:
                    message = f"page {page['id']} {name}: {target} is missing"
                    yield HealthFinding("warning", "dangling_reference", message, (page["id"],))


def _evidence_findings(index: ObjectIndex) -> Iterator[HealthFinding]:
    sources = index.ids(Kind.SOURCE)
    for evidence in index.members(Kind.EVIDENCE):
        if evidence["source_id"] not in sources:
            message = f"evidence {evidence['id']}: its source is missing"
            yield HealthFinding("error", "dangling_evidence", message, (evidence["id"],))


def _relation_findings(index: ObjectIndex) -> Iterator[HealthFinding]:
    kinds = (Kind.CLAIM, Kind.PAGE, Kind.ENTITY, Kind.SOURCE)
    known = {identifier for kind in kinds for identifier in index.ids(kind)}
    for relation in index.members(Kind.RELATION):
        for end in ("source", "target"):
            if relation[end] not in known:
                message = f"relation {relation['id']} {end}: {relation[end]} is missing"
                yield HealthFinding("warning", "dangling_reference", message, (relation["id"],))


def _source_findings(knowledge: KnowledgeBase) -> Iterator[HealthFinding]:
    for state in verify_sources(knowledge):
        if state.reason == "its bytes differ":
            message = f"source {state.id[:12]}: {state.reason}"
            yield HealthFinding("error", "source_changed", message, (state.id,))
        elif state.file_state in ("drift", "missing"):
            message = f"source {state.id[:12]} ({state.title}): {state.reason}"
            yield HealthFinding("info", f"source_{state.file_state}", message, (state.id,))


def _decision_findings(knowledge: KnowledgeBase, index: ObjectIndex) -> Iterator[HealthFinding]:
    """Yield decisions that contradict the objects."""
    approved: dict[tuple[str, str], str] = {}
    rejected: list[dict[str, Any]] = []
    for decision in index.members(Kind.DECISION):
        target = (decision["kind"], str(decision["payload"].get("id")))
        if decision["status"] == "approved":
            approved[target] = decision["id"]
        elif decision["status"] == "rejected":
            rejected.append(decision)
        else:
            message = f"proposal {decision['id']} is in decided/ without a decision"
            yield HealthFinding("error", "undecided", message, (decision["id"],))
        if knowledge.exists(Kind.PENDING, decision["id"]):
            message = f"proposal {decision['id']} is in proposed/ and in decided/"
            yield HealthFinding("error", "proposal_twice", message, (decision["id"],))
    for (noun, identifier), proposal in approved.items():
        kind = _kind(noun)
        if kind is not None and not knowledge.exists(kind, identifier):
            message = f"proposal {proposal} is approved, but {noun} {identifier} is missing"
            yield HealthFinding("error", "approved_without_object", message, (proposal, identifier))
    for decision in rejected:
        noun, identifier = decision["kind"], str(decision["payload"].get("id"))
        kind = _kind(noun)
        found = None if kind is None else index.get(kind, identifier)
        if found is not None and (noun, identifier) not in approved and _is_of(found, decision):
            message = f"proposal {decision['id']} is rejected, but {noun} {identifier} exists"
            yield HealthFinding(
                "error", "rejected_with_object", message, (decision["id"], identifier)
            )


def _is_of(found: dict[str, Any], decision: dict[str, Any]) -> bool:
    """Return whether an object says what a proposal says."""
    names = ("text", "title", "name", "source", "target")
    return all(found.get(name) == decision["payload"].get(name) for name in names)


def _kind(noun: str) -> Kind | None:
    try:
        return ProposalKind(noun).kind
    except ValueError:
        return None


def _log_findings(knowledge: KnowledgeBase) -> Iterator[HealthFinding]:
    try:
        fault, without_hash = check_chain(knowledge)
    except VibesError as error:
        yield HealthFinding("error", "audit_log_unreadable", error.message, ())
        return
    if fault is not None:
        message = f"audit.log.jsonl, line {fault.line}: {fault.reason}"
        yield HealthFinding("error", "audit_chain_broken", message, ())
    if without_hash:
        message = f"audit.log.jsonl: {without_hash} events without a hash, so they are not proven"
        yield HealthFinding("warning", "audit_events_without_hash", message, ())


def _config_findings(knowledge: KnowledgeBase) -> Iterator[HealthFinding]:
    try:
        config = knowledge.config()
    except VibesError as error:
        yield HealthFinding("error", "broken_config", error.message, ())
        return
    if config.review.approver_role not in ("human", "trusted-agent"):
        message = f"config.yaml: review.approver_role: unknown role {config.review.approver_role!r}"
        yield HealthFinding("warning", "unknown_role", message, ())
