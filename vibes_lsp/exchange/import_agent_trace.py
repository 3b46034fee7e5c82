"""Read agent-trace files as edits to import: ranges that an AI wrote, placed in a version.

A range refers to its revision. It is placed there if the commit introduced its lines, and else in
the first version that has text with its content hash. The file as it is now is never taken for the
one that was recorded: without a revision and a hash, a range is imported without anchors.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Final

from vibes_lsp.agents.events import UNKNOWN
from vibes_lsp.anchors.create_anchors import range_hash_variants
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.exchange.agent_trace import (
    NO_LINES,
    OWN_METADATA,
    Trace,
    TraceRange,
    read_traces,
)
from vibes_lsp.exchange.committed_versions import CommittedVersion, CommittedVersions
from vibes_lsp.exchange.import_git_ai import (
    BEYOND_END,
    NO_PARENTS,
    NOT_INTRODUCED,
    model_of,
)
from vibes_lsp.exchange.import_plan import (
    CONTENT_HASH,
    Candidate,
    ImportedEdit,
    ImportedSession,
    ImportEvidence,
    Refusal,
)
from vibes_lsp.exchange.record_imports import NOT_IN_PROJECT, ReadCandidates
from vibes_lsp.git.project_files import read_source
from vibes_lsp.git.repository import open_repository
from vibes_lsp.model.canonical_json import canonical_json
from vibes_lsp.model.members import JsonValue, Members, mapping, text
from vibes_lsp.model.vocabulary import Action, PromptType
from vibes_lsp.recording.arguments import Prompt, Tool
from vibes_lsp.recording.context import RecordingContext, present
from vibes_lsp.recording.paths import project_path
from vibes_lsp.store.files import read_file
from vibes_lsp.trail.lineage_commits import COMMITTED_FIRST

TRACE_FOLDER: Final = ".agent-trace"
"""Where the reference hook writes `traces.jsonl`."""
MAX_FILE: Final = 256 << 20
_SUFFIXES: Final = frozenset({".jsonl", ".json"})
_NAMESPACE: Final = uuid.UUID("6a0b8c44-6b1d-4c26-8a35-6f2f7a9d9a11")
_PSEUDO_FILES: Final = frozenset({".sessions", ".shell-history", ".unknown"})
"""What the reference hook names where no file was edited."""
_MAX_VERSIONS: Final = 64
"""Versions after a record in which text with its content hash is searched."""
_MAX_HASHED: Final = 1 << 21
"""Lines that are hashed to find a range in one version; beyond it only its own lines are tried."""
_MAX_LINES: Final = 5_000_000
"""Lines of all ranges of an import: each line is looked up and remembered."""
_MAX_SEARCHED: Final = 1 << 27
"""Lines that are hashed in all versions to find the ranges of an import."""
_MAX_UNPLACED: Final = 100_000
"""Last line of a range without evidence: each line is looked up, and a file has no more."""
_MAX_EXTRA: Final = 4096
"""Largest `metadata` and `related` that are kept, in bytes."""

_AT_ONCE: Final = timedelta(seconds=30)

AUTHORS: Final = {
    "human": "a person wrote these lines",
    "mixed": "a person and an AI wrote these lines",
}
UNKNOWN_AUTHOR: Final = "the author of these lines is unknown"
NOT_A_FILE: Final = "the record is about no file"
PLACEHOLDER: Final = "the tool did not know the lines"
TOO_MANY: Final = "the ranges before it have too many lines"
SEVERAL_COPIES: Final = "several places have text with this hash"


def read_agent_trace(paths: Sequence[Path]) -> ReadCandidates:
    """Return the reader of agent-trace files.

    Args:
        paths: Files, or folders with `.jsonl` and `.json` files; by default those of the project's
            `.agent-trace`.
    """

    def read(context: RecordingContext) -> Iterator[Candidate]:
        repository = open_repository(context.project)
        files = list(_files(paths or [context.project / TRACE_FOLDER]))
        if repository is None:
            yield from _read_files(context, files, None)
            return
        with CommittedVersions(repository, context.project) as versions:
            yield from _read_files(context, files, versions)

    return read


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(file for file in path.iterdir() if file.suffix in _SUFFIXES)
        elif path.exists():
            yield path
        else:
            raise UnreadableFile(
                f"{path} does not exist", hint="name a file or folder with agent-trace records"
            )


def _read_files(
    context: RecordingContext,
    files: Sequence[Path],
    versions: CommittedVersions | None,
) -> Iterator[Candidate]:
    reader = _TraceReader(context, versions)
    for path in files:
        content = read_file(path, limit=MAX_FILE)
        if content is None:
            raise UnreadableFile(f"{path} does not exist", hint="name an existing file")
        for trace in read_traces(content, path.name):
            if isinstance(trace, Refusal):
                yield trace
            else:
                yield from reader.read(trace)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a range was found: a version, its lines, and how."""

    version: CommittedVersion
    start: int
    end: int
    evidence: ImportEvidence


class _TraceReader:
    """Places the ranges of records.

    Args:
        context: The trail.
        versions: Reads versions; None without git.
    """

    def __init__(
        self,
        context: RecordingContext,
        versions: CommittedVersions | None,
    ) -> None:
        self._context, self._versions = context, versions
        self._left, self._left_to_search = _MAX_LINES, _MAX_SEARCHED
        self._version: Callable[[str, str], CommittedVersion | None] = lru_cache(maxsize=16)(
            self._read_version
        )
        self._saved: Callable[[str], Text | None] = lru_cache(maxsize=16)(self._read_saved)

    def read(self, trace: Trace) -> Iterator[Candidate]:
        """Yield the ranges of a record as edits, and those that are none."""
        for path in trace.broken:
            yield Refusal(trace.source, NO_LINES, path or None)
        for trace_range in trace.ranges:
            self._left -= min(trace_range.end - trace_range.start + 1, _MAX_UNPLACED)
            refused = _refusal(trace, trace_range) if self._left >= 0 else TOO_MANY
            inside = None if refused is not None else self._project_path(trace_range.path)
            if inside is None:
                reason = refused or NOT_IN_PROJECT
                yield Refusal(
                    trace.source, reason, trace_range.path, trace_range.start, trace_range.end
                )
            else:
                yield from self._place(trace, trace_range, inside)

    def _place(self, trace: Trace, wanted: TraceRange, path: str) -> Iterator[Candidate]:
        at_revision = None if trace.revision is None else self._version(path, trace.revision)
        place = self._at_revision(trace, wanted, at_revision)
        if isinstance(place, str):
            yield Refusal(trace.source, place, path, wanted.start, wanted.end)
        elif place is not None:
            yield from _introduced_edits(trace, wanted, place)
        elif wanted.sha256 is not None:
            yield from self._by_hash(trace, wanted, path)
        else:
            yield _unplaced(trace, wanted, path)

    def _at_revision(
        self, trace: Trace, wanted: TraceRange, version: CommittedVersion | None
    ) -> _Place | str | None:
        """Return the place of a range in its revision, or why it cannot have any place.

        A commit that is older than the record is the one before the edit: some writers give that
        one, as no other exists yet. Those that record when a commit is made do so at once.
        """
        if version is None:
            return None
        start, end = wanted.start, wanted.end
        is_inside = end <= len(version.text.lines)
        if wanted.sha256 is not None:
            matches = is_inside and _has_hash(version.text, start, end, wanted.sha256)
            return _Place(version, start, end, ImportEvidence.CONTENT_HASH) if matches else None
        if trace.is_before_edit or trace.moment > version.committed + _AT_ONCE:
            return None
        return _Place(version, start, end, ImportEvidence.REVISION) if is_inside else BEYOND_END

    def _by_hash(self, trace: Trace, wanted: TraceRange, path: str) -> Iterator[Candidate]:
        """Yield the edit in the first version since the record that has text with its hash."""
        digest = wanted.sha256 or ""
        for version in self._versions_since(path, trace.moment):
            starts = self._starts(version.text, wanted, digest)
            if len(starts) > 1:
                yield Refusal(trace.source, SEVERAL_COPIES, path, wanted.start, wanted.end)
                return
            if starts:
                end = starts[0] + wanted.end - wanted.start
                place = _Place(version, starts[0], end, ImportEvidence.CONTENT_HASH)
                yield from _introduced_edits(trace, wanted, place)
                return
        saved = self._saved(path)
        starts = [] if saved is None else self._starts(saved, wanted, digest)
        if len(starts) == 1:
            saved_range = replace(
                wanted, start=starts[0], end=starts[0] + wanted.end - wanted.start
            )
            yield _edit(trace, saved_range, path, text=saved, evidence=ImportEvidence.CONTENT_HASH)
        else:
            yield _unplaced(trace, wanted, path)

    def _starts(self, source: Text, wanted: TraceRange, digest: str) -> list[int]:
        """Return the first lines of ranges with a hash: the range's own if it has it, else all."""
        lines, length = source.lines, wanted.end - wanted.start + 1
        if wanted.end <= len(lines) and _has_hash(source, wanted.start, wanted.end, digest):
            return [wanted.start]
        places = range(1, len(lines) - length + 2)
        if len(places) * length > min(_MAX_HASHED, self._left_to_search):
            return []
        self._left_to_search -= len(places) * length
        return [start for start in places if _has_hash(source, start, start + length - 1, digest)]

    def _versions_since(self, path: str, moment: datetime) -> Iterator[CommittedVersion]:
        """Yield the versions of a file that were committed since a record, oldest first."""
        if self._versions is None:
            return
        commits = self._versions.commits_since(path, moment - COMMITTED_FIRST)
        for commit in commits[:_MAX_VERSIONS]:
            version = self._version(path, commit)
            if version is not None:
                yield version

    def _read_version(self, path: str, revision: str) -> CommittedVersion | None:
        commit = None if self._versions is None else self._versions.commit(revision)
        return (
            None
            if self._versions is None or commit is None
            else self._versions.version(path, commit)
        )

    def _read_saved(self, path: str) -> Text | None:
        try:
            return read_source(self._context.project, path)
        except UnreadableFile:
            return None

    def _project_path(self, path: str) -> str | None:
        if self._versions is not None:
            return self._versions.project_path(path)
        return project_path(self._context.project, path)


def _refusal(trace: Trace, wanted: TraceRange) -> str | None:
    """Return why a range is no edit of a file by an AI; None if it is one."""
    if wanted.path in _PSEUDO_FILES:
        return NOT_A_FILE
    if wanted.contributor != "ai":
        return AUTHORS.get(wanted.contributor, UNKNOWN_AUTHOR)
    if trace.is_before_edit and wanted.start == wanted.end == 1 and wanted.content_hash is None:
        return PLACEHOLDER
    return None


def _has_hash(source: Text, start: int, end: int, digest: str) -> bool:
    return digest in range_hash_variants(source.lines[start - 1 : end])


def _introduced_edits(trace: Trace, wanted: TraceRange, place: _Place) -> Iterator[Candidate]:
    """Yield the lines of a place that its commit introduced as edits, and the others refused."""
    version = place.version
    for is_new, start, end in version.runs(place.start, place.end):
        is_whole = (start, end) == (place.start, place.end)
        part = replace(
            wanted, start=start, end=end, content_hash=wanted.content_hash if is_whole else None
        )
        if is_new:
            edit = _edit(trace, part, version.path, text=version.text, evidence=place.evidence)
            yield replace(
                edit,
                commit=version.commit,
                committed=version.committed,
                moment=min(trace.moment, version.committed),
                action=Action.CREATE if version.is_new else Action.MODIFY,
            )
        else:
            reason = NO_PARENTS if version.new_lines is None else NOT_INTRODUCED
            yield Refusal(trace.source, reason, version.path, part.start, part.end)


def _unplaced(trace: Trace, wanted: TraceRange, path: str) -> Candidate:
    """Return a range that is in no version that is known; no text says that it has these lines."""
    if wanted.end > _MAX_UNPLACED:
        return Refusal(trace.source, NO_LINES, path)
    return _edit(trace, wanted, path, text=None, evidence=ImportEvidence.NONE)


def _edit(
    trace: Trace, wanted: TraceRange, path: str, *, text: Text | None, evidence: ImportEvidence
) -> ImportedEdit:
    provider, _, model = (wanted.model_id or "").rpartition("/")
    return ImportedEdit(
        trace.source,
        path,
        wanted.start,
        wanted.end,
        Action.MODIFY,
        text,
        None,
        trace.moment,
        evidence,
        Tool(_member(trace.tool, "name"), _member(trace.tool, "version")),
        model_of(model if provider or model else ""),
        _session(trace, wanted),
        _prompt(trace),
        _extra(trace, wanted),
    )


def _member(members: Members, name: str) -> str:
    return text(members, name) or UNKNOWN


def _session(trace: Trace, wanted: TraceRange) -> ImportedSession | None:
    """Return the session of a range: its conversation, else the one that the metadata names."""
    named = next(
        (
            identifier
            for name in ("conversation_id", "session_id")
            if (identifier := text(trace.metadata, name)) is not None
        ),
        None,
    )
    key = wanted.url or named
    if key is None:
        return None
    return ImportedSession(str(uuid.uuid5(_NAMESPACE, key)), f"{key}, imported from agent-trace")


def _prompt(trace: Trace) -> Prompt | None:
    """Return the prompt that this program exported with a record."""
    exported = mapping(trace.own_metadata, "prompt")
    content, kind = text(exported, "text"), text(exported, "type")
    if not content or kind not in set(PromptType):
        return None
    return Prompt(content, PromptType(kind))


def _extra(trace: Trace, wanted: TraceRange) -> Members:
    """Return the members of a record that a trail has no place for, for a later export."""
    return present(
        {
            "timestamp": trace.timestamp,
            "vcs": _small(trace.vcs),
            "tool": _small(trace.tool),
            "model_id": wanted.model_id,
            "url": wanted.url,
            CONTENT_HASH: wanted.content_hash,
            "related": _small(wanted.related),
            "metadata": _small(
                {name: value for name, value in trace.metadata.items() if name != OWN_METADATA}
            ),
        }
    )


def _small(value: JsonValue) -> JsonValue:
    """Return a value that is not empty and not too large to keep; else None."""
    return value if value and len(canonical_json({"value": value})) <= _MAX_EXTRA else None
