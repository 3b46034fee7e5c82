"""Group the lines of annotations into lineages by the columns of the log, without decoding them.

Most annotations are a lineage by themselves. The others are those that a supersedes edge may join,
and those whose id occurs twice. With them decoded some groups at a time, memory is bounded.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress, groupby
from typing import Final

from vibes_lsp.index.id_keys import id_key
from vibes_lsp.index.lineage import Lineage, NearestCommit, build_lineages
from vibes_lsp.index.lines_by_key import LinesByKey
from vibes_lsp.index.log_columns import ANNOTATION_KINDS, EDGE_TYPES, REASONS, LogLineKind
from vibes_lsp.index.log_index import LogIndex
from vibes_lsp.index.records import LogRecord, read_edge
from vibes_lsp.model.vocabulary import EdgeType, SupersedesReason

_BATCH: Final = 4_096
"""Lines of joined annotations that are decoded at once."""


class LineageGroups:
    """Which annotations of a log supersedes edges may put into one lineage, by line.

    Args:
        log: The log, refreshed.
        with_history: Whether also those that only make another lineage history are grouped.

    """

    def __init__(self, log: LogIndex, *, with_history: bool = False) -> None:
        columns = log.columns
        self._keys = columns.keys.copy() if columns.keys.split else columns.keys.added
        self._kinds = b"".join(map(bytes, columns.kinds.parts()))
        self._by_key = LinesByKey(self._keys)
        self._columns = columns
        edge_types = b"".join(map(bytes, columns.edge_types.parts()))
        self._caused = self._sources(EdgeType.CAUSED_BY, edge_types)
        self._superseding = self._sources(EdgeType.SUPERSEDES, edge_types)
        self._joined = bytearray(len(columns) + 1)
        self._parents = array("I", range(len(columns) + 1))
        self._edges = array("I")
        self._first: dict[int, int] = {}
        self._repeated = bytearray(len(columns) + 1)
        for lines in self._by_key.repeated():
            for line in lines:
                self._repeated[line] = 1
            annotations = self._annotations(lines)
            self._first[self._keys[lines[0] - 1]] = annotations[0] if annotations else 0
            self._unite(annotations)
        supersedes = EDGE_TYPES.index(EdgeType.SUPERSEDES)
        covers = REASONS.index(SupersedesReason.COVERS)
        at = edge_types.find(supersedes)
        while at >= 0:
            if with_history or columns.edge_reasons[at] != covers:
                self._join(at)
            at = edge_types.find(supersedes, at + 1)

    def _sources(self, kind: EdgeType, edge_types: bytes) -> bytearray:
        """Return for each line whether its key is the source of an edge of a type."""
        code = EDGE_TYPES.index(kind)
        keys = set(compress(self._columns.edge_sources, map(code.__eq__, edge_types)))
        return bytearray(chain((False,), map(keys.__contains__, self._keys)))

    def _join(self, number: int) -> None:
        newer = self._first_with_key(self._columns.edge_sources[number])
        older = self._first_with_key(self._columns.edge_targets[number])
        if newer and older:
            self._unite((newer, older))
            self._edges.append(number)

    def _first_with_key(self, key: int) -> int:
        """Return the line of the first annotation with a key; 0 if there is none."""
        first = self._first.get(key)
        if first is None:
            first = next(iter(self._annotations(self._by_key.lines(key))), 0)
        return first

    def _annotations(self, lines: Iterable[int]) -> list[int]:
        return [line for line in lines if self._kinds[line - 1] in ANNOTATION_KINDS]

    def _unite(self, lines: Sequence[int]) -> None:
        if len(lines) < 2:
            return
        for line in lines:
            self._joined[line] = 1
            one, other = self._root(line), self._root(lines[0])
            self._parents[max(one, other)] = min(one, other)

    def _root(self, line: int) -> int:
        parents = self._parents
        while parents[line] != line:
            parents[line] = parents[parents[line]]
            line = parents[line]
        return line

    def kind(self, line: int) -> LogLineKind:
        """Return what a line contains."""
        return LogLineKind(self._kinds[line - 1])

    def is_caused(self, line: int) -> bool:
        """Whether the annotation on a line may have a caused_by edge."""
        return bool(self._caused[line])

    def is_superseding(self, line: int) -> bool:
        """Whether the annotation on a line may have a supersedes edge."""
        return bool(self._superseding[line])

    def is_joined(self, line: int) -> bool:
        """Whether the lineage of the annotation on a line may have other records."""
        return bool(self._joined[line])

    def may_be_repeated(self, line: int) -> bool:
        """Whether other records may have the id of the one on a line."""
        return bool(self._repeated[line])

    def candidates(self, identifier: str) -> list[int]:
        """Return the lines of the records that may have an id, in log order."""
        return self._by_key.lines(id_key(identifier))

    def single_annotations(self) -> Iterator[int]:
        """Yield the lines of annotations that are a lineage by themselves."""
        for line, kind in enumerate(self._kinds, 1):
            if kind in ANNOTATION_KINDS and not self._joined[line]:
                yield line

    def is_first(self, line: int) -> bool:
        """Whether no annotation before this line has the same key."""
        return not self._joined[line] or self._first_with_key(self._keys[line - 1]) == line

    def joined_batches(self) -> Iterator[tuple[list[int], list[int]]]:
        """Yield lines of annotations in whole groups, with the lines of the edges among them."""
        sources, edge_lines = self._columns.edge_sources, self._columns.edge_lines
        edges: dict[int, list[int]] = {}
        for number in self._edges:
            root = self._root(self._first_with_key(sources[number]))
            edges.setdefault(root, []).append(edge_lines[number])
        joined = (line for line, is_joined in enumerate(self._joined) if is_joined)
        lines: list[int] = []
        own: list[int] = []
        for root, group in groupby(sorted(joined, key=self._root), key=self._root):
            lines += group
            own += edges.pop(root, ())
            if len(lines) >= _BATCH:
                yield sorted(lines), sorted(own)
                lines, own = [], []
        if lines:
            yield sorted(lines), sorted(own)


def build_group(
    log: LogIndex, batch: tuple[list[int], list[int]], nearest_commit: NearestCommit | None
) -> list[Lineage]:
    """Return the lineages of a batch of `joined_batches`, oldest first."""
    records, edges = (
        (record for _, record in log.decode(lines) if isinstance(record, LogRecord))
        for lines in batch
    )
    return build_lineages(records, list(map(read_edge, edges)), nearest_commit)
