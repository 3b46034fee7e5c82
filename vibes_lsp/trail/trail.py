"""`Trail`: the current content of an audit trail, for the layers above the index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Final

from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import EdgeType
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.manifest import Manifest, ManifestForm, read_manifest
from vibes_lsp.trail.index_writer import decode_name, encode_name, row_list
from vibes_lsp.trail.lineage import Lineage, NearestCommit, build_lineages
from vibes_lsp.trail.lineage_reader import LineageReader
from vibes_lsp.trail.records import Edge, LogRecord, read_edge
from vibes_lsp.trail.reviews import Review, read_reviews
from vibes_lsp.trail.rows import ANNOTATION_KINDS, EDGE_TYPES, BrokenLine, LogLineKind

if TYPE_CHECKING:
    from vibes_lsp.trail.index import Progress
    from vibes_lsp.trail.log_index import LogIndex


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
        uses_saved: Whether to use the saved index; see `LogIndex`.
        waiting: Whether to read what waits for a commit as well (R29); not where the result is
            about the log itself.

    Attributes:
        log: The annotation log.
        nearest_commit: As given.
        manifest: The context entries as of the last refresh.
    """

    def __init__(
        self,
        directory: AuditDir,
        *,
        nearest_commit: NearestCommit | None = None,
        uses_saved: bool = False,
        waiting: bool = True,
    ) -> None:
        # SQLite is loaded with the first trail: a server starts faster.
        from vibes_lsp.trail.committed_waiting import UncommittedWaiting  # noqa: PLC0415
        from vibes_lsp.trail.log_index import LogIndex  # noqa: PLC0415

        self.directory = directory
        self.log: Final[LogIndex] = LogIndex(
            directory.log,
            UncommittedWaiting(directory) if waiting else None,
            uses_saved=uses_saved,
        )
        self._waiting = waiting
        self.manifest = Manifest(ManifestForm.ABSENT)
        self.nearest_commit = nearest_commit
        self._lineage_reader = LineageReader(self.log, nearest_commit)

    def close(self) -> None:
        """Close the database of the index; a refresh opens it again."""
        self.log.close()

    def refresh(self, *, progress: Progress | None = None) -> bool:
        """Read what changed on disk, and return whether anything did; see `LogIndex.refresh`.

        Call it before every answer: it costs two `stat` calls if nothing changed.
        """
        has_grown = self.log.refresh(progress=progress)
        # The log is read first, because entries are written before the records that name them.
        manifest = read_manifest(self.directory, self.manifest, waiting=self._waiting)
        before, self.manifest = self.manifest, manifest
        return has_grown or manifest is not before

    @property
    def line_count(self) -> int:
        """The number of lines of the log that were read, blank and broken ones included."""
        return self.log.line_count()

    @property
    def annotation_count(self) -> int:
        """The number of line and function records."""
        return self.log.number("SELECT count(*) FROM annotation")

    def count(self, *kinds: LogLineKind) -> int:
        """Return the number of lines of some kinds."""
        numbers = ", ".join(str(int(kind)) for kind in kinds)
        return self.log.number(
            f"SELECT count(*) FROM record WHERE kind IN ({numbers})"  # noqa: S608
        )

    def kinds_from(self, offset: int) -> Counter[LogLineKind]:
        """Return how many lines of each kind begin at a byte offset of the log or after it."""
        rows = self.log.rows(
            "SELECT kind, count(*) FROM record WHERE start >= ? AND row <= ? GROUP BY kind",
            offset,
            self.line_count,
        )
        return Counter({LogLineKind(kind): count for kind, count in rows})

    def broken_lines(self) -> list[BrokenLine]:
        """Return the lines that are not records, each with the reason (R12)."""
        rows = self.log.rows("SELECT row, reason FROM broken ORDER BY row")
        return [BrokenLine(row, decode_name(reason)) for row, reason in rows]

    def annotated_paths(self) -> list[str]:
        """Return the paths of annotations as recorded, in the order of their first record."""
        return [file.path for file in self.count_by_path() if file.path]

    def count_by_path(self) -> Iterator[AnnotatedPath]:
        """Yield the paths of annotations as recorded, with numbers of annotations."""
        for name, line, count in self.log.stream(
            "SELECT text, first, count FROM"
            " (SELECT path, min(row) AS first, count(*) AS count FROM annotation GROUP BY path)"
            " JOIN name ON number = path ORDER BY first"
        ):
            yield AnnotatedPath(decode_name(name), line, count)

    def session_ids(self) -> list[str]:
        """Return the ids of sessions with a record, in the order of their first record."""
        rows = self.log.rows(
            "SELECT text FROM (SELECT name, min(row) AS first FROM session GROUP BY name)"
            " JOIN name ON number = name ORDER BY first"
        )
        return [name for (text,) in rows if (name := decode_name(text))]

    def last_delegations(self, count: int) -> Iterator[LogRecord]:
        """Decode the last delegations in log order."""
        last = list(islice(self.log.lines_of(LogLineKind.DELEGATION, newest_first=True), count))
        return self.log.records(last[::-1])

    def edges_of_type(self, edge_type: EdgeType) -> Iterator[Edge]:
        """Decode all edges of a type in log order."""
        return map(read_edge, self.log.records(self.log.lines_of_edges(edge_type)))

    def lineages_in(self, path: str) -> list[Lineage]:
        """Return the lineages whose current annotation is about a file, oldest first.

        Args:
            path: Relative to the project, forward slashes.
        """
        return self._lineage_reader.lineages_in(path)

    def lineages_of(self, records: Iterable[LogRecord]) -> list[Lineage]:
        """Return the lineages of annotations and of all that edges connect with them."""
        return self._lineage_reader.lineages_of(record.line for record in records)

    def lineage_of(self, identifier: str) -> Lineage | None:
        """Return the lineage of an annotation; None if no line or function record has this id.

        The id of an edit stands for the first of its hunks (R32).
        """
        record = self.log.by_id(identifier)
        if record is None or not record.is_annotation:
            return None
        return next(
            (
                lineage
                for lineage in self._lineage_reader.lineages_of([record.line])
                if record.id in lineage.ids
            ),
            None,
        )

    def lineages_of_edit(self, identifier: str) -> list[Lineage]:
        """Return the lineage of an annotation, or of each hunk of an edit, by a whole id."""
        if next(self.log.with_id(identifier), None) is None:
            hunks = self.log.hunks_of(identifier)
            if hunks:
                return self.lineages_of(hunks)
        lineage = self.lineage_of(identifier)
        return [] if lineage is None else [lineage]

    def lineages(self) -> list[Lineage]:
        """Return all lineages, oldest first. Decodes every annotation: for reports, not hovers."""
        edges = self.edges_of_type(EdgeType.SUPERSEDES)
        return build_lineages(self.log.records_of(*ANNOTATION_KINDS), edges, self.nearest_commit)

    def lineages_naming(self, entry: str, limit: int) -> list[Lineage]:
        """Return the lineages with an annotation that names a prompt or decision, oldest first.

        Args:
            entry: The hash of the prompt or decision.
            limit: How many annotations are read at most; the last ones are.
        """
        return self._lineages_with(self.log.annotations_naming(entry, limit))

    def lineages_since(self, moment: datetime) -> list[Lineage]:
        """Return the lineages with an annotation since a time, oldest first."""
        annotations = self.log.records_of(*ANNOTATION_KINDS)
        return self.lineages_of(record for record in annotations if record.moment >= moment)

    def edges_of(self, lineage: Lineage) -> tuple[list[Edge], list[Edge]]:
        """Return the edges from and to all members of a lineage (R7)."""
        out = [edge for identifier in lineage.ids for edge in self.log.edges(source=identifier)]
        into = [edge for identifier in lineage.ids for edge in self.log.edges(target=identifier)]
        return out, into

    def reviews_of(self, lineage: Lineage) -> list[Review]:
        """Return the reviews of all members of a lineage, in the order of events (R6)."""
        keys = row_list(map(self.log.key, lineage.ids))
        rows = self.log.numbers(
            "SELECT row FROM edge WHERE type = ? AND (source IN (SELECT value FROM json_each(?))"
            " OR target IN (SELECT value FROM json_each(?))) ORDER BY row",
            EDGE_TYPES.index(EdgeType.REVIEWED_BY),
            keys,
            keys,
        )
        edges: dict[str, Edge] = {}
        for record in self.log.records(rows):
            edges.setdefault(record.id, read_edge(record))  # the first counts (R3)
        return [
            review
            for review in read_reviews(edges.values(), self.log.by_id)
            if review.annotation in lineage.ids
        ]

    def files_of_session(self, session: str) -> frozenset[str]:
        """Return the files that a session's annotations name."""
        rows = self.log.rows(
            "SELECT DISTINCT text FROM annotation JOIN name ON number = path WHERE session ="
            " (SELECT number FROM name WHERE text = ?)",
            encode_name(session),
        )
        names = (decode_name(text) for (text,) in rows) if session else ()
        return frozenset(normal_path(name) for name in names if name)

    def lineages_of_session(self, session: str, limit: int) -> list[Lineage]:
        """Return the lineages with an annotation of a session, oldest first.

        Args:
            session: The session's id.
            limit: How many annotations are read at most; the last ones are.
        """
        rows = self.log.numbers(
            "SELECT row FROM annotation WHERE session ="
            " (SELECT number FROM name WHERE text = ?) ORDER BY row DESC LIMIT ?",
            encode_name(session),
            limit if session else 0,
        )
        return self._lineages_with(list(self.log.records(rows[::-1])))

    def _lineages_with(self, records: Sequence[LogRecord]) -> list[Lineage]:
        """Return the lineages that have one of some records."""
        named = {record.id for record in records}
        connected = self.lineages_of(records)
        return [lineage for lineage in connected if not named.isdisjoint(lineage.ids)]
