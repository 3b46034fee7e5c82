"""Reads the lineages of files and records from the index (R7).

One recursive query gives all annotations that supersedes edges may connect with some, across files;
`trail.lineage` decides by whole ids which of them are one edit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class _Component:
    """Lineages that supersedes edges connect.

    Attributes:
        lineages: The lineages.
        rows: The rows of their records.
    """

    lineages: Sequence[Lineage]
    rows: Sequence[int]

    @property
    def depends_on_head(self) -> bool:
        """Whether HEAD decides which records are current."""
        return any(lineage.depends_on_head for lineage in self.lineages)


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
        self._large: dict[int, _Component] = {}

    def lineages_in(self, path: str) -> list[Lineage]:
        """Return the lineages whose current annotation is about a file, oldest first.

        Args:
            path: Relative to the project, forward slashes.
        """
        return list(self._of_file(normal_path(path)))

    def lineages_of(self, records: Iterable[LogRecord]) -> list[Lineage]:
        """Return the lineages of records and of all that edges connect with them, oldest first."""
        self._drop_outdated()
        found = self._components(list(records))
        return sorted((each for one in found for each in one.lineages), key=_RANK)

    def _drop_outdated(self) -> None:
        if self._generation != self._log.generation:
            self._generation = self._log.generation
            self._files, self._large = {}, {}

    def _of_file(self, name: str) -> list[Lineage]:
        self._drop_outdated()
        if name in self._files:
            return self._files[name]
        components = self._components(list(self._log.records(self._log.lines_about(name))))
        lineages = [
            lineage
            for component in components
            for lineage in component.lineages
            if normal_path(lineage.current.text("file_path") or "") == name
        ]
        lineages.sort(key=_RANK)
        if not any(each.depends_on_head for each in components):
            self._files[name] = lineages
            if len(self._files) > _MAX_FILES:
                del self._files[next(iter(self._files))]
        return lineages

    def _components(self, seeds: Sequence[LogRecord]) -> list[_Component]:
        """Return the components of records, each once."""
        by_id: dict[str, LogRecord] = {}
        large: dict[int, _Component] = {}
        for seed in seeds:
            known = self._large.get(seed.line)
            if known is None:
                by_id.setdefault(seed.id, seed)
            else:
                large[id(known)] = known
        if not by_id:
            return list(large.values())
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
        found = self._build(by_id, edges, seed_ids)
        for component in found:
            is_simple = len(annotations) == len(by_id)  # no id is repeated
            if len(component.rows) >= _MIN_SHARED and is_simple and not component.depends_on_head:
                self._large.update(dict.fromkeys(component.rows, component))
        return [*large.values(), *found]

    def _build(
        self, by_id: dict[str, LogRecord], edges: Iterable[Edge], seed_ids: Iterable[str]
    ) -> list[_Component]:
        """Return the components that have one of some ids."""
        connecting = [edge for edge in edges if edge.source in by_id and edge.target in by_id]
        if not connecting:  # as for most
            return [
                _Component((Lineage((by_id[each],), by_id[each]),), (by_id[each].line,))
                for each in seed_ids
            ]
        groups = connected_components(by_id, connecting)
        number_of = {each: number for number, group in enumerate(groups) for each in group}
        wanted = sorted({number_of[each] for each in seed_ids})
        own = {each for number in wanted for each in groups[number]}
        lineages: dict[int, list[Lineage]] = defaultdict(list)
        for lineage in build_lineages(
            (record for each, record in by_id.items() if each in own),
            connecting,
            self._nearest_commit,
        ):
            lineages[number_of[lineage.first.id]].append(lineage)
        return [
            _Component(lineages[number], [by_id[each].line for each in groups[number]])
            for number in wanted
        ]
