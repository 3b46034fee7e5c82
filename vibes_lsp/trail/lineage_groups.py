"""Groups the annotations of a log into lineages by the index, without decoding them.

Most annotations are a lineage by themselves. The others are those that a supersedes edge may join,
and those whose id occurs twice. With them decoded some groups at a time, memory is bounded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, starmap
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from vibes_lsp.model.vocabulary import EdgeType, SupersedesReason
from vibes_lsp.trail.lineage import Lineage, NearestCommit, build_lineages
from vibes_lsp.trail.records import LogRecord, read_edge
from vibes_lsp.trail.rows import ANNOTATION_KINDS, EDGE_TYPES, REASONS

if TYPE_CHECKING:
    from vibes_lsp.trail.log_index import LogIndex

_BATCH: Final = 4_096
"""Lines of joined annotations that are decoded at once."""
_SUPERSEDING: Final = f"""
    WITH pair AS MATERIALIZED (
        SELECT row, reason,
            (SELECT row FROM record WHERE key = source AND kind IN (1, 2) ORDER BY row LIMIT 1)
                AS newer,
            (SELECT row FROM record WHERE key = target AND kind IN (1, 2) ORDER BY row LIMIT 1)
                AS older
        FROM edge WHERE type = {EDGE_TYPES.index(EdgeType.SUPERSEDES)}
    ) SELECT row, reason, newer, older FROM pair
    WHERE newer NOTNULL AND older NOTNULL AND newer <> older ORDER BY row
"""  # noqa: S608  # our own numbers
_REPEATED: Final = (
    "SELECT key, row, kind FROM record WHERE key IN ("
    "SELECT key FROM record WHERE key NOTNULL GROUP BY key HAVING count(*) > 1"
    ") ORDER BY key, row"
)
_HUNKS: Final = (
    "SELECT edit, row FROM annotation WHERE edit IN ("
    "SELECT edit FROM annotation WHERE edit NOTNULL GROUP BY edit HAVING count(*) > 1"
    ") ORDER BY edit, row"
)
_COVERS: Final = REASONS.index(SupersedesReason.COVERS)


class Superseding(NamedTuple):
    """A supersedes edge: its row, its reason, and the first annotations with its ends' ids."""

    row: int
    reason: int | None
    newer: int
    older: int

    @property
    def covers(self) -> bool:
        """Whether it certainly joins no records of one edit."""
        return self.reason == _COVERS


def repeated(log: LogIndex) -> Iterator[list[tuple[int, int]]]:
    """Yield row and kind of the records that may have one id, for each such id."""
    for _, same in groupby(log.stream(_REPEATED), key=lambda row: row[0]):
        yield [(row, kind) for _, row, kind in same]


class LineageGroups:
    """Which annotations of a log supersedes edges may put into one lineage, by line.

    Args:
        log: The log, refreshed.
        with_history: Whether also those that only make another lineage history are grouped, and
            the hunks of one edit.

    Attributes:
        repeated: The lines of records whose id others may have.
        copies: Those of annotations whose id an annotation before them may have.
        edges: The edges by which annotations are grouped.
        hunks: The hunks of edits that are not the first of their edit, if those are grouped.
    """

    def __init__(self, log: LogIndex, *, with_history: bool = False) -> None:
        self._log = log
        self._parents: dict[int, int] = {}
        self.repeated: set[int] = set()
        self.copies: set[int] = set()
        for same in repeated(log):
            self.repeated.update(row for row, _ in same)
            annotations = [row for row, kind in same if kind in ANNOTATION_KINDS]
            self.copies.update(annotations[1:])
            for row in annotations[1:]:
                self._unite(annotations[0], row)
        self.edges = [
            edge
            for edge in starmap(Superseding, log.stream(_SUPERSEDING))
            if with_history or not edge.covers
        ]
        for edge in self.edges:
            self._unite(edge.newer, edge.older)
        self.hunks: set[int] = set()
        for _, same_edit in groupby(log.stream(_HUNKS), itemgetter(0)) if with_history else ():
            first, *later = (row for _, row in same_edit)
            self.hunks.update(later)
            for row in later:
                self._unite(first, row)

    def _unite(self, first: int, second: int) -> None:
        first, second = self.group_of(first), self.group_of(second)
        self._parents[max(first, second)] = min(first, second)

    def group_of(self, line: int) -> int:
        """Return the first line of the group of an annotation."""
        parents = self._parents
        parent = parents.setdefault(line, line)
        while parent != parents[parent]:
            parents[parent] = parents[parents[parent]]
            parent = parents[parent]
        parents[line] = parent
        return parent

    def is_joined(self, line: int) -> bool:
        """Whether the lineage of the annotation on a line may have other records."""
        return line in self._parents

    def single_annotations(self) -> Iterator[int]:
        """Yield the lines of annotations that are a lineage by themselves."""
        for (row,) in self._log.stream("SELECT row FROM annotation ORDER BY row"):
            if row not in self._parents:
                yield row

    def joined_batches(
        self, groups: Iterable[int] | None = None
    ) -> Iterator[tuple[list[int], list[int]]]:
        """Yield lines of annotations in whole groups, with the lines of the edges among them.

        Args:
            groups: Only these groups, given by their first lines.
        """
        wanted: dict[int, list[int]] = defaultdict(list)
        for line in self._parents:
            wanted[self.group_of(line)].append(line)
        edges: dict[int, list[int]] = defaultdict(list)
        for edge in self.edges:
            edges[self.group_of(edge.newer)].append(edge.row)
        lines: list[int] = []
        own: list[int] = []
        for first in sorted(wanted if groups is None else groups):
            lines += wanted[first]
            own += edges[first]
            if len(lines) >= _BATCH:
                yield sorted(lines), sorted(own)
                lines, own = [], []
        if lines:
            yield sorted(lines), sorted(own)


def build_group(
    log: LogIndex, batch: tuple[Sequence[int], Sequence[int]], nearest_commit: NearestCommit | None
) -> list[Lineage]:
    """Return the lineages of a batch of `joined_batches`, oldest first."""
    records, edges = (
        (record for _, record in log.decode(lines) if isinstance(record, LogRecord))
        for lines in batch
    )
    return build_lineages(records, list(map(read_edge, edges)), nearest_commit)
