"""A trail of current records (`vibes export --current`, R7): which annotations are current, where they are, and the files to write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from typing import Final

from vibes_lsp.anchors.location import LineKind, State
from vibes_lsp.anchors.text import Text, encode
from vibes_lsp.database.schema import DERIVED_COLUMNS, RECORDS
from vibes_lsp.errors import BrokenBlob, UnreadableFile, VibesError
from vibes_lsp.history.commit_resolution import CommitMethod
from vibes_lsp.index.lineage import Lineage
from vibes_lsp.index.lineage_commits import recorded_commit
from vibes_lsp.index.log_columns import LogLineKind
from vibes_lsp.index.placements import Placement
from vibes_lsp.index.project_files import read_source
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.index.records import Edge, LogRecord, read_edge
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.canonical_json import canonical_json
from vibes_lsp.model.hashing import annotation_id, sha256
from vibes_lsp.model.members import JsonValue, Members, text
from vibes_lsp.model.vocabulary import Action, RecordType
from vibes_lsp.store.audit_dir import CONFIG_NAME, LOG_NAME, MANIFEST_NAME, AuditDir
from vibes_lsp.store.files import read_file
from vibes_lsp.store.manifest import Manifest, ManifestForm
from vibes_lsp.store.manifest_format import add_entries, to_one_line
from vibes_lsp.store.reasoning import blob_file

SOURCE_ID: Final = "source_annotation_id"
"""Member of a record that differs from the trail's own: the id of the current record there."""
SOURCE_ACTION: Final = "source_action"
"""Member of a record that is exported as a creation though the edit was none: what the edit was."""
_PLACE: Final = ("file_path", "line_start", "line_end")
_RISK: Final = ("risk_score", "risk_factors")


class ExclusionReason(StrEnum):
    """Why an annotation does not stand."""

    HISTORY = "history"
    REPEATED = "repeated"
    LOST = "lost"
    CONTRADICTED = "contradicted"
    GUESSED = "guessed"
    ABSENT = "absent"


@dataclass(slots=True)
class CurrentRecords:
    """The annotations of a trail that stand.

    Attributes:
        records: What stands for each lineage: usually one record, several where its lines are no longer in one piece; by the line
            of the log on which the lineage begins.
        ids: Ids of these records by the id of every record of the lineage.
        absent: Why other lineages do not stand, by the id of their first record.
    """

    records: dict[int, list[Members]] = field(default_factory=dict)
    ids: dict[str, tuple[str, ...]] = field(default_factory=dict)
    absent: dict[str, ExclusionReason] = field(default_factory=dict)

    def add(self, lineage: Lineage, records: list[Members]) -> None:
        """Note what stands for a lineage."""
        identified = [
            record
            if "annotation_id" in record
            else {**record, "annotation_id": annotation_id(record)}
            for record in records
        ]
        self.records[lineage.first.line] = identified
        self.absent.pop(lineage.first.id, None)  # a file it has left said so
        self.ids.update(
            dict.fromkeys(lineage.ids, tuple(str(record["annotation_id"]) for record in identified))
        )


def current_records(locator: ProjectLocator) -> CurrentRecords:
    """Return the annotations that stand in the checkout; where none of their files is there, those that are current by the log."""
    locator.prefetch()
    lineages = locator.trail.lineages()
    creating = _creating(lineages)
    found = CurrentRecords()
    files = locator.annotated_files()
    for path in files:
        try:
            text = read_source(locator.trail.directory.project, path)
        except UnreadableFile:
            continue
        _look(found, locator, path, text, creating)
    for lineage in lineages:
        if lineage.first.line in found.records or lineage.first.id in found.absent:
            continue
        if lineage.superseded_by:
            found.absent[lineage.first.id] = ExclusionReason.HISTORY
        elif files and lineage.action != Action.DELETE:
            found.absent[lineage.first.id] = ExclusionReason.ABSENT
        else:
            found.add(lineage, [_record(lineage, _facts(lineage, locator, creating))])
    return found


def _look(
    found: CurrentRecords, locator: ProjectLocator, path: str, text: Text, creating: frozenset[str]
) -> None:
    """Take in the annotations of one file."""
    placements = locator.locate(path, text)
    pieces = _pieces(placements, creating)
    for placement in placements:
        for repeat in placement.shown.duplicates:
            found.absent[repeat.first.id] = ExclusionReason.REPEATED
        reason = _absence(placement)
        ranges = pieces.get(placement.lineage.first.id)
        if reason is None and ranges:
            found.add(
                placement.lineage,
                [_placed(placement, each, text, locator, creating) for each in ranges],
            )
        elif placement.lineage.first.line not in found.records:
            found.absent[placement.lineage.first.id] = reason or ExclusionReason.HISTORY


def _absence(placement: Placement) -> ExclusionReason | None:
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


def _creating(lineages: Iterable[Lineage]) -> frozenset[str]:
    """Return the lineages, by the id of their first record, whose lines exist because an AI created them.

    These are the creations, and what has replaced a creation whole: without those, a sum over creations would lose its lines.
    """
    known = list(lineages)
    by_current = {lineage.current.id: lineage for lineage in known}
    creating: set[str] = set()
    pending = [lineage for lineage in known if lineage.action == Action.CREATE]
    while pending:
        lineage = pending.pop()
        if lineage.first.id not in creating:
            creating.add(lineage.first.id)
            newer = (by_current[each] for each in lineage.superseded_by)
            pending += [
                each for each in newer if not each.is_review and each.action != Action.DELETE
            ]
    return frozenset(creating)


def _pieces(
    placements: Iterable[Placement], creating: frozenset[str]
) -> dict[str, list[tuple[int, int] | None]]:
    """Return the lines of each placement, by the id of its lineage's first record; None stands for those it records.

    A creation is cut where a person's lines or a later creation stand in it, so that a sum over creations has every line once. What is
    not sure to be there takes no line from what is (R7).
    """
    standing_ones = (each for each in placements if _absence(each) is None)
    known = sorted(standing_ones, key=lambda each: (each.located.sure, each.lineage.rank))
    owning = [each for each in known if each.may_own_lines and each.located.may_own]
    written = {line for placement in owning for line in _written(placement)}
    created: dict[int, str] = {}
    for placement in owning:
        if placement.lineage.first.id in creating:
            own = range(placement.located.start or 1, (placement.located.end or 0) + 1)
            created.update(dict.fromkeys(written.intersection(own), placement.lineage.first.id))
    return {
        placement.lineage.first.id: _ranges(placement, created, creating) for placement in known
    }


def _ranges(
    placement: Placement, created: Mapping[int, str], creating: frozenset[str]
) -> list[tuple[int, int] | None]:
    located, identifier = placement.located, placement.lineage.first.id
    unplaced = (
        placement.shown.is_placeholder
        or placement.current.type != RecordType.LINE
        or placement.lineage.action == Action.DELETE
    )
    if unplaced or located.start is None or located.end is None:
        return [None]
    if identifier not in creating or not placement.may_own_lines:
        return [(located.start, located.end)]
    own = enumerate(
        line for line in range(located.start, located.end + 1) if created.get(line) == identifier
    )
    runs = (list(run) for _, run in groupby(own, key=lambda pair: pair[1] - pair[0]))
    return [(run[0][1], run[-1][1]) for run in runs]


def _written(placement: Placement) -> Iterator[int]:
    """Give the lines of a placement that are the AI's, as far as is known."""
    start, end, kinds = placement.located.start, placement.located.end, placement.located.kinds
    if start is not None and end is not None:
        yield from (
            line
            for line in range(start, end + 1)
            if not kinds or kinds[line - start] is not LineKind.HUMAN
        )


def _placed(
    placement: Placement,
    lines: tuple[int, int] | None,
    text: Text,
    locator: ProjectLocator,
    creating: frozenset[str],
) -> Members:
    facts = _facts(placement.lineage, locator, creating)
    if placement.moved_from is not None and placement.lineage.action != Action.DELETE:
        facts["file_path"] = placement.path
    if lines is None:
        return _record(placement.lineage, facts)
    located = placement.located
    facts |= {"line_start": lines[0], "line_end": lines[1]}
    if lines != (located.start, located.end):
        facts |= {"anchor_context": None, "anchor_hash": None}  # they are of the whole range
    if any(placement.lineage.first.members.get(name) != facts.get(name) for name in _PLACE):
        facts["file_content_hash"] = (
            sha256(encode(text.content)) if located.sure else None
        )  # it says that the lines are right
    return _record(placement.lineage, facts)


def _facts(lineage: Lineage, locator: ProjectLocator, creating: frozenset[str]) -> Members:
    """Return what is known of a lineage beyond its first record."""
    risk = (
        dict.fromkeys(_RISK) if lineage.is_review else lineage.current.members
    )  # a review is no code that sums may count (R6)
    facts: Members = {
        name: risk[name] for name in _RISK if lineage.current.members.get(name) is not None
    }
    facts |= {
        name: lineage.current.members[name] for name in _PLACE if name in lineage.current.members
    }
    commit = recorded_commit(lineage)
    if (
        commit is None
        and (derived := locator.resolved_commits.get(lineage.first.id)) is not None
        and derived.method is CommitMethod.LOG
    ):
        commit = derived.commit  # an inferred one is a guess, and would stand here as a fact
    facts["commit_hash"] = commit
    facts["action"] = lineage.action or lineage.first.text("action")
    if lineage.first.id in creating and lineage.action != Action.CREATE:
        facts |= {"action": Action.CREATE.value, SOURCE_ACTION: lineage.action}
    return facts


def _record(lineage: Lineage, facts: Members) -> Members:
    """Return the record of the edit with what is known now; the very record where that changes nothing."""
    first = lineage.first.members
    changed = {name: value for name, value in facts.items() if first.get(name) != value}
    if not changed:
        return first
    kept: dict[str, JsonValue] = {
        name: value for name, value in first.items() if name != "annotation_id"
    }
    return {**kept, **changed, SOURCE_ID: lineage.current.id}


_RECORDS: Final = (*RecordType, "other")


def _columns() -> Members:
    """Return the record that an exported log begins with: it has every member of the standard's records, with a value of its type.

    Programs that take columns and their types from the first records (DuckDB's `read_json_auto`) then know all of them. Readers
    skip its type, which is not the standard's (RFC 12.2), and no query of RFC 10 selects it.
    """
    standard = {name for _, names in RECORDS.values() for name in names} - {
        *DERIVED_COLUMNS,
        "annotation_id",
    }
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
    }  # any text would name no entry
    members: Members = {
        "type": "columns",
        **dict.fromkeys(sorted(standard), ""),
        **references,
        **typed,
    }
    return {**members, "annotation_id": annotation_id(members)}


COLUMNS: Final = _columns()


@dataclass(slots=True)
class CurrentTrail:
    """What is current of a trail.

    Attributes:
        records: The log's records, in its order.
        changed: How many line and function records differ from the trail's own.
        entries: The stored bytes of the context entries that the records name.
        blobs: External entries, by their path below the audit directory.
        left_out: How many annotations are not here, and why.
        edges_left_out: How many edges led to or from one of these.
        missing_blobs: Blobs that are named and cannot be read.
    """

    records: list[Members]
    changed: int = 0
    entries: dict[str, bytes] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)
    left_out: Counter[ExclusionReason] = field(default_factory=Counter)
    edges_left_out: int = 0
    missing_blobs: list[str] = field(default_factory=list)

    def as_json(self) -> Members:
        """Return the numbers."""
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
        """Return the files of the audit directory by their paths below it, the policy as it is; `COLUMNS` is the log's first line."""
        made = {
            LOG_NAME: b"".join(
                canonical_json(record) + b"\n" for record in (COLUMNS, *self.records)
            ),
            MANIFEST_NAME: add_entries(Manifest(ManifestForm.ABSENT), self.entries),
            **self.blobs,
        }
        return made if config is None else {CONFIG_NAME: config, **made}


def current_trail(locator: ProjectLocator) -> CurrentTrail:
    """Return what is current: a record for each annotation that stands, and whatever else the log holds about these.

    Raises:
        VibesError: The manifest cannot be read.
    """
    trail = locator.trail
    if trail.manifest.problem is not None:
        raise VibesError(
            f"manifest.json cannot be read: {trail.manifest.problem.message}",
            hint="`vibes check` says more; nothing was exported",
        )
    stand = current_records(locator)
    current = CurrentTrail([], left_out=Counter(stand.absent.values()))
    ids = dict(stand.ids)
    seen: set[str] = set()
    for record in trail.log.records_of(
        *(kind for kind in LogLineKind if kind not in (LogLineKind.BLANK, LogLineKind.BROKEN))
    ):
        if record.id in seen:
            continue
        seen.add(record.id)
        if record.is_annotation:
            current.records += stand.records.get(record.line, ())
        elif record.type == RecordType.EDGE:
            led = list(_led(read_edge(record), ids, trail))
            ids[record.id] = tuple(str(edge["annotation_id"]) for edge in led)
            current.records += led
            current.edges_left_out += not led
        else:
            current.records.append(record.members)
    current.changed = sum(SOURCE_ID in record for record in current.records)
    _add_entries(current, trail)
    return current


def _led(edge: Edge, ids: dict[str, tuple[str, ...]], trail: Trail) -> Iterator[Members]:
    """Give an edge between what stands now: none where an end does not, the very record where nothing is called otherwise."""
    for source in _ends(edge.source, ids, trail):
        for target in _ends(edge.target, ids, trail):
            if source == target:  # two records of one lineage
                continue
            if (source, target) == (edge.source, edge.target):
                yield _identified(edge.record)
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


def _identified(record: LogRecord) -> Members:
    return (
        record.members
        if "annotation_id" in record.members
        else {**record.members, "annotation_id": record.id}
    )


def _ends(identifier: str, ids: dict[str, tuple[str, ...]], trail: Trail) -> tuple[str, ...]:
    """Return what an end of an edge is called now; nothing when it is an annotation that does not stand."""
    if identifier in ids:
        return ids[identifier]
    record = trail.log.by_id(identifier)
    return () if record is not None and record.is_annotation else (identifier,)


def _add_entries(current: CurrentTrail, trail: Trail) -> None:
    for record in current.records:
        for value in record.values():
            if isinstance(value, str) and value not in current.entries and value in trail.manifest:
                current.entries[value] = to_one_line(trail.manifest.raw(value))
                _add_blob(current, trail.manifest.entry(value) or {}, trail.directory)


def _add_blob(current: CurrentTrail, entry: Members, directory: AuditDir) -> None:
    path = text(entry, "blob_path")
    if path is None:
        return
    try:
        file = blob_file(path, directory)
        content = read_file(file)
        place = file.resolve().relative_to(directory.path.resolve()).as_posix()
    except (BrokenBlob, UnreadableFile):
        content, place = None, path
    if content is None or place != path.replace("\\", "/").removeprefix(
        "./"
    ):  # a link: copied elsewhere, it would not be found
        current.missing_blobs.append(path)
    else:
        current.blobs[place] = content
