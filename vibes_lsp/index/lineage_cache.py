"""The lineages of files, kept between questions (R7): of what was recorded meanwhile, only what it is tied to is joined anew.

Annotations that supersedes edges tie together, in whatever file, make a knot; lineages, and what is history, are settled within one. A new
line of the log changes no knot but those that it names or is named by; an edit that replaces earlier ones, as most do, is only put on top.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter
from typing import Final

from vibes_lsp.index.lineage import (
    Lineage,
    NearestCommit,
    build_lineages,
    connected_components,
    is_same_edit,
    replaces,
)
from vibes_lsp.index.log_columns import ANNOTATION_KINDS, EDGE_TYPES, LogColumns, id_key
from vibes_lsp.index.log_index import LogIndex
from vibes_lsp.index.records import Edge, LogRecord
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import EdgeType

_SUPERSEDES: Final = EDGE_TYPES.index(EdgeType.SUPERSEDES)
_FILES: Final = 64
"""Files whose lineages are kept."""
_MANY: Final = 4_096
"""New lines of the log from which on a file is joined as if for the first time."""


_RANK: Final = attrgetter("rank")


@dataclass(slots=True, eq=False)
class _Knot:
    """Annotations that supersedes edges tie together.

    Attributes:
        firsts: The ids of the first records of the lineages that they come to.
        tied: The keys of the annotations.
        ends: These, and the keys of what the edges name and is not there; several knots may wait for one of those.
        asks: Whether that depended on which commit is nearest, which may be another one next time.
    """

    firsts: set[str]
    tied: set[int]
    ends: set[int]
    asks: bool = False


@dataclass(slots=True)
class _File:
    """What is known of one file as of a line of the log.

    Attributes:
        until: The line.
        knots: By the keys of what they name.
        asking: Those that may come to something else next time, by their identity.
        homes: The lineage of each annotation, by its id.
        lineages: Those whose current annotation is about the file, oldest first.
    """

    until: int = 0
    knots: dict[int, list[_Knot]] = field(default_factory=dict)
    asking: dict[int, _Knot] = field(default_factory=dict)
    homes: dict[str, Lineage] = field(default_factory=dict)
    lineages: list[Lineage] = field(default_factory=list)

    def lineages_of(self, knot: _Knot) -> list[Lineage]:
        """Return what a knot comes to."""
        return [self.homes[first] for first in knot.firsts]

    def member(self, identifier: str) -> LogRecord | None:
        """Return an annotation of the knots; None for any other."""
        home = self.homes.get(identifier)
        return (
            None
            if home is None
            else next(member for member in home.members if member.id == identifier)
        )

    def add(self, knot: _Knot, lineages: Iterable[Lineage]) -> None:
        """Add a knot with what it comes to."""
        for lineage in lineages:
            for identifier in lineage.ids:
                self.homes[identifier] = lineage
        for end in knot.ends:
            self.knots.setdefault(end, []).append(knot)
        if knot.asks:
            self.asking[id(knot)] = knot

    def remove(self, knot: _Knot) -> None:
        """Forget a knot and what it comes to."""
        for end in knot.ends:
            self.knots[end] = [each for each in self.knots[end] if each is not knot]
        for identifier in [
            identifier for lineage in self.lineages_of(knot) for identifier in lineage.ids
        ]:
            del self.homes[identifier]
        self.asking.pop(id(knot), None)

    def put_on_top(self, record: LogRecord, edges: Sequence[Edge]) -> None:
        """Add an annotation that replaces others, and that nothing replaces or names: it is in no circle, and what is history stays so."""
        key = id_key(record.id)
        lineage = Lineage((record,), record)
        knot = _Knot({record.id}, {key}, {key})
        self.add(knot, [lineage])
        insort(self.lineages, lineage, key=_RANK)
        for edge in edges:
            older, target = self.homes[edge.target], self.member(edge.target)
            if target is not None and replaces(edge, record, target):
                self._supersede(older, record.id)
            other = next(
                each for each in self.knots[id_key(edge.target)] if older.first.id in each.firsts
            )
            if other is not knot:
                knot = self._tie(knot, other)

    def _supersede(self, older: Lineage, identifier: str) -> None:
        history = Lineage(
            older.members, older.current, tuple(sorted({*older.superseded_by, identifier}))
        )
        self.homes.update(dict.fromkeys(history.ids, history))
        at = bisect_left(self.lineages, history.rank, key=_RANK)
        if at < len(self.lineages) and self.lineages[at] is older:
            self.lineages[at] = history

    def _tie(self, one: _Knot, other: _Knot) -> _Knot:
        """Make one knot of two; the smaller goes into the larger, so that a long chain of edits costs no more for each."""
        large, small = (one, other) if len(one.ends) >= len(other.ends) else (other, one)
        for end in small.ends:
            knots = [each for each in self.knots[end] if each is not small]
            self.knots[end] = knots if large in knots else [*knots, large]
        large.firsts |= small.firsts
        large.tied |= small.tied
        large.ends |= small.ends
        return large


class LineageCache:
    """Joins annotations of one log to lineages.

    Args:
        log: The log, refreshed before every question.
        nearest: Decides between several ends of a lineage, by git; see `Nearest`.
    """

    def __init__(self, log: LogIndex, nearest: NearestCommit | None) -> None:
        self._log = log
        self._nearest = nearest
        self._forget(log.columns)

    def _forget(self, columns: LogColumns) -> None:
        self._columns = columns
        self._spellings: dict[str, list[str]] = {}
        self._spelled = 0
        self._files: dict[str, _File] = {}

    def lineages_in(self, path: str) -> list[Lineage]:
        """Return the lineages whose current annotation is about a file, oldest first.

        Args:
            path: Relative to the project, forward slashes.
        """
        if self._columns is not self._log.columns:  # it was read anew
            self._forget(self._log.columns)
        wanted = normal_path(path)
        file = self._files.pop(wanted, None)
        total = len(self._columns)
        if (
            file is None
            or total - file.until > _MANY
            or (file.until == total and self._log.unterminated)
        ):
            file = _File()
        lines = [
            line
            for spelling in self._spelled_as(wanted)
            for line in _after(self._columns.annotations[spelling], file.until)
        ]
        if not file.until or not self._put_on_top(file, sorted(lines)):
            seeds = [*sorted(lines), *self._touched(file)] if file.until else sorted(lines)
            asking = (
                lineage.first for knot in file.asking.values() for lineage in file.lineages_of(knot)
            )
            records = list(chain(self._log.records(seeds), asking))
            if records:
                self._add(file, wanted, records)
        file.until = total
        self._files[wanted] = file
        while len(self._files) > _FILES:
            del self._files[next(iter(self._files))]
        return list(file.lineages)

    def is_independent_of_head(self, path: str) -> bool:
        """Whether what `of_file` said last of a file rests on the log alone."""
        return not self._files[normal_path(path)].asking

    def lineages_of(self, records: Iterable[LogRecord]) -> list[Lineage]:
        """Return the lineages of some records, and of all that supersedes edges tie to them, oldest first."""
        return sorted(
            (each for _, lineages in self._knots(records) for each in lineages), key=_RANK
        )

    def _put_on_top(self, file: _File, lines: Sequence[int]) -> bool:
        """Add annotations that replace what is known of a file, if that is all that has come; else add nothing, and say so."""
        if file.asking:
            return False
        new: dict[str, tuple[LogRecord, list[Edge]]] = {}
        for record in self._log.records(lines):
            if record.id in new or file.knots.get(id_key(record.id)):
                return False
            edges = self._log.edges(
                source=record.id, target=record.id, edge_type=EdgeType.SUPERSEDES
            )
            out = [edge for edge in edges if edge.source == record.id]
            for edge in out:
                target = new[edge.target][0] if edge.target in new else file.member(edge.target)
                if target is None or is_same_edit(edge, record, target):
                    return False
            if any(edge.record.line <= file.until for edge in edges if edge.source != record.id):
                return False
            new[record.id] = record, out
        own = {id_key(identifier) for identifier in new}
        if any(source not in own for source, _ in self._new_edges(file, own)) or any(
            self._named(file)
        ):
            return False
        for record, out in new.values():
            file.put_on_top(record, out)
        return True

    def _add(self, file: _File, path: str, records: Iterable[LogRecord]) -> None:
        """Join records, in place of whatever they are tied to."""
        new = list(self._knots(records))
        tied: set[int] = set().union(*(knot.tied for knot, _ in new))
        known = tied if file.knots else ()
        gone = {
            id(knot): knot
            for key in known
            for knot in file.knots.get(key, ())
            if not knot.tied.isdisjoint(tied)
        }
        dropped = {id(lineage) for knot in gone.values() for lineage in file.lineages_of(knot)}
        for knot in gone.values():
            file.remove(knot)
        found = [lineage for lineage in file.lineages if id(lineage) not in dropped]
        for knot, lineages in new:
            file.add(knot, lineages)
            found += [
                lineage
                for lineage in lineages
                if normal_path(lineage.current.text("file_path") or "") == path
            ]
        file.lineages = sorted(found, key=_RANK)

    def _touched(self, file: _File) -> Iterator[int]:
        """Give the lines of annotations that something new on the log may tie to others."""
        yield from self._named(file)
        for ends in self._new_edges(file, ()):
            knots = (knot for end in ends for knot in file.knots.get(end, ()))
            yield from (
                member.line
                for knot in knots
                for lineage in file.lineages_of(knot)
                for member in lineage.members
            )

    def _named(self, file: _File) -> Iterator[int]:
        """Give the lines of new annotations that were named before they were there."""
        columns = self._columns
        for line in range(file.until + 1, len(columns) + 1):
            if columns.kinds[line - 1] in ANNOTATION_KINDS and file.knots.get(
                columns.keys[line - 1]
            ):
                yield line

    def _new_edges(self, file: _File, own: Collection[int]) -> Iterator[tuple[int, int]]:
        """Give the keys of the ends of new supersedes edges that name something of the file, or one of some keys."""
        columns = self._columns
        for number in range(bisect_right(columns.edge_lines, file.until), len(columns.edge_lines)):
            if columns.edge_types[number] == _SUPERSEDES:
                ends = columns.edge_sources[number], columns.edge_targets[number]
                if any(file.knots.get(end) or end in own for end in ends):
                    yield ends

    def _spelled_as(self, path: str) -> Sequence[str]:
        """Return how the log spells a path."""
        names = self._columns.annotations
        if len(names) > self._spelled:
            for name in list(names)[self._spelled :]:
                self._spellings.setdefault(normal_path(name), []).append(name)
            self._spelled = len(names)
        return self._spellings.get(path, ())

    def _knots(self, records: Iterable[LogRecord]) -> Iterator[tuple[_Knot, Sequence[Lineage]]]:
        """Give the knots of some records and what they come to, with all that supersedes edges tie to them, in whatever file those are."""
        named = self._log.edge_ends(EdgeType.SUPERSEDES)
        known: dict[str, LogRecord] = {}
        for each in {record.id: record for record in reversed(list(records))}.values():
            key = id_key(each.id)
            if key in named:
                known[each.id] = each
            else:  # as most: it is tied to nothing
                yield _Knot({each.id}, {key}, {key}), [Lineage((each,), each)]
        edges: dict[str, Edge] = {}
        pending = list(known)
        while pending:
            identifier = pending.pop()
            for edge in self._log.edges(
                source=identifier, target=identifier, edge_type=EdgeType.SUPERSEDES
            ):
                if edge.record.id in edges:
                    continue
                edges[edge.record.id] = edge
                for end in {edge.source, edge.target}.difference(known):
                    record = self._log.by_id(end)
                    if record is not None and record.is_annotation:
                        known[end] = record
                        pending.append(end)
        by_end: dict[str, list[Edge]] = {}
        for edge in edges.values():
            by_end.setdefault(edge.source if edge.source in known else edge.target, []).append(edge)
        for group in connected_components(
            known,
            [edge for edge in edges.values() if edge.source in known and edge.target in known],
        ):
            tied = [edge for identifier in group for edge in by_end.get(identifier, ())]
            yield self._knot([known[identifier] for identifier in group], tied)

    def _knot(
        self, records: Sequence[LogRecord], edges: Sequence[Edge]
    ) -> tuple[_Knot, Sequence[Lineage]]:
        asked: list[Sequence[str]] = []

        def nearest(commits: Sequence[str]) -> str | None:
            asked.append(commits)
            return None if self._nearest is None else self._nearest(commits)

        lineages = build_lineages(records, edges, nearest)
        tied = {id_key(record.id) for record in records}
        named = {id_key(end) for edge in edges for end in (edge.source, edge.target)}
        firsts = {lineage.first.id for lineage in lineages}
        return _Knot(
            firsts, tied, tied | named, self._nearest is not None and bool(asked)
        ), lineages


def _after(lines: Sequence[int], until: int) -> Sequence[int]:
    return lines[bisect_right(lines, until) :]
