"""Groups the annotations of a log into lineages by the index, without decoding them.

Most annotations are a lineage by themselves. The others are those that a supersedes edge may join,
and those whose id occurs twice. With them decoded some groups at a time, memory is bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from vibes_lsp.model.vocabulary import EdgeType, SupersedesReason
from vibes_lsp.trail.lineage import Lineage, NearestCommit, build_lineages
from vibes_lsp.trail.log_index import LogIndex
from vibes_lsp.trail.records import LogRecord, read_edge
from vibes_lsp.trail.rows import ANNOTATION_KINDS, EDGE_TYPES, REASONS, LogLineKind

_BATCH: Final = 4_096
"""Lines of joined annotations that are decoded at once."""
SUPERSEDING: Final = f"""
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
"""Supersedes edges with the rows of the first annotations that have the ids of their ends."""
REPEATED: Final = (
    "SELECT key, row, kind FROM record WHERE key IN ("
    "SELECT key FROM record WHERE key NOTNULL GROUP BY key HAVING count(*) > 1"
    ") ORDER BY key, row"
)
"""The records whose id others have too."""
_COVERS: Final = REASONS.index(SupersedesReason.COVERS)


class RowSet:
    """A set of rows, of which a log may have millions: a byte of memory for each of its lines."""

    def __init__(self, lines: int) -> None:
        self._lines = bytearray(lines + 1)
        self._others: set[int] = set()

    def add(self, row: int) -> None:
        """Add a row."""
        if row < len(self._lines):
            self._lines[row] = 1
        else:
            self._others.add(row)

    def __contains__(self, row: int) -> bool:
        return bool(self._lines[row]) if row < len(self._lines) else row in self._others

    def __iter__(self) -> Iterator[int]:
        at = self._lines.find(1)
        while at >= 0:
            yield at
            at = self._lines.find(1, at + 1)
        yield from sorted(self._others)


class Groups:
    """Rows in groups: a row that was not united is not in any."""

    def __init__(self) -> None:
        self._parents: dict[int, int] = {}

    def unite(self, rows: Sequence[int]) -> None:
        """Put rows, and all that are in a group with one of them, into one group."""
        for row in rows[1:]:
            one, other = self.root(rows[0]), self.root(row)
            self._parents[max(one, other)] = min(one, other)

    def root(self, row: int) -> int:
        """Return the first row of the group of a row."""
        parents = self._parents
        parent = parents.setdefault(row, row)
        while parent != parents[parent]:
            parents[parent] = parents[parents[parent]]
            parent = parents[parent]
        parents[row] = parent
        return parent

    def __contains__(self, row: int) -> bool:
        return row in self._parents

    def groups(self) -> Iterator[tuple[int, list[int]]]:
        """Yield the rows of each group in order, by the first of them."""
        for root, rows in groupby(sorted(sorted(self._parents), key=self.root), key=self.root):
            yield root, list(rows)


class LineageGroups:
    """Which annotations of a log supersedes edges may put into one lineage, by line.

    Args:
        log: The log, refreshed.
        with_history: Whether also those that only make another lineage history are grouped.
    """

    def __init__(self, log: LogIndex, *, with_history: bool = False) -> None:
        self._index = index = log.index
        lines = index.line_count()
        self._kinds = bytearray(lines + 1)
        self._other_kinds: dict[int, int] = {}
        for row, kind in index.stream("SELECT row, kind FROM record"):
            if row <= lines:
                self._kinds[row] = kind
            else:
                self._other_kinds[row] = kind
        self._caused = self._sources(EdgeType.CAUSED_BY, lines)
        self._superseding = self._sources(EdgeType.SUPERSEDES, lines)
        self._repeated = RowSet(lines)
        self._groups = Groups()
        self._edges: list[tuple[int, int]] = []
        for _, same in groupby(index.stream(REPEATED), key=lambda found: found[0]):
            annotations = []
            for _, row, kind in same:
                self._repeated.add(row)
                if kind in ANNOTATION_KINDS:
                    annotations.append(row)
            self._groups.unite(annotations)
        for row, reason, newer, older in index.stream(SUPERSEDING):
            if with_history or reason != _COVERS:
                self._groups.unite((newer, older))
                self._edges.append((row, newer))

    def _sources(self, kind: EdgeType, lines: int) -> RowSet:
        """Return the records that are the source of an edge of a type."""
        found = RowSet(lines)
        for (row,) in self._index.stream(
            "SELECT record.row FROM edge JOIN record ON record.key = edge.source WHERE type = ?",
            EDGE_TYPES.index(kind),
        ):
            found.add(row)
        return found

    def kind(self, line: int) -> LogLineKind:
        """Return what a line contains."""
        is_logged = line < len(self._kinds)
        return LogLineKind(self._kinds[line] if is_logged else self._other_kinds[line])

    def is_caused(self, line: int) -> bool:
        """Whether the annotation on a line has a caused_by edge."""
        return line in self._caused

    def is_superseding(self, line: int) -> bool:
        """Whether the annotation on a line has a supersedes edge."""
        return line in self._superseding

    def is_joined(self, line: int) -> bool:
        """Whether the lineage of the annotation on a line may have other records."""
        return line in self._groups

    def may_be_repeated(self, line: int) -> bool:
        """Whether other records have the id of the one on a line."""
        return line in self._repeated

    def candidates(self, identifier: str) -> list[int]:
        """Return the lines of the records that have an id, in log order."""
        return self._index.numbers(
            "SELECT row FROM record WHERE key = ? ORDER BY row", self._index.key(identifier)
        )

    def single_annotations(self) -> Iterator[int]:
        """Yield the lines of annotations that are a lineage by themselves."""
        for (row,) in self._index.stream("SELECT row FROM annotation ORDER BY row"):
            if row not in self._groups:
                yield row

    def is_first(self, line: int) -> bool:
        """Whether no annotation before this line has the same id."""
        return line not in self._repeated or not self._index.numbers(
            "SELECT row FROM record WHERE key = (SELECT key FROM record WHERE row = ?)"
            " AND kind IN (1, 2) AND row < ? LIMIT 1",
            line,
            line,
        )

    def joined_batches(self) -> Iterator[tuple[list[int], list[int]]]:
        """Yield lines of annotations in whole groups, with the lines of the edges among them."""
        edges: dict[int, list[int]] = {}
        for edge, newer in self._edges:
            edges.setdefault(self._groups.root(newer), []).append(edge)
        lines: list[int] = []
        own: list[int] = []
        for root, group in self._groups.groups():
            lines += group
            own += edges.pop(root, ())
            if len(lines) >= _BATCH:
                yield sorted(lines), sorted(own)
                lines, own = [], []
        if lines:
            yield sorted(lines), sorted(own)


def build_group(
    log: LogIndex, batch: tuple[Iterable[int], Iterable[int]], nearest_commit: NearestCommit | None
) -> list[Lineage]:
    """Return the lineages of a batch of `joined_batches`, oldest first."""
    records, edges = (
        (record for _, record in log.decode(lines) if isinstance(record, LogRecord))
        for lines in batch
    )
    return build_lineages(records, list(map(read_edge, edges)), nearest_commit)
