"""A trail of what is current (`vibes export --current`): its records, the entries that they name, and the files that it is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from vibes_lsp.errors import BrokenBlob, UnreadableFile, VibesError
from vibes_lsp.index.columns import Kind
from vibes_lsp.index.places import Places
from vibes_lsp.index.records import Edge, LogRecord, read_edge
from vibes_lsp.index.tables import RECORDS, STANDING
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.canonical import canonical
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.vocabulary import RecordType
from vibes_lsp.reports.standing import SOURCE_ID, Absence, standing
from vibes_lsp.store.disk import read_file
from vibes_lsp.store.layout import CONFIG_NAME, LOG_NAME, MANIFEST_NAME, AuditDir
from vibes_lsp.store.manifest import Manifest, ManifestForm
from vibes_lsp.store.manifest_text import extended, one_line
from vibes_lsp.store.reasoning import blob_file

_RECORDS: Final = (*RecordType, "other")


def _columns() -> Members:
    """Return the record that an exported log begins with: it has every member of the standard's records, with a value of its type.

    Programs that take columns and their types from the first records (DuckDB's `read_json_auto`) then know all of them. Readers
    skip its type, which is not the standard's (RFC 12.2), and no query of RFC 10 selects it.
    """
    standard = {name for _, names in RECORDS.values() for name in names} - {*STANDING, "annotation_id"}
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
    references: Members = {name: None for name in standard if name.endswith("_hash")}  # any text would name no entry
    members: Members = {"type": "columns", **dict.fromkeys(sorted(standard), ""), **references, **typed}
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
    left_out: Counter[Absence] = field(default_factory=Counter)
    edges_left_out: int = 0
    missing_blobs: list[str] = field(default_factory=list)

    def as_json(self) -> Members:
        """Return the numbers."""
        kinds = Counter(kind if (kind := text(record, "type")) in set(RecordType) else "other" for record in self.records)
        return {
            "records": {kind: kinds[kind] for kind in _RECORDS},
            "changed": self.changed,
            "entries": len(self.entries),
            "blobs": len(self.blobs),
            "leftOut": {**{reason.value: self.left_out[reason] for reason in Absence}, "edges": self.edges_left_out},
            "missingBlobs": list(self.missing_blobs),
        }

    def files(self, config: bytes | None) -> dict[str, bytes]:
        """Return the files of the audit directory by their paths below it, the policy as it is; `COLUMNS` is the log's first line."""
        made = {
            LOG_NAME: b"".join(canonical(record) + b"\n" for record in (COLUMNS, *self.records)),
            MANIFEST_NAME: extended(Manifest(ManifestForm.ABSENT), self.entries),
            **self.blobs,
        }
        return made if config is None else {CONFIG_NAME: config, **made}


def current_trail(places: Places) -> CurrentTrail:
    """Return what is current: a record for each annotation that stands, and whatever else the log holds about these.

    Raises:
        VibesError: The manifest cannot be read.
    """
    trail = places.trail
    if trail.manifest.problem is not None:
        raise VibesError(
            f"manifest.json cannot be read: {trail.manifest.problem.message}", hint="`vibes check` says more; nothing was exported"
        )
    stand = standing(places)
    current = CurrentTrail([], left_out=Counter(stand.absent.values()))
    ids = dict(stand.ids)
    seen: set[str] = set()
    for record in trail.log.of_kind(*(kind for kind in Kind if kind not in (Kind.BLANK, Kind.BROKEN))):
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
            names = {"source_ref": source, "source_id": source, "target_ref": target, "target_id": target}
            members = {name: names.get(name, value) for name, value in edge.record.members.items() if name != "annotation_id"}
            yield {**members, "annotation_id": annotation_id(members)}


def _identified(record: LogRecord) -> Members:
    return record.members if "annotation_id" in record.members else {**record.members, "annotation_id": record.id}


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
                current.entries[value] = one_line(trail.manifest.raw(value))
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
    if content is None or place != path.replace("\\", "/").removeprefix("./"):  # a link: copied elsewhere, it would not be found
        current.missing_blobs.append(path)
    else:
        current.blobs[place] = content
