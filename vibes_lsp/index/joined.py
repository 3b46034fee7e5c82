"""The lineages of files, kept between questions (R7): of what was recorded meanwhile, only what it is tied to is joined anew.

Annotations that supersedes edges tie together, in whatever file, make a knot; lineages, and what is history, are settled within one. A new
line of the log changes no knot but those that it names or is named by.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from vibes_lsp.index.columns import ANNOTATIONS, EDGE_TYPES, Columns, key_of
from vibes_lsp.index.lineage import Lineage, Nearest, components, join_lineages
from vibes_lsp.index.log import LogIndex
from vibes_lsp.index.records import Edge, LogRecord
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import EdgeType

_SUPERSEDES: Final = EDGE_TYPES.index(EdgeType.SUPERSEDES)
_FILES: Final = 64
"""Files whose lineages are kept."""
_MANY: Final = 4_096
"""New lines of the log from which on a file is joined as if for the first time."""


@dataclass(frozen=True, slots=True)
class _Knot:
    """Annotations that supersedes edges tie together.

    Attributes:
        lineages: What they come to.
        tied: The keys of the annotations.
        ends: These, and the keys of what the edges name and is not there; several knots may wait for one of those.
        asks: Whether that depended on which commit is nearest, which may be another one next time.
    """

    lineages: Sequence[Lineage]
    tied: frozenset[int]
    ends: frozenset[int]
    asks: bool


@dataclass(slots=True)
class _File:
    """What is known of one file as of a line of the log; knots by the keys of what they name."""

    until: int = 0
    knots: dict[int, list[_Knot]] = field(default_factory=dict)
    lineages: list[Lineage] = field(default_factory=list)


class Joined:
    """Joins annotations of one log to lineages.

    Args:
        log: The log, refreshed before every question.
        nearest: Decides between several ends of a lineage, by git; see `Nearest`.
    """

    def __init__(self, log: LogIndex, nearest: Nearest | None) -> None:
        self._log = log
        self._nearest = nearest
        self._forget(log.columns)

    def _forget(self, columns: Columns) -> None:
        self._columns = columns
        self._spellings: dict[str, list[str]] = {}
        self._spelled = 0
        self._files: dict[str, _File] = {}

    def of_file(self, path: str) -> list[Lineage]:
        """Return the lineages whose current annotation is about a file, oldest first.

        Args:
            path: Relative to the project, forward slashes.
        """
        if self._columns is not self._log.columns:  # it was read anew
            self._forget(self._log.columns)
        wanted = normal_path(path)
        file = self._files.pop(wanted, None)
        total = len(self._columns)
        if file is None or total - file.until > _MANY or (file.until == total and self._log.unterminated):
            file = _File()
        lines = [line for spelling in self._spelled_as(wanted) for line in _after(self._columns.annotations[spelling], file.until)]
        asking = {id(knot): knot for knots in file.knots.values() for knot in knots if knot.asks}
        seeds = [*sorted(lines), *self._touched(file)] if file.until else sorted(lines)
        records = list(chain(self._log.records(seeds), (lineage.first for knot in asking.values() for lineage in knot.lineages)))
        file.until = total
        if records:
            self._add(file, wanted, records)
        self._files[wanted] = file
        while len(self._files) > _FILES:
            del self._files[next(iter(self._files))]
        return list(file.lineages)

    def with_records(self, records: Iterable[LogRecord]) -> list[Lineage]:
        """Return the lineages of some records, and of all that supersedes edges tie to them, oldest first."""
        return sorted((each for knot in self._knots(records) for each in knot.lineages), key=lambda lineage: lineage.rank)

    def _add(self, file: _File, path: str, records: Iterable[LogRecord]) -> None:
        """Join records, in place of whatever they are tied to."""
        new = list(self._knots(records))
        tied = frozenset().union(*(knot.tied for knot in new))
        gone = {id(knot): knot for key in tied for knot in file.knots.get(key, ()) if not knot.tied.isdisjoint(tied)}
        for end in frozenset().union(*(knot.ends for knot in gone.values())):
            file.knots[end] = [knot for knot in file.knots[end] if id(knot) not in gone]
        dropped = {id(lineage) for knot in gone.values() for lineage in knot.lineages}
        found = [lineage for lineage in file.lineages if id(lineage) not in dropped]
        for knot in new:
            for end in knot.ends:
                file.knots.setdefault(end, []).append(knot)
            found += (lineage for lineage in knot.lineages if normal_path(lineage.current.text("file_path") or "") == path)
        file.lineages = sorted(found, key=lambda lineage: lineage.rank)

    def _touched(self, file: _File) -> Iterator[int]:
        """Give the lines of annotations that something new on the log may tie to others."""
        columns, knots = self._columns, file.knots
        for line in range(file.until + 1, len(columns) + 1):
            if columns.kinds[line - 1] in ANNOTATIONS and columns.keys[line - 1] in knots:
                yield line
        for number in range(bisect_right(columns.edge_lines, file.until), len(columns.edge_lines)):
            if columns.edge_types[number] != _SUPERSEDES:
                continue
            for end in (columns.edge_sources[number], columns.edge_targets[number]):
                yield from (member.line for knot in knots.get(end, ()) for lineage in knot.lineages for member in lineage.members)

    def _spelled_as(self, path: str) -> Sequence[str]:
        """Return how the log spells a path."""
        names = self._columns.annotations
        if len(names) > self._spelled:
            for name in list(names)[self._spelled :]:
                self._spellings.setdefault(normal_path(name), []).append(name)
            self._spelled = len(names)
        return self._spellings.get(path, ())

    def _knots(self, records: Iterable[LogRecord]) -> Iterator[_Knot]:
        """Give the knots of some records, with all that supersedes edges tie to them, in whatever file those are."""
        named = self._log.ends(EdgeType.SUPERSEDES)
        known: dict[str, LogRecord] = {}
        for each in {record.id: record for record in reversed(list(records))}.values():
            key = key_of(each.id)
            if key in named:
                known[each.id] = each
            else:  # as most: it is tied to nothing
                alone = frozenset((key,))
                yield _Knot((Lineage((each,), each),), alone, alone, asks=False)
        edges: dict[str, Edge] = {}
        pending = list(known)
        while pending:
            identifier = pending.pop()
            for edge in self._log.edges(out_of=identifier, into=identifier, kind=EdgeType.SUPERSEDES):
                if edge.record.id in edges:
                    continue
                edges[edge.record.id] = edge
                for end in {edge.source, edge.target} - known.keys():
                    record = self._log.by_id(end)
                    if record is not None and record.is_annotation:
                        known[end] = record
                        pending.append(end)
        by_end: dict[str, list[Edge]] = {}
        for edge in edges.values():
            by_end.setdefault(edge.source if edge.source in known else edge.target, []).append(edge)
        for group in components(known, [edge for edge in edges.values() if edge.source in known and edge.target in known]):
            tied = [edge for identifier in group for edge in by_end.get(identifier, ())]
            yield self._knot([known[identifier] for identifier in group], tied)

    def _knot(self, records: Sequence[LogRecord], edges: Sequence[Edge]) -> _Knot:
        asked: list[Sequence[str]] = []

        def nearest(commits: Sequence[str]) -> str | None:
            asked.append(commits)
            return None if self._nearest is None else self._nearest(commits)

        lineages = join_lineages(records, edges, nearest)
        tied = frozenset(key_of(record.id) for record in records)
        named = {key_of(end) for edge in edges for end in (edge.source, edge.target)}
        return _Knot(lineages, tied, tied | named, self._nearest is not None and bool(asked))


def _after(lines: Sequence[int], until: int) -> Sequence[int]:
    return lines[bisect_right(lines, until) :]
