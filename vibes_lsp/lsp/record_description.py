"""What a hash, id or record in an audit file is, for a hover. Untrusted text is escaped."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from vibes_lsp.anchors.location import State
from vibes_lsp.anchors.text import encode
from vibes_lsp.lsp.audit_files import AuditPosition
from vibes_lsp.lsp.description import Description
from vibes_lsp.lsp.record_places import RecordPlaces
from vibes_lsp.lsp.rendering import SEPARATOR, Markup
from vibes_lsp.lsp.server import Server
from vibes_lsp.lsp.snapshots import DocumentSnapshot
from vibes_lsp.model.ages import describe_age
from vibes_lsp.model.hashing import sha256
from vibes_lsp.model.record_schema import REFERENCES
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.model.vocabulary import ContextType, RecordType
from vibes_lsp.placing.placements import Placement
from vibes_lsp.reports.provenance_graph import GraphNode, GraphReader
from vibes_lsp.trail.lookup import LookupResult
from vibes_lsp.trail.records import read_edge
from vibes_lsp.trail.reviews import read_reviews

_MAX_TEXT: Final = 400
_MAX_LINES: Final = 8
_MAX_NAME: Final = 60
_MAX_EDITS: Final = 100
_ID: Final = 8


async def describe_reference(ls: Server, position: AuditPosition, markup: Markup) -> str | None:
    """Return what is at a position of an audit file; None if the trail has nothing there."""
    subject = position.subject
    if position.named is None and position.member in REFERENCES:
        return "not in this trail"
    if subject is None:
        return None
    reader = GraphReader(position.trail)
    node = reader.root(subject)
    parts = list(_about_record(position, subject, node, markup))
    if node.kind == "annotation":
        parts.append(await _edit(ls, position, node, markup))
    else:
        parts += _described(ls, reader, node, markup)
    return markup.paragraph_end.join(parts)


def _about_record(
    position: AuditPosition, subject: LookupResult, node: GraphNode, markup: Markup
) -> Iterator[str]:
    """Yield what an edge says before its source is described, and what superseded a record."""
    record = subject.record
    if record is None:
        return
    if record.type != RecordType.EDGE:
        if record.is_annotation and record.id != node.id:
            yield f"Superseded by the record {markup.quote(node.id[:_ID], _ID)} of the same edit"
        return
    edge = read_edge(record)
    source, target = (
        f"{markup.words(kind, _MAX_NAME)} {markup.quote(end[:_ID], _ID)}"
        for kind, end in ((edge.source_type, edge.source), (edge.target_type, edge.target))
    )
    words = markup.words(edge.type.replace("_", " ") or "edge", _MAX_NAME)
    reason = f" ({markup.words(edge.reason, _MAX_NAME)})" if edge.reason else ""
    yield f"{source} {markup.strong(words)} {target}{reason}"
    for review in read_reviews([edge], position.trail.log.by_id):
        verdict = markup.strong(review.verdict or "reviewed")
        reviewer = markup.name(review.reviewer, _MAX_NAME) if review.reviewer else "unknown"
        note = f": {markup.sentence(review.note, _MAX_TEXT)}" if review.note else ""
        yield f"{verdict} by {reviewer}{note}"


async def _edit(ls: Server, position: AuditPosition, node: GraphNode, markup: Markup) -> str:
    """Return an edit as hovers in code show it, and where its lines are now."""
    placed = await RecordPlaces(ls, position.project).edit(node)
    if placed is None:
        where = markup.quote(node.path or "?", _MAX_TEXT)
        return markup.paragraph_end.join(
            (markup.quote(node.text, _MAX_TEXT), f"{where} cannot be read")
        )
    snapshot, found = placed
    where = markup.quote(snapshot.path, _MAX_TEXT)
    start, end = found.located.start, found.located.end
    now = f"Now at {where}:{start}-{end}" if start is not None else f"Not found in {where}"
    description = Description(snapshot, markup, datetime.now(UTC), ls.settings.show_prompts)
    digest = _digest(position, snapshot, found, markup)
    return markup.paragraph_end.join(filter(None, (digest, now, description.mention(found))))


def _digest(
    position: AuditPosition, snapshot: DocumentSnapshot, placement: Placement, markup: Markup
) -> str | None:
    """Return what a hash of a text or the id of a commit is, and whether the text is still so."""
    if position.member == "anchor_hash":
        is_same = placement.located.state in {State.EXACT, State.MOVED}
        since = "unchanged" if is_same else "the lines were edited"
        return f"Digest of the lines as recorded: {since} since"
    if position.member == "file_content_hash":
        is_same = sha256(encode(snapshot.text.content)) == position.token
        since = "unchanged" if is_same else "the file was changed"
        return f"Digest of the file as recorded: {since} since"
    if position.member == "commit_hash":
        subject = snapshot.subject(position.token or "")
        said = "" if subject is None else f": {markup.sentence(subject, _MAX_TEXT)}"
        return f"The commit that the lines came with{said}"
    return None


def _described(ls: Server, reader: GraphReader, node: GraphNode, markup: Markup) -> Iterator[str]:
    moment = parse_timestamp(node.timestamp or "")
    parts = [
        markup.strong(markup.name(node.type or node.kind, _MAX_NAME)),
        markup.name(node.author, _MAX_NAME) if node.author else "",
        describe_age(moment, datetime.now(UTC)) if moment is not None else "",
    ]
    yield SEPARATOR.join(each for each in parts if each)
    is_hidden = node.type == ContextType.PROMPT and not ls.settings.show_prompts
    if not is_hidden and node.text.strip():
        yield markup.quotation(node.text, _MAX_TEXT, _MAX_LINES)
    edits = len(reader.edits_of(node))
    if edits:
        more = "at least " if edits == _MAX_EDITS else ""
        yield f"{more}{edits} {'edit' if edits == 1 else 'edits'} came of it"
