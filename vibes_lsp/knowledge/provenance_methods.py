"""The methods that join a knowledge base with the audit trail, an extension of the standard."""

from __future__ import annotations

from typing import Any

from vibes_lsp.errors import UnknownId
from vibes_lsp.knowledge import method_parameters as parameters
from vibes_lsp.knowledge.citations import read_snapshot
from vibes_lsp.knowledge.method_context import MethodContext
from vibes_lsp.knowledge.provenance_bridge import authorship_of_claims, open_trail, resting
from vibes_lsp.knowledge.provenance_sources import trail_source
from vibes_lsp.knowledge.sources import register_source
from vibes_lsp.store.audit_dir import find_audit_dir


def provenance_report(
    context: MethodContext, request: parameters.ProvenanceReportParameters
) -> dict[str, Any]:
    """Return which claims cite lines that an AI wrote, and which rest on unreviewed ones."""
    snapshot = read_snapshot(context.index)
    if request.claim_id is not None and snapshot.claim(request.claim_id) is None:
        raise UnknownId(f"no claim {request.claim_id[:60]!r}", hint="see `vibes kb list claims`")
    claims = authorship_of_claims(snapshot, request.claim_id)
    return {
        "counts": {
            "claims": len(claims),
            "ai_written": sum(claim.is_ai_written for claim in claims),
            "rests_on_unreviewed": len(resting(claims)),
        },
        "claims": [claim.as_json() for claim in claims if claim.is_ai_written],
    }


def register_provenance(
    context: MethodContext, request: parameters.RegisterProvenanceParameters
) -> dict[str, Any]:
    """Register a part of the audit trail as a source.

    The source has the records and entries as the trail has them, one JSON object a line: what a
    session was asked and what it wrote, or one decision.
    """
    trail = open_trail(find_audit_dir(context.knowledge.project))
    source = trail_source(trail, request.id)
    registered = register_source(
        context.knowledge,
        source.content,
        locator=source.locator,
        actor=context.actor,
        now=context.now(),
        type=source.type,
        title=source.title,
        media_type="application/jsonl",
        metadata=dict(source.metadata),
    )
    return {**registered.source.members(), "deduplicated": not registered.is_new}
