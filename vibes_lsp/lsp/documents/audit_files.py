"""Positions in the files of a trail: what is named there, its hover, and where it opens.

Only the line of the position is read, and of a long line only what is near: a log may have a
gigabyte, and a manifest may be one line.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final

from lsprotocol import types

from vibes_lsp.anchors.location import State
from vibes_lsp.anchors.text import encode
from vibes_lsp.errors import AmbiguousId, MalformedJson, UnknownId
from vibes_lsp.lsp.documents.description import Description
from vibes_lsp.lsp.documents.rendering import SEPARATOR, Markup
from vibes_lsp.lsp.protocol.conversion import (
    Encoding,
    place_of_lines,
    range_in_line,
    to_characters,
    uri_in,
)
from vibes_lsp.lsp.protocol.open_documents import Document
from vibes_lsp.lsp.state.projects import Project
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.lsp.state.snapshots import DocumentSnapshot
from vibes_lsp.model.ages import describe_age
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.hashing import annotation_id, sha256
from vibes_lsp.model.members import text
from vibes_lsp.model.paths import can_be_in_project
from vibes_lsp.model.record_schema import REFERENCES
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.model.vocabulary import ContextType, RecordType
from vibes_lsp.placing.placements import Placement
from vibes_lsp.reports.placements import describe_location
from vibes_lsp.reports.provenance_graph import GraphNode, GraphReader
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import read_file
from vibes_lsp.store.journal import journal_files
from vibes_lsp.store.manifest import Manifest
from vibes_lsp.trail.lookup import LookupResult, look_up_exact
from vibes_lsp.trail.records import read_edge
from vibes_lsp.trail.reviews import read_reviews
from vibes_lsp.trail.trail import Trail

MAX_FILES: Final = 200
"""Files that are located for one answer."""
_MAX_TOKEN: Final = 300
_MAX_RECORD: Final = 256 << 10
_MAX_ENTRY_LINES: Final = 200
_MAX_LINKED_LINES: Final = 2_000
_MAX_LINKED_LINE: Final = 64 << 10
_MAX_LOG_LINES: Final = 20_000
_HEAD: Final = 2_000
"""Characters of a record in which its type and ids are looked for, before it is decoded."""
_MAX_MEMBER: Final = 60
_MAX_TEXT: Final = 400
_MAX_LINES: Final = 8
_MAX_NAME: Final = 60
_MAX_EDITS: Final = 100
_ID: Final = 8
_BETWEEN: Final = re.compile(r"[\s:,{}\[\]]*")
"""What is between two strings."""
_MEMBER: Final = re.compile(r'"(\w{1,40})"\s*:\s*$')
_ENTRY: Final = re.compile(r'"([0-9a-f]{64})"\s*:\s*\{')
_LINKED: Final = re.compile(
    r'"(?P<member>\w+_(?:hash|ref|id)|file_path)"\s*:\s*"(?P<value>[^"\\]{1,300})"'
)
_OUTLINED: Final = re.compile(
    r'"(?P<member>type|session_id|annotation_id)"\s*:\s*"(?P<value>[^"\\]{1,300})"'
)
_NO_LINKS: Final = frozenset(
    {"annotation_id", "anchor_hash", "file_content_hash", "commit_hash", "session_id"}
)
"""Members whose value is the record's own id, of something outside, or in nearly every record."""


@dataclass(frozen=True, slots=True)
class AuditPosition:
    """A position in an audit file that is open.

    Attributes:
        project: The project, refreshed.
        name: The name of the file, such as `annotations.jsonl`.
        token: The text of the JSON string at the position, if it is an id, a hash or a path.
        member: The member whose value that is; None for a name.
        range: Where the token is; the line without one.
        own: The id of the record or entry that the position is in.
    """

    project: Project
    name: str
    token: str | None
    member: str | None
    range: types.Range
    own: str | None

    @property
    def trail(self) -> Trail:
        """The trail."""
        return self.project.snapshot.trail

    @property
    def named(self) -> LookupResult | None:
        """What the token names, if that is in the trail."""
        return None if self.token is None else found_by_id(self.trail, self.token)

    @property
    def subject(self) -> LookupResult | None:
        """What the token names, else the record or entry around it."""
        return self.named or (None if self.own is None else found_by_id(self.trail, self.own))

    @property
    def node(self) -> GraphNode | None:
        """The subject in the graph of provenance."""
        subject = self.subject
        return None if subject is None else GraphReader(self.trail).root(subject)


def found_by_id(trail: Trail, identifier: str) -> LookupResult | None:
    """Return what a whole id names; None if nothing, or several things."""
    try:
        return look_up_exact(trail, identifier)
    except (UnknownId, AmbiguousId):
        return None


def audit_position(ls: Server, uri: str, position: types.Position) -> AuditPosition | None:
    """Return what is at a position of an audit file; None for other documents."""
    audit_file, document = ls.projects.audit_file(uri), ls.documents.get(uri)
    if audit_file is None or document is None:
        return None
    project, name = audit_file
    line = next(iter(document.lines(position.line + 1, position.line + 1)), "")
    encoding = ls.documents.encoding
    column = to_characters(line, position.character, encoding)
    token, member, first, last = _token_at(line, column)
    span = range_in_line(line, position.line, (first, last) if token else (0, 0), encoding)
    if name == project.directory.log.name:
        own = _own_id(line)
    elif name == project.directory.manifest.name:
        above = document.lines(max(1, position.line + 1 - _MAX_ENTRY_LINES), position.line)
        own = _entry_around(line[max(0, column - _MAX_RECORD) : column + 70], above)
    else:
        own = None
    return AuditPosition(project, name, token, member, span, own)


def references_in(document: Document) -> Iterator[tuple[int, str, re.Match[str]]]:
    """Yield what the first lines of an audit file name: the 0-based line, its text, and a match.

    The match has the groups `member` and `value`.
    """
    for number, line in enumerate(document.lines(1, _MAX_LINKED_LINES)):
        for match in _LINKED.finditer(line[:_MAX_LINKED_LINE]):
            if match["member"] not in _NO_LINKS:
                yield number, line, match


@dataclass(frozen=True, slots=True)
class OutlinedRecord:
    """What the text of a log says about a record without decoding it.

    Attributes:
        line: The 0-based line.
        type: Its type.
        session: Its session.
        id: Its id, if it is stored.
    """

    line: int
    type: str | None
    session: str | None
    id: str | None


def outline_log(document: Document) -> Iterator[OutlinedRecord]:
    """Yield the records on the first lines of a log; what begins late in a line is not found."""
    for number, line in enumerate(document.lines(1, _MAX_LOG_LINES)):
        members: dict[str, str] = {}
        for match in _OUTLINED.finditer(line, 0, _HEAD):
            members.setdefault(match["member"], match["value"])
        yield OutlinedRecord(
            number, members.get("type"), members.get("session_id"), members.get("annotation_id")
        )


def record_id(document: Document, line: int) -> str | None:
    """Return the id of the record on a 0-based line of a log; of a session record the session."""
    return _own_id("".join(document.lines(line + 1, line + 1)))


def _token_at(line: str, column: int) -> tuple[str | None, str | None, int, int]:
    """Return the string around a column, the member that it is the value of, and its columns."""
    before = line.rfind('"', max(0, column - _MAX_TOKEN), column)
    for opening in (before, column if line.startswith('"', column) else -1):
        start = opening + 1
        end = line.find('"', max(start, column), start + _MAX_TOKEN) if opening >= 0 else -1
        if end > start and not _BETWEEN.fullmatch(line, start, end):
            member = _MEMBER.search(line[max(0, opening - _MAX_MEMBER) : opening])
            return line[start:end], member and member[1], start, end
    return None, None, column, column


def _own_id(line: str) -> str | None:
    """Return the id of the record on a line of the log (R3); of a session record the session."""
    if len(line) > _MAX_RECORD:
        return None
    try:
        record = parse_object(line.encode("utf-8", "surrogatepass"))
    except MalformedJson:
        return None
    if record.get("type") == "session":
        return text(record, "session_id")
    return text(record, "annotation_id") or annotation_id(record)


def _entry_around(before: str, above: Sequence[str]) -> str | None:
    """Return the key of the entry that a position of the manifest is in."""
    for line in (before, *reversed(above)):
        keys = _ENTRY.findall(line[-_MAX_RECORD:])
        if keys:
            return str(keys[-1])
    return None


async def describe_reference(ls: Server, position: AuditPosition, markup: Markup) -> str | None:
    """Return what is at a position of an audit file; None if the trail has nothing there."""
    subject, node = position.subject, position.node
    if position.named is None and position.member in REFERENCES:
        return "not in this trail"
    if subject is None or node is None:
        return None
    parts = list(_about_record(position, subject, node, markup))
    if node.kind == "annotation":
        parts.append(await _edit(ls, position, node, markup))
    else:
        parts += _described(ls, GraphReader(position.trail), node, markup)
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
    snapshot, placement = placed
    where = markup.quote(snapshot.path, _MAX_TEXT)
    start, end = placement.located.start, placement.located.end
    now = f"Now at {where}:{start}-{end}" if start is not None else f"Not found in {where}"
    description = Description(snapshot, markup, datetime.now(UTC), ls.settings.show_prompts)
    digest = _digest(position, snapshot, placement, markup)
    return markup.paragraph_end.join(filter(None, (digest, now, description.mention(placement))))


def _digest(
    position: AuditPosition, snapshot: DocumentSnapshot, placement: Placement, markup: Markup
) -> str | None:
    """Return what a hash of a text or the id of a commit is, and whether the text is still so."""
    if position.member == "anchor_hash":
        origin = markup.quote(placement.moved_from, _MAX_TEXT)
        return f"Digest of the lines as recorded: {describe_location(placement, origin=origin)}"
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
    yield SEPARATOR.join(part for part in parts if part)
    is_hidden = node.type == ContextType.PROMPT and not ls.settings.show_prompts
    if not is_hidden and node.text.strip():
        yield markup.quotation(node.text, _MAX_TEXT, _MAX_LINES)
    edits = len(reader.edits_of(node))
    if edits:
        more = "at least " if edits == _MAX_EDITS else ""
        yield f"{more}{edits} {'edit' if edits == 1 else 'edits'} came of it"


class RecordPlaces:
    """Locates things of one trail for one answer.

    Args:
        ls: The server.
        project: The project, refreshed.

    Attributes:
        encoding: What columns count.
    """

    def __init__(self, ls: Server, project: Project) -> None:
        self._ls = ls
        self.encoding: Final = ls.documents.encoding
        self._project = project
        self._new_names = project.snapshot.new_names
        self._snapshots: dict[str, DocumentSnapshot | None] = {}

    def path_now(self, recorded: str) -> str:
        """Return the name that a file has now, by the recorded one."""
        path = self._new_names.get(recorded, recorded)
        if path != recorded and recorded not in self._project.snapshot.renamed:
            is_back = (self._project.directory.project / recorded).is_file()
            return recorded if is_back else path
        return path

    async def edit(self, node: GraphNode) -> tuple[DocumentSnapshot, Placement] | None:
        """Return where an edit is in the text of its file now; None if that cannot be read.

        Lines that moved to another file are found there if it is open.
        """
        own_path, edit = self.path_now(node.path or ""), None
        for path in (own_path, *self._project.snapshot.history.files):
            snapshot = await self.snapshot(path)
            placement = None if snapshot is None else snapshot.placement_with(node.id)
            if snapshot is None or placement is None:
                continue
            if placement.located.start is not None:
                return snapshot, placement
            if path == own_path:
                edit = snapshot, placement
        return edit

    async def lines_now(self, node: GraphNode) -> types.Location | None:
        """Return the lines of an edit now; None if they are lost, and for what is no edit."""
        edit = await self.edit(node) if node.kind == "annotation" else None
        return None if edit is None else location_now(*edit, self.encoding)

    async def snapshot(self, path: str) -> DocumentSnapshot | None:
        """Return a file of the project with its placements; None beyond `MAX_FILES`."""
        if path in self._snapshots:
            return self._snapshots[path]
        directory = self._project.directory
        uri = uri_in(directory.project, path) if can_be_in_project(path) else None
        if uri is None or len(self._snapshots) == MAX_FILES:
            return None
        await asyncio.sleep(0)  # other requests go first; a cancelled one ends here
        self._snapshots[path] = self._ls.projects.snapshot(uri)
        return self._snapshots[path]

    async def place(self, node: GraphNode) -> types.Location | None:
        """Return where to open a node; None for what the trail does not have."""
        if node.kind == "annotation":
            return await self.lines_now(node) or self.record(node)
        return self.record(node) if node.kind == "session" else await self.entry(node.id)

    async def named(self, lookup: LookupResult) -> types.Location | None:
        """Return where to open what an id names; of a record its own line, also if superseded."""
        if lookup.record is not None:
            return None if lookup.record.is_waiting else self._line(lookup.record.line)
        return await self.place(GraphReader(self._project.snapshot.trail).root(lookup))

    def record(self, node: GraphNode) -> types.Location | None:
        """Return the line of an edit's current record, or of a session's start."""
        log = self._project.snapshot.trail.log
        if node.kind == "session":
            session = log.session(node.id)
            record = next(iter((*session.starts, *session.ends)), None) if session else None
        else:
            record = log.by_id(node.id)
        return None if record is None or record.is_waiting else self._line(record.line)

    def _line(self, number: int) -> types.Location:
        return _line_of(self._project.directory.log.absolute().as_uri(), number)

    async def entry(self, key: str) -> types.Location | None:
        """Return the line of an entry in the manifest or its journal."""
        manifest, directory = self._project.snapshot.trail.manifest, self._project.directory
        return await self._ls.run_in_thread(partial(_find_entry, manifest, directory, key))


def location_now(
    snapshot: DocumentSnapshot, placement: Placement, encoding: Encoding
) -> types.Location | None:
    """Return the lines of a placement; None if they are lost."""
    start, end = placement.located.start, placement.located.end
    if start is None or end is None or placement.located.state == State.LOST:
        return None
    return types.Location(snapshot.uri, place_of_lines(snapshot.text.lines, start, end, encoding))


def _line_of(uri: str, line: int) -> types.Location:
    position = types.Position(line - 1, 0)
    return types.Location(uri, types.Range(position, position))


def _find_entry(manifest: Manifest, directory: AuditDir, key: str) -> types.Location | None:
    """Search the manifest, which never changes, and else the journal, in a thread."""
    line = manifest.line_of(key)
    if line is not None:
        return _line_of(directory.manifest.absolute().as_uri(), line)
    for path in journal_files(directory):
        journal = read_file(path) or b""
        at = journal.find(key.encode("utf-8", "surrogatepass"))
        if at >= 0:
            return _line_of(path.absolute().as_uri(), journal.count(b"\n", 0, at) + 1)
    return None
