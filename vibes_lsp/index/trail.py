"""`Trail`: the current content of an audit trail, for the layers above the index."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from vibes_lsp.index import saved_manifest
from vibes_lsp.index.id_keys import id_key
from vibes_lsp.index.lineage import Lineage, NearestCommit, build_lineages
from vibes_lsp.index.lineage_cache import LineageCache
from vibes_lsp.index.lines_by_key import LinesByKey
from vibes_lsp.index.log_columns import EDGE_TYPES, LogColumns, LogLineKind
from vibes_lsp.index.log_index import LogIndex, Progress
from vibes_lsp.index.log_rows import BrokenLine
from vibes_lsp.index.records import Edge, LogRecord, is_supersedes, read_edge
from vibes_lsp.index.reviews import Review, read_reviews
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import EdgeType
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.manifest import Manifest, ManifestCache, ManifestForm, read_manifest


@dataclass(frozen=True, slots=True)
class AnnotatedPath:
    """A path of annotations, as recorded.

    Attributes:
        path: The path; empty for annotations without one.
        first_line: The line of its first annotation.
        annotations: The number of its annotations.
    """

    path: str
    first_line: int
    annotations: int


class Trail:
    """The log and the manifest of one audit directory.

    Args:
        directory: The audit directory.
        nearest_commit: Chooses between several ends of a lineage, by git.
        shared_with: Another `Trail` of the same directory, perhaps in another thread, with which to
            share what was read of the manifest.
        uses_saved: Whether to use the saved index of log and manifest; see `LogIndex`.

    Attributes:
        log: The annotation log.
        nearest_commit: As given.
        manifest: The context entries as of the last refresh.
        manifest_cache: What was read of the manifest, shared by all `Trail`s of the directory.
    """

    def __init__(
        self,
        directory: AuditDir,
        *,
        nearest_commit: NearestCommit | None = None,
        shared_with: Trail | None = None,
        uses_saved: bool = False,
    ) -> None:
        self.directory = directory
        self.log = LogIndex(directory.log, uses_saved=uses_saved)
        self._uses_saved = uses_saved
        self.manifest = Manifest(ManifestForm.ABSENT)
        self.manifest_cache: ManifestCache = (
            ManifestCache() if shared_with is None else shared_with.manifest_cache
        )
        self.nearest_commit = nearest_commit
        self._reviewed: tuple[LogColumns, int, set[int]] | None = None
        self._lineage_cache = LineageCache(self.log, nearest_commit)

    def refresh(
        self,
        *,
        thorough: bool = False,
        progress: Progress | None = None,
        at_most: int | None = None,
    ) -> bool:
        """Read what changed on disk, and return whether anything did; see `LogIndex.refresh`.

        Call it before every answer: it costs two `stat` calls if nothing changed.
        """
        has_grown = self.log.refresh(thorough=thorough, progress=progress, at_most=at_most)
        # The log is read first, because entries are written before the records that name them.
        manifest = read_manifest(
            self.directory,
            self.manifest,
            manifest_cache=self.manifest_cache,
            open_saved=saved_manifest.open_saved if self._uses_saved else None,
        )
        before, self.manifest = self.manifest, manifest
        return has_grown or manifest is not before

    def save(self) -> None:
        """Save the index of a large log, and where the entries of a large manifest are."""
        self.log.save()
        if self._uses_saved:
            saved_manifest.save(self.directory.manifest, self.manifest)

    @property
    def line_count(self) -> int:
        """The number of lines of the log that were read, blank and broken ones included."""
        return len(self.log.columns)

    @property
    def annotation_count(self) -> int:
        """The number of line and function records."""
        return len(self.log.columns.annotation_lines)

    def count(self, *kinds: LogLineKind) -> int:
        """Return the number of lines of some kinds."""
        return sum(map(self.log.columns.kinds.count, kinds))

    def kinds_from(self, offset: int) -> Counter[LogLineKind]:
        """Return how many lines of each kind begin at a byte offset of the log or after it."""
        columns = self.log.columns
        first = bisect_left(
            range(1, len(columns) + 1), offset, key=lambda line: columns.byte_range(line)[0]
        )
        return Counter(LogLineKind(columns.kinds[at]) for at in range(first, len(columns)))

    def broken_lines(self) -> Sequence[BrokenLine]:
        """Return the lines that are not records, each with the reason (R12)."""
        return self.log.columns.broken

    def annotated_paths(self) -> list[str]:
        """Return the paths of annotations as recorded, in the order of their first record."""
        return [path for path in self.log.columns.paths if path]

    def lines_by_path(self) -> Iterator[tuple[str, Sequence[int]]]:
        """Yield the paths of annotations as recorded, each with the lines of its annotations."""
        yield from self.log.columns.annotations.items()

    def count_by_path(self) -> Iterator[AnnotatedPath]:
        """Yield the paths of annotations as recorded, with numbers of annotations."""
        columns = self.log.columns
        counts, first_lines = array("Q", bytes(8 * len(columns.paths))), array("I")
        for line, path in zip(columns.annotation_lines, columns.annotation_paths, strict=True):
            if path == len(first_lines):  # paths are numbered in the order of the log
                first_lines.append(line)
            counts[path] += 1
        for name, line, count in zip(columns.paths, first_lines, counts, strict=True):
            yield AnnotatedPath(name, line, count)

    def session_ids(self) -> list[str]:
        """Return the ids of sessions with a record, in the order of their first record."""
        return [identifier for identifier in self.log.columns.sessions if identifier]

    def has_session(self, identifier: str) -> bool:
        """Whether a session with this whole id has a record."""
        return identifier in self.log.columns.sessions

    def delegations(self) -> Iterator[LogRecord]:
        """Decode all delegations in log order."""
        return self.log.records(self.log.columns.delegations)

    def last_delegations(self, count: int) -> Iterator[LogRecord]:
        """Decode the last delegations in log order."""
        return self.log.records(self.log.columns.delegations.last(count))

    def edges_of_type(self, edge_type: EdgeType) -> Iterator[Edge]:
        """Decode all edges of a type in log order."""
        return map(read_edge, self.log.records(self.log.lines_of_edges(edge_type)))

    def lines_with_repeated_ids(self) -> list[int]:
        """Return the lines of records whose id others may have too, in log order."""
        columns = self.log.columns
        keys = columns.keys.copy()
        return sorted(
            line
            for lines in LinesByKey(keys).repeated()
            for line in lines
            if columns.kinds[line - 1] not in {LogLineKind.BLANK, LogLineKind.BROKEN}
        )

    def has_new_edge(self, line: int, ids: AbstractSet[str]) -> bool:
        """Whether an edge after a line of the log names one of some ids."""
        columns = self.log.columns
        first = bisect_right(columns.edge_lines, line)
        if first == len(columns.edge_lines):
            return False
        keys = frozenset(map(id_key, ids))
        return any(
            columns.edge_sources[number] in keys or columns.edge_targets[number] in keys
            for number in range(first, len(columns.edge_lines))
        )

    def sessions_with_new_files(self, line: int) -> frozenset[str]:
        """Return the sessions whose annotations after a line name a file that none before has."""
        columns = self.log.columns
        first = bisect_right(columns.annotation_lines, line)
        return frozenset(
            columns.annotating_sessions[columns.annotation_sessions[number]]
            for number in range(first, len(columns.annotation_lines))
            if _is_new_file(columns, number)
        )

    def lineages_in(self, path: str) -> list[Lineage]:
        """Return the lineages whose current annotation is about a file, oldest first.

        Args:
            path: Relative to the project, forward slashes.
        """
        return self._lineage_cache.lineages_in(path)

    def keep(self, paths: Iterable[str]) -> None:
        """Free what was read of all other files: the lineages of one may take a megabyte."""
        self._lineage_cache.keep(paths)

    def keep_last(self, count: int) -> None:
        """Free what was read of all files but the last ones that `lineages_in` was asked about."""
        self._lineage_cache.keep_last(count)

    def is_independent_of_head(self, path: str) -> bool:
        """Whether the last `lineages_in` of a file depended on the log only, not on git's HEAD."""
        return self._lineage_cache.is_independent_of_head(path)

    def files_changed_since(self, line: int) -> frozenset[str]:
        """Return the files whose lineages the records after a line of the log may have changed."""
        columns = self.log.columns
        new = [
            number
            for number in range(line + 1, len(columns) + 1)
            if columns.kinds[number - 1]
            in {LogLineKind.LINE, LogLineKind.FUNCTION, LogLineKind.EDGE}
        ]
        records: list[LogRecord] = []
        for record in self.log.records(new):
            if record.is_annotation:
                records.append(record)
            elif is_supersedes(edge := read_edge(record)):
                records += (
                    each
                    for end in (edge.source, edge.target)
                    for each in self.log.with_id(end)
                    if each.is_annotation
                )
        joined = (
            each
            for lineage in self._lineage_cache.lineages_of(records)
            for one in lineage.ids
            for each in self.log.with_id(one)
        )
        return frozenset(normal_path(each.text("file_path") or "") for each in (*records, *joined))

    def lineages_of(self, records: Iterable[LogRecord]) -> list[Lineage]:
        """Return the lineages of annotations and of all that edges connect with them."""
        return self._lineage_cache.lineages_of(records)

    def lineage_of(self, identifier: str) -> Lineage | None:
        """Return the lineage of an annotation; None if no line or function record has this id."""
        record = self.log.by_id(identifier)
        if record is None or not record.is_annotation:
            return None
        return next(
            (
                lineage
                for lineage in self._lineage_cache.lineages_of([record])
                if identifier in lineage.ids
            ),
            None,
        )

    def lineages(self) -> list[Lineage]:
        """Return all lineages, oldest first. Decodes every annotation: for reports, not hovers."""
        edges = self.edges_of_type(EdgeType.SUPERSEDES)
        return build_lineages(
            self.log.records_of(LogLineKind.LINE, LogLineKind.FUNCTION), edges, self.nearest_commit
        )

    def lineages_naming(self, entry: str, limit: int) -> list[Lineage]:
        """Return the lineages with an annotation that names a prompt or decision, oldest first.

        Args:
            entry: The hash of the prompt or decision.
            limit: How many annotations are read at most; the last ones are.
        """
        found = self.log.annotations_naming(entry, limit)
        named = {each.id for each in found}
        connected = self._lineage_cache.lineages_of(found)
        return [each for each in connected if not named.isdisjoint(each.ids)]

    def lineages_since(self, moment: datetime) -> list[Lineage]:
        """Return the lineages with an annotation since a time, oldest first; decodes little."""
        since = self.log.annotations_since(moment)
        return self._lineage_cache.lineages_of(
            record for record in since if record.moment >= moment
        )

    def edges_of(self, lineage: Lineage) -> tuple[list[Edge], list[Edge]]:
        """Return the edges from and to all members of a lineage (R7)."""
        out = [edge for identifier in lineage.ids for edge in self.log.edges(source=identifier)]
        into = [edge for identifier in lineage.ids for edge in self.log.edges(target=identifier)]
        return out, into

    def reviews_of(self, lineage: Lineage) -> list[Review]:
        """Return the reviews of all members of a lineage, in the order of events (R6)."""
        kind = EdgeType.REVIEWED_BY
        if self._has_no_review(lineage):
            return []
        found = [
            edge
            for each in lineage.ids
            for edge in (
                *self.log.edges(source=each, edge_type=kind),
                *self.log.edges(target=each, edge_type=kind),
            )
        ]
        edges = {edge.record.id: edge for edge in found}
        return [
            review
            for review in read_reviews(edges.values(), self.log.by_id)
            if review.annotation in lineage.ids
        ]

    def gather_reviews(self) -> None:
        """Find the ends of all reviews: for reports on many annotations, of which few have one."""
        columns = self.log.columns
        code = EDGE_TYPES.index(EdgeType.REVIEWED_BY)
        numbers = (
            number
            for number, each in enumerate(chain.from_iterable(columns.edge_types.parts()))
            if each == code
        )
        ends = {
            end
            for number in (numbers if columns.has_edges_of(code) else ())
            for end in (columns.edge_sources[number], columns.edge_targets[number])
        }
        self._reviewed = columns, len(columns), ends

    def _has_no_review(self, lineage: Lineage) -> bool:
        """Whether no edge of a lineage is a review, if that is known."""
        if self._reviewed is None:
            return False
        columns, length, ends = self._reviewed
        is_level = columns is self.log.columns and length == len(columns)
        return is_level and ends.isdisjoint(map(id_key, lineage.ids))

    def files_of_session(self, session: str) -> frozenset[str]:
        """Return the files that a session's annotations name."""
        columns = self.log.columns
        return frozenset(
            normal_path(columns.paths[number]) for number in columns.files_of_session(session)
        )

    def lineages_of_session(self, session: str, limit: int) -> list[Lineage]:
        """Return the lineages with an annotation of a session, oldest first.

        Args:
            session: The session's id.
            limit: How many annotations are read at most; the last ones are.
        """
        found = list(self.log.records(self.log.columns.lines_of_session(session, limit)))
        named = {each.id for each in found}
        connected = self._lineage_cache.lineages_of(found)
        return [each for each in connected if not named.isdisjoint(each.ids)]


def _is_new_file(columns: LogColumns, index: int) -> bool:
    """Whether an annotation, given by its index, names a file that its session had not."""
    path = columns.annotation_paths[index]
    return path != columns.paths.find("") and not any(
        columns.annotation_paths[number] == path
        for number in columns.by_session.newest_first(columns.annotation_sessions[index])
        if number < index
    )
