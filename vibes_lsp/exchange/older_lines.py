"""Find the edits of an import whose lines git had before them: history contradicts these (R14).

The index would find the same as soon as they are recorded, so both ask `OlderTextSearch`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from vibes_lsp.anchors.create_anchors import Anchors
from vibes_lsp.anchors.location import AnchoredRange, OriginalText
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.exchange.import_plan import ImportedEdit, session_spans
from vibes_lsp.history.file_versions import Version
from vibes_lsp.history.project_history import ProjectHistory
from vibes_lsp.index.older_text import OlderTextSearch, OlderVersions, SearchedAnnotation
from vibes_lsp.index.project_files import read_source
from vibes_lsp.model.timestamps import format_timestamp
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.lineage_commits import edit_begin
from vibes_lsp.trail.records import LogRecord
from vibes_lsp.trail.trail import Trail


def older_edits(trail: Trail, edits: Mapping[int, tuple[ImportedEdit, Anchors]]) -> frozenset[int]:
    """Return the numbers of the edits that git's history contradicts if the others are recorded.

    A session begins with the first edit of it that is recorded, so refusing that one may make
    another older than its session.

    Args:
        trail: The trail, refreshed.
        edits: The edits that are new, with the anchors of their lines.
    """
    if not edits:
        return frozenset()
    older: set[int] = set()
    starts: dict[str, datetime] = {}
    caches: dict[str, OlderVersions] = defaultdict(dict)
    with ProjectHistory(trail.directory.project) as history:
        history.prefetch({edit.path for edit, _ in edits.values()})
        while True:
            left = {number: each for number, each in edits.items() if number not in older}
            begun = _session_starts(trail, left)
            by_path: dict[str, list[int]] = defaultdict(list)
            for number, (edit, _) in left.items():
                session = None if edit.session is None else edit.session.id
                if not older or (session and starts.get(session) != begun.get(session)):
                    by_path[edit.path].append(number)
            starts = begun
            found: set[int] = set()
            for path, numbers in by_path.items():
                searched = [_searched(number, *left[number], starts) for number in numbers]
                found |= _older_in(history, trail.directory.project, searched, caches[path])
            if not found:
                return frozenset(older)
            older |= found


def _session_starts(
    trail: Trail, edits: Mapping[int, tuple[ImportedEdit, Anchors]]
) -> dict[str, datetime]:
    """Return when each session began: as the trail has it, else with its first edit."""
    starts: dict[str, datetime] = {}
    for identifier, (first, _) in session_spans(edit for edit, _ in edits.values()).items():
        known = trail.log.session(identifier)
        start = known.start if known is not None else None
        starts[identifier] = first if start is None else start.moment
    return starts


def _older_in(
    history: ProjectHistory,
    project: Path,
    annotations: Sequence[SearchedAnnotation],
    cache: OlderVersions,
) -> set[int]:
    """Return the edits of a file whose text an older version has at their place."""
    texts: dict[str, Text | None] = {}

    def read(version: Version) -> Text | None:
        if version.blob not in texts:
            data = history.contents(version)
            texts[version.blob] = None if data is None else Text.from_bytes(data)
        return texts[version.blob]

    originals: dict[str, OriginalText] = {}
    for each in annotations:
        version = None if each.commit is None else history.version_at(each.path, each.commit)
        text = None if version is None else read(version)
        if text is not None:
            place = each.recorded_range
            originals[each.id] = OriginalText(text, place.start, place.end)
    search = OlderTextSearch(history, lambda name: history.versions(name).versions, read, cache)
    try:
        now = read_source(project, annotations[0].path)
    except UnreadableFile:
        now = None
    return {int(identifier) for identifier in search.run(annotations, originals, now)}


def _searched(
    number: int, edit: ImportedEdit, anchors: Anchors, starts: Mapping[str, datetime]
) -> SearchedAnnotation:
    record = LogRecord(
        0, str(number), {"action": edit.action.value, "timestamp": format_timestamp(edit.moment)}
    )
    start = None if edit.session is None else starts.get(edit.session.id)
    return SearchedAnnotation(
        Lineage((record,), record),
        edit.path,
        AnchoredRange(edit.start, edit.end, anchors),
        edit.commit,
        edit_begin(edit.moment, start),
        () if edit.commit is None else (edit.commit,),
    )
