"""Reads the lineages of files and records from the index (R7).

One recursive query gives all annotations that supersedes edges may connect with some, across files;
`trail.lineage` decides by whole ids which of them are one edit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import EdgeType
from vibes_lsp.trail.index_writer import row_list
from vibes_lsp.trail.lineage import Lineage, NearestCommit, build_lineages, connected_components
from vibes_lsp.trail.records import Edge, LogRecord, read_edge
from vibes_lsp.trail.rows import EDGE_TYPES

if TYPE_CHECKING:
    from vibes_lsp.trail.log_index import LogIndex

_RANK: Final = attrgetter("rank")
_SUPERSEDES: Final = EDGE_TYPES.index(EdgeType.SUPERSEDES)
_CONNECTED: Final = f"""
    WITH RECURSIVE connected (key) AS (
        SELECT key FROM record WHERE row IN (SELECT value FROM json_each(?))
        UNION
        SELECT record.key FROM connected
        JOIN edge ON edge.source = connected.key OR edge.target = connected.key
        JOIN record ON record.key =
            CASE edge.source WHEN connected.key THEN edge.target ELSE edge.source END
        WHERE edge.type = {_SUPERSEDES} AND record.kind IN (1, 2)
    )
    SELECT row, 0 FROM record WHERE kind IN (1, 2) AND key IN (SELECT key FROM connected)
    UNION ALL
    SELECT row, 1 FROM edge
    WHERE type = {_SUPERSEDES} AND source IN (SELECT key FROM connected)
    ORDER BY row
"""  # noqa: S608  # our own numbers
"""The rows of annotations that edges may connect with some, and of these edges."""
_MAX_FILES: Final = 16
"""Files whose lineages are cached until the trail changes."""
_MIN_SHARED: Final = 64
"""Annotations from which on a component is cached: one edit may replace thousands, each in a file
of its own."""


class LineageReader:
    """The lineages of one log.

    Args:
        log: The log, refreshed before every call.
        nearest_commit: Chooses between several ends of a lineage, by git.
    """

    def __init__(self, log: LogIndex, nearest_commit: NearestCommit | None) -> None:
        self._log = log
        self._nearest_commit = nearest_commit
        self._generation = -1
        self._files: dict[str, list[Lineage]] = {}
        self._large: dict[int, list[Lineage]] = {}

    def lineages_in(self, path: str) -> list[Lineage]:
        """Return the lineages whose current annotation is about a file, oldest first.

        Args:
            path: Relative to the project, forward slashes.
        """
        self._drop_outdated()
        name = normal_path(path)
        if name not in self._files:
            connected = self._connected(list(self._log.records(self._log.lines_about(name))))
            lineages = [
                lineage
                for lineage in connected
                if normal_path(lineage.current.text("file_path") or "") == name
            ]
            lineages.sort(key=_RANK)
            if any(lineage.depends_on_head for lineage in connected):
                return lineages
            self._files[name] = lineages
            if len(self._files) > _MAX_FILES:
                del self._files[next(iter(self._files))]
        return list(self._files[name])

    def lineages_of(self, records: Iterable[LogRecord]) -> list[Lineage]:
        """Return the lineages of records and of all that edges connect with them, oldest first."""
        self._drop_outdated()
        return sorted(self._connected(list(records)), key=_RANK)

    def _drop_outdated(self) -> None:
        if self._generation != self._log.generation:
            self._generation = self._log.generation
            self._files, self._large = {}, {}

    def _connected(self, seeds: Sequence[LogRecord]) -> list[Lineage]:
        """Return the lineages of records, and of all that edges connect with them."""
        by_id: dict[str, LogRecord] = {}
        large: dict[int, list[Lineage]] = {}
        for seed in seeds:
            known = self._large.get(seed.line)
            if known is None:
                by_id.setdefault(seed.id, seed)
            else:
                large[id(known)] = known
        all_lineages = [lineage for lineages in large.values() for lineage in lineages]
        if not by_id:
            return all_lineages
        seed_ids = list(by_id)
        rows = [record.line for record in by_id.values()]
        connected = self._log.rows(_CONNECTED, row_list(rows))
        annotations = [row for row, is_edge in connected if not is_edge]
        edges = [
            read_edge(record)
            for record in self._log.records([row for row, is_edge in connected if is_edge])
        ]
        if edges:
            for record in self._log.records(sorted({*annotations}.difference(rows))):
                by_id.setdefault(record.id, record)
        has_repeated_ids = len(annotations) != len(by_id)
        for component in self._components(by_id, edges, seed_ids):
            all_lineages += component
            lines = [record.line for lineage in component for record in lineage.members]
            if (
                len(lines) >= _MIN_SHARED
                and not has_repeated_ids
                and not any(lineage.depends_on_head for lineage in component)
            ):
                self._large.update(dict.fromkeys(lines, component))
        return all_lineages

    def _components(
        self, by_id: Mapping[str, LogRecord], edges: Iterable[Edge], seed_ids: Iterable[str]
    ) -> Iterator[list[Lineage]]:
        """Yield the lineages that edges connect, of each group of records with some of these."""
        connecting = [edge for edge in edges if edge.source in by_id and edge.target in by_id]
        if not connecting:  # as for most
            yield from (
                [Lineage((by_id[identifier],), by_id[identifier])] for identifier in seed_ids
            )
            return
        groups = connected_components(by_id, connecting)
        number_of = {
            identifier: number for number, group in enumerate(groups) for identifier in group
        }
        own: dict[int, list[Edge]] = defaultdict(list)
        for edge in connecting:
            own[number_of[edge.source]].append(edge)
        for number in sorted({number_of[identifier] for identifier in seed_ids}):
            records = (by_id[identifier] for identifier in groups[number])
            yield build_lineages(records, own[number], self._nearest_commit)
