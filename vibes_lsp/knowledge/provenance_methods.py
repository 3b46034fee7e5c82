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
    context: MethodContext, asked: parameters.ProvenanceReportParameters
) -> dict[str, Any]:
    """Return which claims cite lines that an AI wrote, and which rest on unreviewed ones."""
    snapshot = read_snapshot(context.knowledge.path)
    if asked.claim_id is not None and snapshot.claim(asked.claim_id) is None:
        raise UnknownId(f"no claim {asked.claim_id[:60]!r}", hint="see `vibes kb list claims`")
    found = authorship_of_claims(snapshot, asked.claim_id)
    return {
        "counts": {
            "claims": len(found),
            "ai_written": sum(each.is_ai_written for each in found),
            "rests_on_unreviewed": len(resting(found)),
        },
        "claims": [each.as_json() for each in found if each.is_ai_written],
    }


def register_provenance(
    context: MethodContext, asked: parameters.RegisterProvenanceParameters
) -> dict[str, Any]:
    """Capture a session, context entry or annotation of the audit trail as a source."""
    trail = open_trail(find_audit_dir(context.knowledge.project))
    source = trail_source(trail, asked.id)
    result = register_source(
        context.knowledge,
        source.content,
        locator=source.locator,
        actor=context.actor,
        now=context.now(),
        source_type=source.type,
        title=source.title,
        media_type="application/jsonl",
        metadata=dict(source.metadata),
    )
    return {**result.source.members(), "deduplicated": not result.is_new}
