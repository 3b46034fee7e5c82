"""What is wrong in one file of `.vouch/`, saved or not, and at which line and column.

The rules are those of the objects, of lint and of the review gate; this module only finds the
places in the text.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from pydantic import ValidationError

from vibes_lsp.errors import InvalidObject, VibesError
from vibes_lsp.knowledge.audit_log import check_chain
from vibes_lsp.knowledge.citations import KnowledgeSnapshot
from vibes_lsp.knowledge.health import KnownObjects, Severity, lint_object
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase, KnowledgeConfig
from vibes_lsp.knowledge.object_format import (
    InvalidYaml,
    MemberPath,
    MemberSpans,
    Span,
    load_page,
    load_settings,
    load_yaml,
)
from vibes_lsp.knowledge.objects import (
    Kind,
    Proposal,
    ProposalKind,
    kind_and_id,
    object_faults,
    parse_object,
)
from vibes_lsp.knowledge.review_gate import ReviewGate

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MEMBER: Final = re.compile(r"(?:claim |page |entity |relation )?(\w+)(?:\.\d+)?: ")
_MAX_FAULTS: Final = 100


@dataclass(frozen=True, slots=True)
class FileFault:
    """Something wrong in a file.

    Attributes:
        severity: How bad it is.
        code: What kind of fault it is.
        message: What is wrong.
        span: Where.
    """

    severity: Severity
    code: str
    message: str
    span: Span


def check_file(snapshot: KnowledgeSnapshot, path: str, text: str, now: datetime) -> list[FileFault]:
    """Return what is wrong in a file of a knowledge base.

    Args:
        snapshot: The knowledge base; the text counts before what it has of the file.
        path: The file, relative to the folder `.vouch`.
        text: Its text.
        now: The time.
    """
    if path == "config.yaml":
        return list(_config_faults(text))
    if path == "audit.log.jsonl":
        return list(_log_faults(KnowledgeBase(snapshot.path)))
    named = kind_and_id(path)
    if named is None:
        return []
    faults = _object_faults(snapshot, *named, text, now)
    return [fault for fault, _ in zip(faults, range(_MAX_FAULTS), strict=False)]


def _object_faults(
    snapshot: KnowledgeSnapshot, kind: Kind, identifier: str, text: str, now: datetime
) -> Iterator[FileFault]:
    content, spans = text.encode("utf-8", "surrogatepass"), MemberSpans(text)
    load = load_page if kind is Kind.PAGE else load_yaml
    try:
        members = load(content, kind.noun)
    except InvalidObject as error:
        line = error.line if isinstance(error, InvalidYaml) else None
        yield FileFault("error", "broken_object", error.message, Span(max(0, (line or 1) - 1)))
        return
    faults = object_faults(kind, members, default_time=_EPOCH)
    for where, reason in faults:
        name = ".".join(map(str, where))
        message = f"{name}: {reason}" if name else reason
        yield FileFault("error", "broken_object", message, spans.of(where))
    if faults:
        return
    if members["id"] != identifier:
        message = f"id: expected {identifier}, as its file is named"
        yield FileFault("error", "broken_object", message, spans.of(("id",)))
        return
    knowledge_object = parse_object(kind, members, default_time=_EPOCH)
    if isinstance(knowledge_object, Proposal) and kind is Kind.PENDING:
        yield from _proposal_faults(snapshot, knowledge_object, spans, now)
    known = _known(snapshot, kind, knowledge_object.members())
    for finding in lint_object(kind, knowledge_object.members(), known, now):
        span = spans.of(finding.member)
        yield FileFault(finding.severity, finding.code, finding.message, span)


def _proposal_faults(
    snapshot: KnowledgeSnapshot, proposal: Proposal, spans: MemberSpans, now: datetime
) -> Iterator[FileFault]:
    """Yield why the review gate would refuse to approve a proposal."""
    try:
        kind = ProposalKind(proposal.kind)
    except ValueError:
        message = f"kind: {proposal.kind} cannot be approved here"
        yield FileFault("info", "unknown_kind", message, spans.of(("kind",)))
        return
    knowledge = KnowledgeBase(snapshot.path)
    if knowledge.exists(Kind.DECISION, proposal.id):
        return  # it is what it is in decided/
    try:
        errors = ReviewGate(knowledge).approval_errors(kind, proposal, now)
    except VibesError as error:
        errors = [error.message]
    for message in errors:
        member = _MEMBER.match(message)
        path: MemberPath = ("payload", member[1]) if member is not None else ("payload",)
        cited = proposal.payload.get(member[1]) if member is not None else None
        if isinstance(cited, list):
            last = message.rpartition(" ")[2]
            path = (*path, cited.index(last)) if last in cited else path
        yield FileFault("error", "cannot_be_approved", message, spans.of(path))


def _known(snapshot: KnowledgeSnapshot, kind: Kind, members: dict[str, Any]) -> KnownObjects:
    """Return the objects of a knowledge base, with one as its open text has it."""
    objects = {
        object_kind: ChainMap({members["id"]: members} if object_kind is kind else {}, dict(stored))
        for object_kind, stored in snapshot.objects.items()
        if object_kind in {Kind.CLAIM, Kind.EVIDENCE}
    }
    ids = {object_kind: stored.keys() for object_kind, stored in snapshot.objects.items()}
    return KnownObjects(
        objects.get(Kind.CLAIM, {}), objects.get(Kind.EVIDENCE, {}), ids, snapshot.approvals
    )


def _config_faults(text: str) -> Iterator[FileFault]:
    try:
        members = load_settings(text.encode("utf-8", "surrogatepass"), "config.yaml")
    except InvalidObject as error:
        line = error.line if isinstance(error, InvalidYaml) else None
        yield FileFault("error", "broken_config", error.message, Span(max(0, (line or 1) - 1)))
        return
    spans = MemberSpans(text)
    try:
        config = KnowledgeConfig.model_validate(members if isinstance(members, dict) else {})
    except ValidationError as error:
        for fault in error.errors(include_url=False, include_input=False):
            message = f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"
            yield FileFault("error", "broken_config", message, spans.of(fault["loc"]))
        return
    if config.review.approver_role not in {"human", "trusted-agent"}:
        message = f"review.approver_role: unknown role {config.review.approver_role!r}"
        span = spans.of(("review", "approver_role"))
        yield FileFault("warning", "unknown_role", message, span)


def _log_faults(knowledge: KnowledgeBase) -> Iterator[FileFault]:
    try:
        fault, _ = check_chain(knowledge)
    except VibesError as error:
        yield FileFault("error", "audit_log_unreadable", error.message, Span(0))
        return
    if fault is not None:
        span = Span(fault.line - 1)
        yield FileFault("error", "audit_chain_broken", fault.reason, span)
