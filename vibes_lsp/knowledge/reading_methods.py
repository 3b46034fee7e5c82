"""The `kb.*` methods that change no object: look up, search, verify, check."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import vibes_lsp
from vibes_lsp.errors import InvalidObject, UnknownId
from vibes_lsp.knowledge import method_parameters as parameters
from vibes_lsp.knowledge.audit_log import last_events, read_events
from vibes_lsp.knowledge.bundles import check_bundle
from vibes_lsp.knowledge.changes import changing
from vibes_lsp.knowledge.context_pack import build_context
from vibes_lsp.knowledge.health import HealthFinding, doctor, lint
from vibes_lsp.knowledge.method_context import Dialect, MethodContext
from vibes_lsp.knowledge.object_index import SEARCHED
from vibes_lsp.knowledge.objects import Kind
from vibes_lsp.knowledge.sources import (
    verify_sources,
)

_MAX_EVENT_IDS: Final = 1000
_COUNTED: Final = (Kind.CLAIM, Kind.PAGE, Kind.SOURCE, Kind.ENTITY, Kind.RELATION)


def capabilities(context: MethodContext, _: parameters.Parameters) -> dict[str, Any]:
    """Show what this implementation can do (vouch 9)."""
    return {
        "name": "vouch",
        "version": vibes_lsp.__version__,
        "spec": "vouch-0.1" if context.dialect is Dialect.SPEC else "akbp-0.1-compatible",
        "level": 3,
        "methods": list(context.methods),
        "retrieval": ["fts5", "substring"],
        "review_gated": True,
        "transports": ["mcp", "jsonl"],
        "knowledge_capability": {
            "kind": "local-cited-review-gated-kb",
            "stores_evidence": True,
            "audit_log": True,
        },
        "extensions": {
            "inline_evidence": ["kb.propose_claim", "kb.cite"],
            "provenance": ["kb.provenance_report", "kb.register_provenance"],
        },
    }


def status(context: MethodContext, _: parameters.Parameters) -> dict[str, Any]:
    """Count the objects and the proposals that wait."""
    context.index.refresh()
    number = context.index.counts()
    counts = {kind.value: number[kind] for kind in _COUNTED}
    waiting = sum(1 for _ in _waiting(context))
    last = last_events(context.knowledge, 1)
    return {
        "root": str(context.knowledge.path),
        "kb_dir": str(context.knowledge.path),
        "counts": counts,
        **counts,
        "evidence": number[Kind.EVIDENCE],
        "sessions": number[Kind.SESSION],
        "pending": waiting,
        "pending_proposals": waiting,
        "last_audit_at": last[0].get("created_at") if last else None,
        "index_present": True,
    }


def search(context: MethodContext, request: parameters.SearchParameters) -> Any:
    """Search claims, pages, entities and sources."""
    kinds = [kind for kind in SEARCHED if request.kinds is None or kind.noun in request.kinds]
    context.index.refresh(kinds)
    hits = [
        {
            "kind": hit.kind.noun,
            "id": hit.id,
            "snippet": hit.snippet,
            "score": hit.score,
            "backend": hit.backend,
        }
        for hit in context.index.search(request.query, kinds, request.limit, request.backend)
    ]
    if context.dialect is not Dialect.VOUCH_15:
        return hits
    return {"backend": hits[0]["backend"] if hits else "fts5", "hits": hits}


def build_pack(context: MethodContext, request: parameters.ContextParameters) -> dict[str, Any]:
    """Collect what is known for a task."""
    context.index.refresh(SEARCHED)
    return build_context(context.index, request, context.now())


def read_object(
    context: MethodContext, kind: Kind, request: parameters.ReadParameters
) -> dict[str, Any] | None:
    """Return an object; None if there is none (an error in dialects of the reference)."""
    try:
        knowledge_object = context.knowledge.read(kind, request.id)
    except InvalidObject:
        if context.knowledge.exists(kind, request.id):
            raise
        knowledge_object = None
    if knowledge_object is None and context.dialect is not Dialect.SPEC:
        raise UnknownId(f"no {kind.noun} {request.id}")
    return None if knowledge_object is None else knowledge_object.members()


def list_objects(context: MethodContext, kind: Kind, request: parameters.ListParameters) -> Any:
    """Return the objects of a kind that have the members of a filter."""
    context.index.refresh([kind])
    conditions = {**(request.model_extra or {}), **(request.filter or {})}
    stored = _waiting(context) if kind is Kind.PENDING else context.index.members(kind)
    matching = [members for members in stored if _matches(members, conditions)]
    end = None if request.limit is None else request.offset + request.limit
    items = matching[request.offset : end]
    if context.dialect is Dialect.VOUCH_15:
        return {"items": items, "total": len(matching)}
    return items


def list_pending(context: MethodContext, request: parameters.ListParameters) -> Any:
    """List the proposals that wait for a decision."""
    return list_objects(context, Kind.PENDING, request)


def source_verify(context: MethodContext, request: parameters.VerifyParameters) -> Any:
    """Compare sources with their captured bytes and files."""
    states = list(verify_sources(context.knowledge, None if request.id is None else [request.id]))
    with changing(context.knowledge, context.actor, context.now()) as change:
        details = {"ok": all(state.is_stored for state in states)}
        change.record("source.verify", [state.id for state in states][:_MAX_EVENT_IDS], details)
    if context.dialect is not Dialect.SPEC:
        return [
            {
                "source_id": state.id,
                "title": state.title,
                "stored_ok": state.is_stored,
                "external_status": state.file_state,
                "note": state.reason or None,
            }
            for state in states
        ]
    issues = [
        {
            "id": state.id,
            "kind": "stored" if not state.is_stored else state.file_state,
            "detail": state.reason,
        }
        for state in states
        if state.reason
    ]
    return {"ok": all(state.is_stored for state in states), "issues": issues}


def lint_content(context: MethodContext, request: parameters.LintParameters) -> dict[str, Any]:
    """Report problems of the content."""
    context.index.refresh()
    return _findings(lint(context.index, context.now(), stale_days=request.stale_days))


def diagnose(context: MethodContext, _: parameters.Parameters) -> dict[str, Any]:
    """Check the whole knowledge base."""
    context.index.refresh()
    return _findings(doctor(context.knowledge, context.index, context.now()))


def audit(context: MethodContext, request: parameters.AuditParameters) -> Any:
    """Show the last events of the audit log."""
    conditions = request.filter or {}
    if not conditions:
        events = last_events(context.knowledge, request.tail)
    else:
        matching = (
            event
            for event in read_events(context.knowledge)
            if all(event.get(name) == conditions[name] for name in conditions)
        )
        events = list(deque(matching, maxlen=request.tail))
    if context.dialect is Dialect.VOUCH_15:
        return {"viewer": None, "events": events}
    return events


def export_check(context: MethodContext, request: parameters.BundleParameters) -> dict[str, Any]:
    """Check an archive against its manifest."""
    checked = check_bundle(bundle_path(context, request.path))
    return {
        "ok": not checked.issues,
        "issues": list(checked.issues),
        "bundle_id": checked.bundle_id,
        "files_checked": len(checked.contents),
    }


def import_check(context: MethodContext, request: parameters.BundleParameters) -> dict[str, Any]:
    """Show what an import of an archive would do."""
    checked = check_bundle(bundle_path(context, request.path), context.knowledge)
    return {
        "ok": not checked.issues,
        "new": list(checked.new),
        "conflict": list(checked.conflicting),
        "identical": list(checked.identical),
        "issues": list(checked.issues),
        "bundle_id": checked.bundle_id,
        "new_files": list(checked.new),
        "conflicts": list(checked.conflicting),
        "identical_files": len(checked.identical),
    }


def bundle_path(context: MethodContext, path: str) -> Path:
    """Return the path of a bundle; a relative one is in the project."""
    return context.knowledge.project / path


def _waiting(context: MethodContext) -> Iterator[dict[str, Any]]:
    """Yield the proposals that wait for a decision; the index is fresh."""
    for proposal in context.index.members(Kind.PENDING):
        if context.knowledge.is_waiting(proposal["id"]):
            yield proposal


def _matches(members: dict[str, Any], conditions: Mapping[str, Any]) -> bool:
    for name, value in conditions.items():
        if name == "node_id":
            if value not in (members.get("source"), members.get("target")):
                return False
            continue
        member = "type" if name in ("entity_type", "claim_type", "page_type") else name
        if member in members and members[member] != value:
            return False
    return True


def _findings(findings: list[HealthFinding]) -> dict[str, Any]:
    listed = sorted(findings, key=lambda finding: (finding.severity, finding.code, finding.message))
    severities = {"error": "error", "warning": "warn", "info": "warn"}
    return {
        "ok": not any(finding.severity == "error" for finding in listed),
        "issues": [
            {
                "id": finding.object_ids[0] if finding.object_ids else "",
                "kind": finding.code,
                "severity": severities[finding.severity],
                "message": finding.message,
            }
            for finding in listed
        ],
        "findings": [
            {
                "severity": finding.severity,
                "code": finding.code,
                "message": finding.message,
                "object_ids": list(finding.object_ids),
            }
            for finding in listed
        ],
        "counts": {
            severity: sum(finding.severity == severity for finding in listed)
            for severity in severities
        },
    }
