"""Export the current records of a trail as a new trail (`vibes export --current`, R7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from typing import Final

from vibes_lsp.anchors.location import State
from vibes_lsp.anchors.text import Text, encode
from vibes_lsp.errors import BrokenBlob, UnreadableFile, VibesError
from vibes_lsp.git.commit_resolution import CommitMethod
from vibes_lsp.git.project_files import read_source
from vibes_lsp.git.stored_files import StoredFiles
from vibes_lsp.model.canonical_json import canonical_json
from vibes_lsp.model.hashing import ANCHOR_MEMBERS, annotation_id, sha256
from vibes_lsp.model.members import JsonValue, Members, text
from vibes_lsp.model.record_schema import RECORD_SCHEMAS
from vibes_lsp.model.vocabulary import Action, EdgeType, RecordType
from vibes_lsp.placing.placements import Placement
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.store.audit_dir import CONFIG_NAME, LOG_NAME, MANIFEST_NAME, AuditDir
from vibes_lsp.store.files import read_file
from vibes_lsp.store.manifest import Manifest, ManifestForm
from vibes_lsp.store.manifest_format import add_entries, to_one_line
from vibes_lsp.store.reasoning import blob_file
from vibes_lsp.trail.lineage import Lineage, created_lineages
from vibes_lsp.trail.lineage_commits import recorded_commit
from vibes_lsp.trail.records import Edge, LogRecord, read_edge
from vibes_lsp.trail.rows import LogLineKind
from vibes_lsp.trail.trail import Trail

SOURCE_ID: Final = "source_annotation_id"
"""Member of a record that was changed by the export: the id of the current record in the trail."""
SOURCE_ACTION: Final = "source_action"
"""Member of a record exported as a creation though it was none: its action."""
_PLACE: Final = ("file_path", "line_start", "line_end")
_RISK: Final = ("risk_score", "risk_factors")
_NO_BLOBS: Final = frozenset(
    {LOG_NAME, MANIFEST_NAME, CONFIG_NAME, ".gitignore", ".gitattributes", "wal", "spool"}
)
"""The trail's own files, and the folders of what git ignores: an export must have none as blobs."""


class ExclusionReason(StrEnum):
    """Why an annotation is not exported.

    Attributes:
        HISTORY: Another edit replaced it, or it has no lines left.
        REPEATED: An equal annotation is exported.
        LOST: Its text is gone.
        CONTRADICTED: Git had its lines before the edit.
        GUESSED: Its place is uncertain.
        ABSENT: Its file is not in the checkout.
    """

    HISTORY = "history"
    REPEATED = "repeated"
    LOST = "lost"
    CONTRADICTED = "contradicted"
    GUESSED = "guessed"
    ABSENT = "absent"


@dataclass(slots=True)
class CurrentRecords:
    """The current annotations of a trail.

    Attributes:
        records: The records of each lineage, by the log line where the lineage starts. Several if
            its lines are no longer contiguous.
        ids: The ids of these records by the id of every record of the lineage.
        excluded: Why other lineages are not exported, by the id of their first record.
        standing: The ids of the records of lineages of which others replaced some lines only.
    """

    records: dict[int, list[Members]] = field(default_factory=dict)
    ids: dict[str, tuple[str, ...]] = field(default_factory=dict)
    excluded: dict[str, ExclusionReason] = field(default_factory=dict)
    standing: set[str] = field(default_factory=set)

    def add(self, lineage: Lineage, records: list[Members]) -> None:
        """Add the records of a lineage."""
        identified = [
            record
            if "annotation_id" in record
            else {**record, "annotation_id": annotation_id(record)}
            for record in records
        ]
        self.records[lineage.first.line] = identified
        for hunk in lineage.hunks:
            self.excluded.pop(hunk.id, None)  # excluded from a file it has left
        if lineage.superseded_by:
            self.standing.update(lineage.ids)
        self.ids.update(
            dict.fromkeys(lineage.ids, tuple(str(record["annotation_id"]) for record in identified))
        )


def current_records(locator: ProjectLocator) -> CurrentRecords:
    """Return the current annotations of the checkout, or of the log if no annotated file exists."""
    locator.resolve_commits_in()
    lineages = locator.trail.lineages()
    creation_ids = created_lineages(lineages)
    current = CurrentRecords()
    files = locator.annotated_files()
    stored = StoredFiles(locator.trail.directory.project)
    filters = stored.filters(files)
    for path in files:
        try:
            text = read_source(locator.trail.directory.project, path)
        except UnreadableFile:
            continue
        is_hidden = path in filters and stored.hiding_filter(path, text) is not None
        _add_file(current, locator, path, text, creation_ids, is_hidden=is_hidden)
    for lineage in lineages:
        if lineage.first.id in current.ids or lineage.first.id in current.excluded:
            continue
        if lineage.superseded_by:
            current.excluded[lineage.first.id] = ExclusionReason.HISTORY
        elif files and lineage.action != Action.DELETE:
            current.excluded[lineage.first.id] = ExclusionReason.ABSENT
        else:
            current.add(
                lineage, [_export_record(lineage, _current_members(lineage, locator, creation_ids))]
            )
    return current


def _add_file(
    current: CurrentRecords,
    locator: ProjectLocator,
    path: str,
    text: Text,
    creation_ids: frozenset[str],
    *,
    is_hidden: bool,
) -> None:
    """Add the annotations of one file, without anchors if git does not store its text."""
    placements = locator.locate(path, text)
    ranges_by_lineage = _exported_ranges(placements, creation_ids)
    for placement in placements:
        for duplicate in placement.shown.duplicates:
            current.excluded[duplicate.first.id] = ExclusionReason.REPEATED
        reason = _exclusion_reason(placement)
        ranges = ranges_by_lineage.get(placement.lineage.first.id)
        if reason is None and ranges:
            records = [
                _located_record(placement, line_range, text, locator, creation_ids)
                for line_range in ranges
            ]
            if is_hidden:
                no_anchors: Members = dict.fromkeys(ANCHOR_MEMBERS)
                records = [
                    _export_record(placement.lineage, {**record, **no_anchors})
                    for record in records
                ]
            current.add(placement.lineage, records)
        elif placement.lineage.first.line not in current.records:
            for hunk in placement.lineage.hunks:
                current.excluded[hunk.id] = reason or ExclusionReason.HISTORY


def _exclusion_reason(placement: Placement) -> ExclusionReason | None:
    if placement.is_history:
        return ExclusionReason.HISTORY
    if placement.located.is_contradicted and not placement.lineage.is_review:
        return ExclusionReason.CONTRADICTED
    if placement.is_guess:
        return ExclusionReason.GUESSED
    return (
        ExclusionReason.LOST
        if placement.located.state is State.LOST and placement.lineage.action != Action.DELETE
        else None
    )


def _exported_ranges(
    placements: Iterable[Placement], creation_ids: frozenset[str]
) -> dict[str, list[tuple[int, int] | None]]:
    """Return the lines of each placement by its lineage's first id; None: as recorded.

    A creation is split around lines of a person or of another creation, so that a sum over
    creations counts every line once. Lines between its own that another edit changed are among
    them; of several creations around such a line the latest has it.
    """
    exported = (placement for placement in placements if _exclusion_reason(placement) is None)
    known = sorted(exported, key=lambda placement: placement.lineage.rank)
    written = {line for placement in known for line in _ai_lines(placement)}
    created: dict[int, str] = {}
    owned: dict[int, str] = {}
    for placement in known:
        identifier = placement.lineage.first.id
        if identifier in creation_ids and (own := list(_ai_lines(placement))):
            around = range(own[0], own[-1] + 1)
            created.update(dict.fromkeys(written.intersection(around), identifier))
            owned.update(dict.fromkeys(own, identifier))
    created.update(owned)
    return {
        placement.lineage.first.id: _ranges(placement, created, creation_ids) for placement in known
    }


def _ranges(
    placement: Placement, created: Mapping[int, str], creation_ids: frozenset[str]
) -> list[tuple[int, int] | None]:
    located, identifier = placement.located, placement.lineage.first.id
    unplaced = (
        placement.shown.is_placeholder
        or placement.current.type != RecordType.LINE
        or placement.lineage.action == Action.DELETE
    )
    if unplaced or located.start is None or located.end is None:
        return [None]
    if identifier not in creation_ids:
        return [(located.start, located.end)]
    own = enumerate(
        line for line in range(located.start, located.end + 1) if created.get(line) == identifier
    )
    runs = (list(run) for _, run in groupby(own, key=lambda pair: pair[1] - pair[0]))
    return [(run[0][1], run[-1][1]) for run in runs]


def _ai_lines(placement: Placement) -> Iterator[int]:
    """Yield the lines that a placement owns."""
    for start, end in placement.owned_ranges:
        yield from range(start, end + 1)


def _located_record(
    placement: Placement,
    lines: tuple[int, int] | None,
    text: Text,
    locator: ProjectLocator,
    creation_ids: frozenset[str],
) -> Members:
    members = _current_members(placement.lineage, locator, creation_ids)
    if placement.moved_from is not None and placement.lineage.action != Action.DELETE:
        members["file_path"] = placement.path
    if lines is None:
        return _export_record(placement.lineage, members)
    located = placement.located
    members |= {"line_start": lines[0], "line_end": lines[1]}
    if lines != (located.start, located.end):
        # These are of the whole range.
        members |= {"anchor_context": None, "anchor_hash": None, "line_hashes": None}
    if any(placement.lineage.first.members.get(name) != members.get(name) for name in _PLACE):
        # The hash asserts that the lines are right.
        members["file_content_hash"] = sha256(encode(text.content)) if located.sure else None
    return _export_record(placement.lineage, members)


def _current_members(
    lineage: Lineage, locator: ProjectLocator, creation_ids: frozenset[str]
) -> Members:
    """Return the current values of a lineage's members."""
    # A review is not code to be summed (R6).
    risk = dict.fromkeys(_RISK) if lineage.is_review else lineage.current.members
    members: Members = {
        name: risk[name] for name in _RISK if lineage.current.members.get(name) is not None
    }
    members |= {
        name: lineage.current.members[name] for name in _PLACE if name in lineage.current.members
    }
    commit = recorded_commit(lineage)
    if (
        commit is None
        and (resolved := locator.resolved_commits.get(lineage.first.id)) is not None
        and resolved.method is CommitMethod.LOG
    ):
        commit = resolved.commit  # an inferred one is a guess
    members["commit_hash"] = commit
    members["action"] = lineage.action or lineage.first.text("action")
    if lineage.first.id in creation_ids and lineage.action != Action.CREATE:
        members |= {"action": Action.CREATE.value, SOURCE_ACTION: lineage.action}
    return members


def _export_record(lineage: Lineage, members: Members) -> Members:
    """Return the first record with current values; the same object if none differs."""
    first = lineage.first.members
    changed = {name: value for name, value in members.items() if first.get(name) != value}
    if not changed:
        return first
    unchanged: dict[str, JsonValue] = {
        name: value for name, value in first.items() if name != "annotation_id"
    }
    return {**unchanged, **changed, SOURCE_ID: lineage.current.id}


_RECORDS: Final = (*RecordType, "other")


def _columns_record() -> Members:
    """Return the first record of an exported log, with every member of the standard's records.

    Programs that infer columns and types from the first records (DuckDB's `read_json_auto`) then
    know all of them. Readers skip its type, which is not the standard's (RFC 12.2), and no query of
    RFC 10 selects it.
    """
    standard = {
        member.name
        for schema in RECORD_SCHEMAS.values()
        for member in schema.members
        if not member.is_extension
    } - {"annotation_id"}
    factor: Members = {"signal": "", "value": 0.5, "weight": 0.5, "reason": ""}
    typed: Members = {
        "line_start": 0,
        "line_end": 0,
        "risk_score": 0.5,
        "risk_factors": [factor],
        "delegated_files": [""],
        "metadata": {"reason": ""},
        "timestamp": "1970-01-01T00:00:00.000Z",
        "commit_hash": "",
    }
    references: Members = {
        name: None for name in standard if name.endswith("_hash")
    }  # any text would be a dangling reference
    members: Members = {
        "type": "columns",
        **dict.fromkeys(sorted(standard), ""),
        **references,
        **typed,
    }
    return {**members, "annotation_id": annotation_id(members)}


COLUMNS: Final = _columns_record()


@dataclass(slots=True)
class CurrentTrail:
    """The exported trail.

    Attributes:
        records: The log's records, in order.
        changed: Number of line and function records that differ from the trail's.
        entries: The stored bytes of the context entries that the records refer to.
        blobs: External entries, by path below the audit directory.
        left_out: Number of annotations left out, by reason.
        edges_left_out: Number of edges from or to one of these.
        missing_blobs: Blobs that are referred to and cannot be read.
    """

    records: list[Members]
    changed: int = 0
    entries: dict[str, bytes] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)
    left_out: Counter[ExclusionReason] = field(default_factory=Counter)
    edges_left_out: int = 0
    missing_blobs: list[str] = field(default_factory=list)

    def as_json(self) -> Members:
        """Return the counts."""
        kinds = Counter(
            kind if (kind := text(record, "type")) in set(RecordType) else "other"
            for record in self.records
        )
        return {
            "records": {kind: kinds[kind] for kind in _RECORDS},
            "changed": self.changed,
            "entries": len(self.entries),
            "blobs": len(self.blobs),
            "leftOut": {
                **{reason.value: self.left_out[reason] for reason in ExclusionReason},
                "edges": self.edges_left_out,
            },
            "missingBlobs": list(self.missing_blobs),
        }

    def files(self, config: bytes | None) -> dict[str, bytes]:
        """Return the files of the audit directory by path; the log starts with `COLUMNS`."""
        made = {
            LOG_NAME: b"".join(
                canonical_json(record) + b"\n" for record in (COLUMNS, *self.records)
            ),
            MANIFEST_NAME: add_entries(Manifest(ManifestForm.ABSENT), self.entries),
            **self.blobs,
        }
        return made if config is None else {CONFIG_NAME: config, **made}


def current_trail(locator: ProjectLocator) -> CurrentTrail:
    """Build the trail of current records and of what relates to them.

    Raises:
        VibesError: The manifest cannot be read.
    """
    trail = locator.trail
    if trail.manifest.problem is not None:
        raise VibesError(
            f"manifest.json cannot be read: {trail.manifest.problem.message}",
            hint="run `vibes check` for details; nothing was exported",
        )
    current = current_records(locator)
    exported = CurrentTrail([], left_out=Counter(current.excluded.values()))
    ids = dict(current.ids)
    seen: set[str] = set()
    for record in trail.log.records_of(
        *(kind for kind in LogLineKind if kind not in (LogLineKind.BLANK, LogLineKind.BROKEN))
    ):
        if record.id in seen:
            continue
        seen.add(record.id)
        if record.is_annotation:
            exported.records += current.records.get(record.line, ())
        elif record.type == RecordType.EDGE:
            edge = read_edge(record)
            # a query would leave the lines out that still stand
            is_denied = edge.type == EdgeType.SUPERSEDES and edge.target in current.standing
            edges = [] if is_denied else list(_rewrite_edge(edge, ids, trail))
            ids[record.id] = tuple(str(edge["annotation_id"]) for edge in edges)
            exported.records += edges
            exported.edges_left_out += not edges
        else:
            exported.records.append(record.members)
    exported.changed = sum(SOURCE_ID in record for record in exported.records)
    _add_entries(exported, trail)
    return exported


def _rewrite_edge(edge: Edge, ids: dict[str, tuple[str, ...]], trail: Trail) -> Iterator[Members]:
    """Yield an edge between current records; the same object if its ends keep their ids."""
    for source in _current_ids(edge.source, ids, trail):
        for target in _current_ids(edge.target, ids, trail):
            if source == target:  # records of one lineage
                continue
            if (source, target) == (edge.source, edge.target):
                yield _with_id(edge.record)
                continue
            names = {
                "source_ref": source,
                "source_id": source,
                "target_ref": target,
                "target_id": target,
            }
            members = {
                name: names.get(name, value)
                for name, value in edge.record.members.items()
                if name != "annotation_id"
            }
            yield {**members, "annotation_id": annotation_id(members)}


def _with_id(record: LogRecord) -> Members:
    return (
        record.members
        if "annotation_id" in record.members
        else {**record.members, "annotation_id": record.id}
    )


def _current_ids(identifier: str, ids: dict[str, tuple[str, ...]], trail: Trail) -> tuple[str, ...]:
    """Return the current ids of an edge's end; none if its annotation is not exported."""
    if identifier in ids:
        return ids[identifier]
    record = trail.log.by_id(identifier)
    return () if record is not None and record.is_annotation else (identifier,)


def _add_entries(exported: CurrentTrail, trail: Trail) -> None:
    for record in exported.records:
        for value in record.values():
            if isinstance(value, str) and value not in exported.entries and value in trail.manifest:
                exported.entries[value] = to_one_line(trail.manifest.raw(value))
                _add_blob(exported, trail.manifest.entry(value) or {}, trail.directory)


def _add_blob(exported: CurrentTrail, entry: Members, directory: AuditDir) -> None:
    path = text(entry, "blob_path")
    if path is None:
        return
    try:
        file = blob_file(path, directory)
        content = read_file(file)
        place = file.resolve().relative_to(directory.path.resolve()).as_posix()
    except (BrokenBlob, UnreadableFile):
        content, place = None, path
    if (
        content is None
        or place.partition("/")[0].casefold() in _NO_BLOBS
        or place.casefold().startswith(directory.database.name)
        # a link: copied elsewhere, it would not be found
        or place != path.replace("\\", "/").removeprefix("./")
    ):
        exported.missing_blobs.append(path)
    else:
        exported.blobs[place] = content
