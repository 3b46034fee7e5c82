"""One record, entry or session with its edges, exactly as on disk (`vibes show`)."""

from __future__ import annotations

from vibes_lsp.errors import UnreadableFile
from vibes_lsp.git.project_files import read_source
from vibes_lsp.model.members import JsonValue, Members
from vibes_lsp.model.paths import normal_path
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.reports.placements import PlacementReport, describe_location, describe_review
from vibes_lsp.trail.lookup import LookupResult
from vibes_lsp.trail.records import Edge, LogRecord
from vibes_lsp.trail.trail import Trail


def found_as_json(trail: Trail, lookup: LookupResult) -> Members:
    """Return `{kind, id, record or entry, edges: {out, in}}`.

    An annotation has the edges of its whole lineage (R7). A session also has `records`, its own.
    """
    out, into = _edges(trail, lookup)
    members: Members = {"kind": lookup.kind, "id": lookup.id}
    if lookup.kind == "record":
        members["record"] = lookup.record.members if lookup.record else None
    elif lookup.kind == "entry":
        members["entry"] = lookup.entry
    elif lookup.session is not None:
        records: list[JsonValue] = [
            record.members for record in (*lookup.session.starts, *lookup.session.ends)
        ]
        members["record"] = records[0] if records else None
        members["records"] = records
    members["edges"] = {
        "out": [edge.record.members for edge in out],
        "in": [edge.record.members for edge in into],
    }
    return members


def _edges(trail: Trail, lookup: LookupResult) -> tuple[list[Edge], list[Edge]]:
    if lookup.record is not None and lookup.record.is_annotation:
        lineage = trail.lineage_of(lookup.id)
        if lineage is not None:
            return trail.edges_of(lineage)
    return trail.log.edges(source=lookup.id), trail.log.edges(target=lookup.id)


def current_state(locator: ProjectLocator, record: LogRecord) -> dict[str, str]:
    """Return where the lines of an annotation are `now`, and its `review`, as untrusted text.

    Args:
        locator: The project's locator.
        record: Any record of the annotation.
    """
    path = locator.names.current_name(normal_path(record.text("file_path") or ""))
    try:
        text = read_source(locator.trail.directory.project, path)
    except UnreadableFile as error:
        return {"now": error.message}
    matching = (
        placement for placement in locator.locate(path, text) if record.id in placement.lineage.ids
    )
    placement = next(matching, None)
    if placement is None:
        return {"now": f"not in {path}"}
    if placement.is_history:
        return {"now": f"replaced by {placement.lineage.superseded_by[0][:8]}"}
    start, end = placement.located.start, placement.located.end
    place = "" if start is None else f"{path}:{start}-{end}, "
    review = PlacementReport(locator.trail, text).review(placement)
    return {
        "now": f"{place}{describe_location(placement)}",
        "review": describe_review({"review": review}),
    }
