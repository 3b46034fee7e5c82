"""One record, entry or session with its edges, exactly as on disk (`vibes show`)."""

from __future__ import annotations

from vibes_lsp.index.lookup import LookupResult
from vibes_lsp.index.records import Edge
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.members import JsonValue, Members


def found_as_json(trail: Trail, found: LookupResult) -> Members:
    """Return `{kind, id, record or entry, edges: {out, in}}`.

    An annotation has the edges of its whole lineage (R7). A session also has `records`, its own.
    """
    out, into = _edges(trail, found)
    result: Members = {"kind": found.kind, "id": found.id}
    if found.kind == "record":
        result["record"] = found.record.members if found.record else None
    elif found.kind == "entry":
        result["entry"] = found.entry
    elif found.session is not None:
        records: list[JsonValue] = [
            record.members for record in (*found.session.starts, *found.session.ends)
        ]
        result["record"] = records[0] if records else None
        result["records"] = records
    result["edges"] = {
        "out": [edge.record.members for edge in out],
        "in": [edge.record.members for edge in into],
    }
    return result


def _edges(trail: Trail, found: LookupResult) -> tuple[list[Edge], list[Edge]]:
    if found.record is not None and found.record.is_annotation:
        lineage = trail.lineage_of(found.id)
        if lineage is not None:
            return trail.edges_of(lineage)
    return trail.log.edges(source=found.id), trail.log.edges(target=found.id)
