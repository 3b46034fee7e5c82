"""The `kb.*` methods that write: sources, proposals, decisions, lifecycle, sessions, bundles."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from vibes_lsp.knowledge import method_parameters as parameters
from vibes_lsp.knowledge.bundles import export_bundle, import_bundle
from vibes_lsp.knowledge.changes import changing
from vibes_lsp.knowledge.drafts import ProposalDraft
from vibes_lsp.knowledge.lifecycle import Lifecycle, citations_of
from vibes_lsp.knowledge.method_context import Dialect, InvalidParameter, MethodContext
from vibes_lsp.knowledge.object_index import SEARCHED
from vibes_lsp.knowledge.objects import Kind
from vibes_lsp.knowledge.reading_methods import bundle_path
from vibes_lsp.knowledge.sessions import crystallize, end_session, start_session
from vibes_lsp.knowledge.sources import (
    RegisteredSource,
    register_file,
    register_source,
)


def register_text(context: MethodContext, request: parameters.RegisterParameters) -> dict[str, Any]:
    """Capture a text as a source."""
    return _registered(
        register_source(
            context.knowledge,
            request.content.encode("utf-8"),
            locator=request.locator or request.title or "inline",
            actor=context.actor,
            now=context.now(),
            tags=request.tags,
            **request.members(),
        )
    )


def register_source_from_path(
    context: MethodContext, request: parameters.RegisterPathParameters
) -> dict[str, Any]:
    """Register a file of the project as a source."""
    return _registered(
        register_file(
            context.knowledge,
            request.path,
            actor=context.actor,
            now=context.now(),
            **request.members(),
        )
    )


def propose(context: MethodContext, draft: ProposalDraft) -> dict[str, Any]:
    """Propose what the parameters say; a person decides on it."""
    proposed = context.gate.propose(draft, actor=context.actor)
    if proposed.errors and context.dialect is not Dialect.SPEC:
        raise InvalidParameter("; ".join(proposed.errors))
    is_valid = not proposed.errors
    return {
        "proposal_id": proposed.proposal.id if is_valid else None,
        f"{draft.kind}_id": proposed.object_id,
        "valid": is_valid,
        "errors": list(proposed.errors),
        "status": "pending" if is_valid else "invalid",
        "kind": proposed.proposal.kind,
        "dry_run": draft.dry_run,
    }


def approve(context: MethodContext, request: parameters.ApproveParameters) -> dict[str, Any]:
    """Approve a proposal."""
    decision = context.gate.approve(
        request.proposal_id,
        actor=context.actor,
        reason=request.reason,
        may_approve_own=context.may_approve_own,
    )
    noun = "" if decision.kind is None else decision.kind.noun
    return {
        "ok": True,
        "object_id": decision.object_id,
        "object_kind": noun,
        "kind": noun,
        "id": decision.object_id,
    }


def reject(context: MethodContext, request: parameters.RejectParameters) -> dict[str, Any]:
    """Reject a proposal."""
    context.gate.reject(request.proposal_id, actor=context.actor, reason=request.reason)
    return {"ok": True, "proposal_id": request.proposal_id, "status": "rejected"}


def supersede(context: MethodContext, request: parameters.SupersedeParameters) -> dict[str, Any]:
    """Mark a claim as superseded by another."""
    old, new = _lifecycle(context).supersede(request.old_id, request.new_id, request.reason)
    return {"ok": True, "old": old.id, "new": new.id, "status": old.status}


def contradict(context: MethodContext, request: parameters.ContradictParameters) -> dict[str, Any]:
    """Record that two claims contradict each other."""
    first, second, relation = _lifecycle(context).contradict(
        request.a_id, request.b_id, request.reason
    )
    return {"ok": True, "a": first.id, "b": second.id, "relation_id": relation}


def archive(context: MethodContext, request: parameters.ArchiveParameters) -> dict[str, Any]:
    """Archive a claim or page."""
    archived = _lifecycle(context).archive(request.id, request.reason)
    return {"ok": True, "id": archived.id, "status": archived.status}


def confirm(context: MethodContext, request: parameters.ArchiveParameters) -> dict[str, Any]:
    """Confirm that a claim still holds."""
    claim = _lifecycle(context).confirm(request.id)
    return {"ok": True, "id": claim.id, "last_confirmed_at": _iso(claim.last_confirmed_at)}


def cite(context: MethodContext, request: parameters.CiteParameters) -> Any:
    """Add citations to a claim, or return those that it has."""
    if request.evidence is None:
        return citations_of(context.knowledge, request.id)
    cited = request.evidence if isinstance(request.evidence, list) else [request.evidence]
    claim = _lifecycle(context).cite(request.id, cited)
    return {"ok": True, "id": claim.id, "evidence": claim.evidence}


def session_start(
    context: MethodContext, request: parameters.SessionStartParameters
) -> dict[str, Any]:
    """Start a session."""
    session = start_session(
        context.knowledge,
        actor=context.actor,
        now=context.now(),
        task=request.task,
        note=request.note,
    )
    return {"session_id": session.id, **session.members()}


def session_end(context: MethodContext, request: parameters.SessionEndParameters) -> dict[str, Any]:
    """End a session."""
    session = end_session(
        context.knowledge,
        request.session_id,
        actor=context.actor,
        now=context.now(),
        note=request.note,
    )
    return {"ok": True, "proposals": len(session.proposal_ids), **session.members()}


def crystallize_session(
    context: MethodContext, request: parameters.CrystallizeParameters
) -> dict[str, Any]:
    """Approve what a session proposed."""
    return crystallize(
        context.knowledge,
        context.gate,
        request.session_id,
        actor=context.actor,
        now=context.now(),
        with_page=request.write_summary_page and not request.no_page,
    )


def index_rebuild(context: MethodContext, _: parameters.Parameters) -> dict[str, Any]:
    """Rebuild the search index."""
    counts = context.index.rebuild()
    indexed = sum(counts[kind] for kind in SEARCHED)
    with changing(context.knowledge, context.actor, context.now()) as change:
        change.record("index.rebuild", [], {"indexed": indexed})
    return {
        "ok": True,
        "indexed": indexed,
        **{kind.value: counts[kind] for kind in (Kind.CLAIM, Kind.PAGE, Kind.ENTITY)},
    }


def write_bundle(context: MethodContext, request: parameters.ExportParameters) -> dict[str, Any]:
    """Write the knowledge base to an archive."""
    exported = export_bundle(
        context.knowledge,
        bundle_path(context, request.out),
        actor=context.actor,
        now=context.now(),
        with_decisions=not request.without_decided,
    )
    return {"path": request.out, "out": request.out, **exported}


def apply_bundle(context: MethodContext, request: parameters.ImportParameters) -> dict[str, Any]:
    """Import an archive."""
    return import_bundle(
        context.knowledge,
        bundle_path(context, request.path),
        actor=context.actor,
        now=context.now(),
        on_conflict=request.on_conflict,
    )


def _lifecycle(context: MethodContext) -> Lifecycle:
    return Lifecycle(context.knowledge, context.actor, context.now())


def _registered(registered: RegisteredSource) -> dict[str, Any]:
    return {**registered.source.members(), "deduplicated": not registered.is_new}


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")
