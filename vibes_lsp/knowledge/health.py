"""What is wrong in a knowledge base: `lint` for its content, `doctor` for all of it (vouch 5.7)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal, TypeAlias

from vibes_lsp.errors import VibesError
from vibes_lsp.knowledge.audit_log import check_chain, read_events
from vibes_lsp.knowledge.citations import Approvals, approvals_of, is_approver_proven, is_in_cycle
from vibes_lsp.knowledge.context_pack import CLOCK_SKEW
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase
from vibes_lsp.knowledge.method_parameters import STALE_DAYS
from vibes_lsp.knowledge.object_format import MemberPath
from vibes_lsp.knowledge.object_index import ObjectIndex
from vibes_lsp.knowledge.objects import CLOSED, Kind, proposed_kind
from vibes_lsp.knowledge.sources import verify_sources

Severity: TypeAlias = Literal["error", "warning", "info"]
_LINTED: Final = (Kind.CLAIM, Kind.PAGE, Kind.EVIDENCE, Kind.RELATION)


@dataclass(frozen=True, slots=True)
class HealthFinding:
    """Something wrong.

    Attributes:
        severity: How bad it is.
        code: What kind of fault it is.
        message: What is wrong, and where.
        object_ids: The objects concerned.
        member: Where it is in the first of them: names of members and places in lists.
    """

    severity: Severity
    code: str
    message: str
    object_ids: tuple[str, ...]
    member: MemberPath = ()


@dataclass(frozen=True, slots=True)
class KnownObjects:
    """What an object is compared with.

    Attributes:
        claims: All claims by id.
        evidence: All evidence by id.
        ids: The ids of each kind.
        approvals: The claims that decisions approve.
    """

    claims: Mapping[str, Mapping[str, Any]]
    evidence: Mapping[str, Mapping[str, Any]]
    ids: Mapping[Kind, Collection[str]]
    approvals: Approvals

    def has(self, identifier: str, *kinds: Kind) -> bool:
        """Whether there is an object of one of some kinds."""
        return any(identifier in self.ids.get(kind, ()) for kind in kinds)


def lint(index: ObjectIndex, now: datetime, *, stale_days: int = STALE_DAYS) -> list[HealthFinding]:
    """Return what a person should mend in the content; the index is fresh."""
    known = KnownObjects(
        {claim["id"]: claim for claim in index.members(Kind.CLAIM)},
        {evidence["id"]: evidence for evidence in index.members(Kind.EVIDENCE)},
        {kind: index.ids(kind) for kind in Kind},
        approvals_of(index.members(Kind.DECISION)),
    )
    read = {Kind.CLAIM: known.claims, Kind.EVIDENCE: known.evidence}
    broken = [
        HealthFinding("error", "broken_object", file.fault, (file.id,)) for file in index.broken()
    ]
    return broken + [
        finding
        for kind in _LINTED
        for members in (read[kind].values() if kind in read else index.members(kind))
        for finding in lint_object(kind, members, known, now, stale_days=stale_days)
    ]


def lint_object(
    kind: Kind,
    members: Mapping[str, Any],
    known: KnownObjects,
    now: datetime,
    *,
    stale_days: int = STALE_DAYS,
) -> Iterator[HealthFinding]:
    """Yield what a person should mend in one valid object."""
    if kind is Kind.CLAIM:
        yield from _claim_findings(members, known, now, stale_days)
    elif kind is Kind.PAGE:
        yield from _page_findings(members, known)
    elif kind is Kind.EVIDENCE:
        yield from _evidence_findings(members, known)
    elif kind is Kind.RELATION:
        yield from _relation_findings(members, known)


def doctor(knowledge: KnowledgeBase, index: ObjectIndex, now: datetime) -> list[HealthFinding]:
    """Return all that is wrong: content, captured bytes, decisions, audit log, settings."""
    return [
        *lint(index, now),
        *_source_findings(knowledge),
        *_decision_findings(knowledge, index),
        *_log_findings(knowledge),
        *_logged_findings(knowledge, index),
        *_config_findings(knowledge),
    ]


def _claim_findings(
    claim: Mapping[str, Any], known: KnownObjects, now: datetime, stale_days: int
) -> Iterator[HealthFinding]:
    yield from _citation_findings(claim, known)
    yield from _link_findings(claim, known.claims)
    if claim["approved_by"] and not is_approver_proven(claim, known.approvals):
        reason = "names an approver, but no decision in decided/ approves this text"
        where: MemberPath = ("approved_by",)
        yield _claim_finding(claim, "warning", "claim_without_decision", reason, where)
    for place, entity in enumerate(claim["entities"]):
        if not known.has(entity, Kind.ENTITY):
            message = f"entities: no entity {entity}"
            where = ("entities", place)
            yield _claim_finding(claim, "warning", "dangling_reference", message, where)
    for name in ("created_at", "updated_at", "last_confirmed_at"):
        if claim[name] and datetime.fromisoformat(claim[name]) - now > CLOCK_SKEW:
            message = f"{name}: {claim[name]} is in the future"
            yield _claim_finding(claim, "warning", "time_in_future", message, (name,))
    confirmed_at = claim["last_confirmed_at"] or claim["updated_at"]
    age = now - datetime.fromisoformat(confirmed_at)
    if claim["status"] not in CLOSED and age > timedelta(days=stale_days):
        message = f"not confirmed for {age.days} days"
        yield _claim_finding(claim, "warning", "stale_claim", message, ("last_confirmed_at",))


def _citation_findings(claim: Mapping[str, Any], known: KnownObjects) -> Iterator[HealthFinding]:
    if not claim["evidence"]:
        yield _claim_finding(claim, "error", "uncited_claim", "has no citation", ("evidence",))
    for place, cited in enumerate(claim["evidence"]):
        if not known.has(cited, Kind.SOURCE, Kind.EVIDENCE):
            message, where = f"cites {cited}, which is missing", ("evidence", place)
            yield _claim_finding(claim, "error", "broken_citation", message, where)


def _link_findings(
    claim: Mapping[str, Any], claims: Mapping[str, Mapping[str, Any]]
) -> Iterator[HealthFinding]:
    for where, target in _links(claim):
        if target not in claims:
            message = f"{where[0]}: no claim {target}"
            yield _claim_finding(claim, "error", "dangling_reference", message, where)
    for place, contradicted in enumerate(claim["contradicts"]):
        if contradicted in claims and claim["id"] not in claims[contradicted]["contradicts"]:
            message, at = (
                f"contradicts {contradicted}, which does not contradict it",
                ("contradicts", place),
            )
            yield _claim_finding(claim, "error", "one_sided_contradiction", message, at)
    if is_in_cycle(claim["id"], claims, "superseded_by"):
        where = ("superseded_by",)
        yield _claim_finding(claim, "error", "supersession_cycle", "supersedes itself", where)


def _claim_finding(
    claim: Mapping[str, Any], severity: Severity, code: str, reason: str, member: MemberPath
) -> HealthFinding:
    message = f"claim {claim['id']} {reason}"
    return HealthFinding(severity, code, message, (claim["id"],), member)


def _links(claim: Mapping[str, Any]) -> Iterator[tuple[MemberPath, str]]:
    for name in ("supersedes", "contradicts"):
        yield from (((name, place), target) for place, target in enumerate(claim[name]))
    if claim["superseded_by"]:
        yield ("superseded_by",), claim["superseded_by"]


def _page_findings(page: Mapping[str, Any], known: KnownObjects) -> Iterator[HealthFinding]:
    for kind in (Kind.CLAIM, Kind.ENTITY, Kind.SOURCE):
        for place, target in enumerate(page[kind.value]):
            if not known.has(target, kind):
                message = f"page {page['id']} {kind.value}: {target} is missing"
                where = (kind.value, place)
                yield HealthFinding("warning", "dangling_reference", message, (page["id"],), where)


def _evidence_findings(evidence: Mapping[str, Any], known: KnownObjects) -> Iterator[HealthFinding]:
    if not known.has(evidence["source_id"], Kind.SOURCE):
        message = f"evidence {evidence['id']}: its source is missing"
        where = ("source_id",)
        yield HealthFinding("error", "dangling_evidence", message, (evidence["id"],), where)
    if is_in_cycle(evidence["id"], known.evidence, "replaces"):
        message = f"evidence {evidence['id']} replaces itself, so it replaces nothing"
        yield HealthFinding(
            "warning", "replacement_cycle", message, (evidence["id"],), ("replaces",)
        )


def _relation_findings(relation: Mapping[str, Any], known: KnownObjects) -> Iterator[HealthFinding]:
    for end in ("source", "target"):
        if not known.has(relation[end], Kind.CLAIM, Kind.PAGE, Kind.ENTITY, Kind.SOURCE):
            message = f"relation {relation['id']} {end}: {relation[end]} is missing"
            ids = (relation["id"],)
            yield HealthFinding("warning", "dangling_reference", message, ids, (end,))


def _source_findings(knowledge: KnowledgeBase) -> Iterator[HealthFinding]:
    for state in verify_sources(knowledge):
        if state.reason == "its bytes differ":
            message = f"source {state.id[:8]}: {state.reason}"
            yield HealthFinding("error", "source_changed", message, (state.id,))
        elif state.file_state in ("drift", "missing"):
            message = f"source {state.id[:8]} ({state.title}): {state.reason}"
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
        kind = proposed_kind(noun)
        if kind is not None and not knowledge.exists(kind, identifier):
            message = f"proposal {proposal} is approved, but {noun} {identifier} is missing"
            yield HealthFinding("error", "approved_without_object", message, (proposal, identifier))
    for decision in rejected:
        noun, identifier = decision["kind"], str(decision["payload"].get("id"))
        kind = proposed_kind(noun)
        members = None if kind is None else index.get(kind, identifier)
        if members is not None and (noun, identifier) not in approved and _is_of(members, decision):
            message = f"proposal {decision['id']} is rejected, but {noun} {identifier} exists"
            yield HealthFinding(
                "error", "rejected_with_object", message, (decision["id"], identifier)
            )


def _is_of(members: dict[str, Any], decision: dict[str, Any]) -> bool:
    """Return whether an object says what a proposal says."""
    names = ("text", "title", "name", "source", "target")
    return all(members.get(name) == decision["payload"].get(name) for name in names)


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


def _logged_findings(knowledge: KnowledgeBase, index: ObjectIndex) -> Iterator[HealthFinding]:
    """Yield decisions that no event mentions: the hashes cannot show that the log lost its end."""
    logged_ids: set[str] = set()
    try:
        for event in read_events(knowledge):
            logged_ids.update(map(str, event.get("object_ids") or ()))
            details = event.get("data")
            logged_ids.update(
                map(str, details.get("decided") or () if isinstance(details, dict) else ())
            )
    except (VibesError, TypeError):
        return  # reported as a broken log
    for identifier in sorted(index.ids(Kind.DECISION) - logged_ids):
        message = f"proposal {identifier} is decided, but the audit log does not mention it"
        yield HealthFinding("warning", "decision_not_logged", message, (identifier,))


def _config_findings(knowledge: KnowledgeBase) -> Iterator[HealthFinding]:
    try:
        config = knowledge.config()
    except VibesError as error:
        yield HealthFinding("error", "broken_config", error.message, ())
        return
    if config.review.approver_role not in ("human", "trusted-agent"):
        message = f"config.yaml: review.approver_role: unknown role {config.review.approver_role!r}"
        yield HealthFinding("warning", "unknown_role", message, ())
