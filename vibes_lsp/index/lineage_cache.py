"""A cache of the lineages of files, updated from new lines of the log (R7).

Annotations that supersedes edges connect, across files, form a component. Lineages and history
depend on one component only, so a new line invalidates only those that it names or that name it. A
new edit that only replaces earlier ones, as most do, is appended without rebuilding.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, takewhile
from operator import attrgetter
from typing import Final, TypeAlias, TypeVar

from vibes_lsp.index.id_keys import append_id_keys, id_key
from vibes_lsp.index.lineage import (
    Lineage,
    NearestCommit,
    build_lineages,
    connected_components,
    is_same_edit,
    replaces,
)
from vibes_lsp.index.log_columns import ANNOTATION_KINDS, EDGE_TYPES, LogColumns
from vibes_lsp.index.log_index import LogIndex
from vibes_lsp.index.records import Edge, LogRecord, read_edge
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import EdgeType

_SUPERSEDES: Final = EDGE_TYPES.index(EdgeType.SUPERSEDES)
_MAX_FILES: Final = 64
"""Files whose lineages are cached."""
_MAX_NEW_LINES: Final = 4_096
"""New lines of the log from which on a file is rebuilt."""
_MIN_SHARED: Final = 64
"""Ends from which on a component is kept for other files: one edit may replace thousands."""
_RANK: Final = attrgetter("rank")
KnownEdges: TypeAlias = Mapping[int, Sequence[Edge]]
"""All supersedes edges of some annotations, by line."""
_T = TypeVar("_T")


@dataclass(slots=True, eq=False)
class _Component:
    """Annotations that supersedes edges connect.

    Most are one annotation, and there is one for each annotation of the files that are open: tuples
    take a fifth of the memory of sets.

    Attributes:
        firsts: The ids of the first records of their lineages.
        ends: The id keys of the annotations, and of ids that edges name but no record has; several
            components may have one of the latter.
        depends_on_head: Whether the lineages depend on HEAD, by `nearest_commit`.
    """

    firsts: Collection[str]
    ends: Collection[int]
    depends_on_head: bool = False

    def copy(self) -> _Component:
        """Return a component that changes independently."""
        return _Component(tuple(self.firsts), tuple(self.ends), self.depends_on_head)


@dataclass(slots=True)
class _File:
    """The lineages of one file as of a line of the log.

    Attributes:
        until: The line of the log up to which they are complete.
        edges: The number of edges up to this line.
        names: The number of spellings of paths up to this line.
        spellings: The numbers of those of the file.
        components: Components by the keys of their ends.
        head_dependent: Components that depend on HEAD, by identity.
        lineage_by_id: The lineage of each annotation.
        lineages: Those whose current annotation is about the file, oldest first.
    """

    until: int = 0
    edges: int = 0
    names: int = 0
    spellings: Sequence[int] = ()
    components: dict[int, tuple[_Component, ...]] = field(default_factory=dict)
    head_dependent: dict[int, _Component] = field(default_factory=dict)
    lineage_by_id: dict[str, Lineage] = field(default_factory=dict)
    lineages: list[Lineage] = field(default_factory=list)

    def lineages_of(self, component: _Component) -> list[Lineage]:
        """Return the lineages of a component."""
        return [self.lineage_by_id[first] for first in component.firsts]

    def member(self, identifier: str) -> LogRecord | None:
        """Return an annotation of the components; None for any other."""
        lineage = self.lineage_by_id.get(identifier)
        return (
            None
            if lineage is None
            else next(member for member in lineage.members if member.id == identifier)
        )

    def add(self, component: _Component, lineages: Iterable[Lineage]) -> None:
        """Add a component with its lineages."""
        for lineage in lineages:
            for member in lineage.members:
                self.lineage_by_id[member.id] = lineage
        for end in component.ends:
            self.components[end] = (*self.components.get(end, ()), component)
        if component.depends_on_head:
            self.head_dependent[id(component)] = component

    def remove(self, component: _Component) -> None:
        """Remove a component and its lineages."""
        for end in component.ends:
            self._detach(end, component)
        for identifier in [
            identifier for lineage in self.lineages_of(component) for identifier in lineage.ids
        ]:
            del self.lineage_by_id[identifier]
        self.head_dependent.pop(id(component), None)

    def without(self, ids: Collection[str]) -> list[Lineage]:
        """Remove the components that have any of these annotations; return the other lineages."""
        outdated = {
            id(component): component
            for key in map(id_key, ids)
            for component in self.components.get(key, ())
            if any(
                member.id in ids
                for lineage in self.lineages_of(component)
                for member in lineage.members
            )
        }
        removed = {id(each) for one in outdated.values() for each in self.lineages_of(one)}
        for component in outdated.values():
            self.remove(component)
        return [lineage for lineage in self.lineages if id(lineage) not in removed]

    def _detach(self, end: int, component: _Component) -> None:
        self.components[end] = tuple(
            [each for each in self.components[end] if each is not component]
        )

    def append(self, record: LogRecord, edges: Sequence[Edge]) -> None:
        """Append an annotation that replaces others and is in no cycle: no edge names it."""
        key = id_key(record.id)
        lineage = Lineage((record,), record)
        component = _Component((record.id,), (key,))
        self.add(component, [lineage])
        insort(self.lineages, lineage, key=_RANK)
        for edge in edges:
            older, target = self.lineage_by_id[edge.target], self.member(edge.target)
            if target is not None and replaces(edge, record, target):
                self._supersede(older, record.id)
            other = next(
                each
                for each in self.components[id_key(edge.target)]
                if older.first.id in each.firsts
            )
            if other is not component:
                component = self._merge(component, other)

    def _supersede(self, older: Lineage, identifier: str) -> None:
        history = Lineage(
            older.members, older.current, tuple(sorted({*older.superseded_by, identifier}))
        )
        self.lineage_by_id.update(dict.fromkeys(history.ids, history))
        at = bisect_left(self.lineages, history.rank, key=_RANK)
        if at < len(self.lineages) and self.lineages[at] is older:
            self.lineages[at] = history

    def _merge(self, one: _Component, other: _Component) -> _Component:
        """Merge the smaller of two components into the larger, so that long chains stay cheap."""
        large, small = (one, other) if len(one.ends) >= len(other.ends) else (other, one)
        for end in small.ends:
            self._detach(end, small)
            if large not in self.components[end]:
                self.components[end] = (*self.components[end], large)
        large.firsts = _united(large.firsts, small.firsts)
        large.ends = _united(large.ends, small.ends)
        return large


def _first_of_file(file: _File, name: str, record: LogRecord) -> LogRecord:
    """Return the record that counts of those with its id: the first of the file, else of all."""
    known = file.member(record.id)
    if known is None or (_is_about(record, name) and not _is_about(known, name)):
        return record
    return known


def _is_about(record: LogRecord, name: str) -> bool:
    return normal_path(record.text("file_path") or "") == name


def _united(large: Collection[_T], small: Collection[_T]) -> Collection[_T]:
    if not isinstance(large, set):
        return {*large, *small}
    large.update(small)
    return large


class LineageCache:
    """Builds and caches the lineages of one log.

    Args:
        log: The log, refreshed before every call.
        nearest_commit: Chooses between several ends of a lineage, by git.
    """

    def __init__(self, log: LogIndex, nearest_commit: NearestCommit | None) -> None:
        self._log = log
        self._nearest_commit = nearest_commit
        self._reset(log.columns)

    def _reset(self, columns: LogColumns) -> None:
        self._columns = columns
        self._files: dict[str, _File] = {}
        self._shared: dict[int, tuple[_Component, Sequence[Lineage]]] = {}
        self._shared_until = 0

    def lineages_in(self, path: str) -> list[Lineage]:
        """Return the lineages whose current annotation is about a file, oldest first.

        Args:
            path: Relative to the project, forward slashes.
        """
        if self._columns is not self._log.columns:  # the log was replaced
            self._reset(self._log.columns)
        name = normal_path(path)
        file = self._files.pop(name, None)
        total = len(self._columns)
        if (
            file is None
            or total - file.until > _MAX_NEW_LINES
            or (file.until == total and self._log.unterminated)
        ):
            file = _File()
        if file.until == total and not file.head_dependent:
            self._files[name] = file  # the last one that was asked for
            return list(file.lineages)
        if file.names != len(self._columns.paths):
            file.names = len(self._columns.paths)
            file.spellings = self._columns.paths.variants(name)
        numbers = file.spellings
        if not file.until:
            self._add(file, name, *self._read(numbers))
        elif not self._append(file, lines := self._lines_after(numbers, file.until)):
            head_dependent = (
                lineage.first
                for component in file.head_dependent.values()
                for lineage in file.lineages_of(component)
            )
            found = chain(self._log.records([*lines, *self._affected(file)]), head_dependent)
            self._add(file, name, [_first_of_file(file, name, each) for each in found])
        file.until, file.edges = total, len(self._columns.edge_lines)
        self._files[name] = file
        while len(self._files) > _MAX_FILES:
            del self._files[next(iter(self._files))]
        return list(file.lineages)

    def keep(self, paths: Iterable[str]) -> None:
        """Drop the lineages of all other files, and the records that they are made of."""
        for name in self._files.keys() - set(map(normal_path, paths)):
            self._drop(name)

    def keep_last(self, count: int) -> None:
        """Drop those of all files but the last ones that were asked for."""
        while len(self._files) > count:
            self._drop(next(iter(self._files)))

    def _drop(self, name: str) -> None:
        lineages = self._files.pop(name).lineage_by_id.values()
        self._log.drop_records(member.line for each in lineages for member in each.members)

    def is_independent_of_head(self, path: str) -> bool:
        """Whether the last `lineages_in` of a file depended on the log only, not on HEAD."""
        return not self._files[normal_path(path)].head_dependent

    def lineages_of(self, records: Iterable[LogRecord]) -> list[Lineage]:
        """Return the lineages of records and of all that edges connect with them, oldest first."""
        return sorted(
            (each for _, lineages in self._components(records, {}) for each in lineages), key=_RANK
        )

    def _read(self, numbers: Sequence[int]) -> tuple[list[LogRecord], KnownEdges]:
        """Return the records on all lines of a file, and by line supersedes edges of theirs.

        Args:
            numbers: Those of its path.

        Returns:
            The records, and all edges of each annotation of which they are known.
        """
        columns, log = self._columns, self._log
        lines = list(chain.from_iterable(map(columns.annotations.of_number, numbers)))
        if columns.files is None:
            return list(log.records(sorted(lines))), {}
        rows = columns.files.read(numbers)
        edge_lines = set().union(*rows.edges.values())
        found = list(log.records(sorted(edge_lines.union(lines)), rows.places))
        edges = {record.line: read_edge(record) for record in found if record.line in edge_lines}
        records = [record for record in found if record.line not in edge_lines]
        known: dict[int, Sequence[Edge]] = dict.fromkeys(rows.places, ())  # as most have none
        for line, own in rows.edges.items():
            known[line] = [edges[each] for each in own if each in edges]
        new_ends = columns.ends_of_new_edges()
        changed = (each.line for each in records if new_ends and id_key(each.id) in new_ends)
        for line in (*rows.repeated, *changed):
            known.pop(line, None)
        return records, known

    def _append(self, file: _File, lines: Sequence[int]) -> bool:
        """Append new annotations if they only replace known ones; return whether they do."""
        if file.head_dependent:
            return False
        new: dict[str, tuple[LogRecord, list[Edge]]] = {}
        for record in self._log.records(lines):
            if record.id in new or file.components.get(id_key(record.id)):
                return False
            edges = self._edges(record.id)
            out = [edge for edge in edges if edge.source == record.id]
            for edge in out:
                target = new[edge.target][0] if edge.target in new else file.member(edge.target)
                if target is None or is_same_edit(edge, record, target):
                    return False
            if any(edge.record.line <= file.until for edge in edges if edge.source != record.id):
                return False
            new[record.id] = record, out
        own = {id_key(identifier) for identifier in new}
        known = {edge.record.line for _, out in new.values() for edge in out}
        if any(
            self._columns.edge_lines[number] not in known for number in self._new_edges(file, own)
        ):
            return False
        if any(self._named_before(file)):
            return False
        for record, out in new.values():
            file.append(record, out)
        return True

    def _add(
        self,
        file: _File,
        path: str,
        records: Iterable[LogRecord],
        known_edges: KnownEdges | None = None,
    ) -> None:
        """Add the components of records, and remove those that they extend."""
        new = list(self._components(records, known_edges or {}))
        found: list[Lineage] = []
        if file.components:
            members = (member for _, each in new for lineage in each for member in lineage.members)
            found = file.without({member.id for member in members})
        for component, lineages in new:
            file.add(component, lineages)
            found += [lineage for lineage in lineages if _is_about(lineage.current, path)]
        file.lineages = sorted(found, key=_RANK)

    def _affected(self, file: _File) -> Iterator[int]:
        """Yield the lines of annotations that new lines of the log may connect with others."""
        columns, ends = self._columns, set[int]()
        for line in self._named_before(file):
            yield line
            ends.add(columns.keys[line - 1])
        for number in self._new_edges(file, ()):
            ends.update((columns.edge_sources[number], columns.edge_targets[number]))
        components = (component for end in ends for component in file.components.get(end, ()))
        yield from (
            member.line
            for component in components
            for lineage in file.lineages_of(component)
            for member in lineage.members
        )

    def _named_before(self, file: _File) -> Iterator[int]:
        """Yield the lines of new annotations that earlier edges name."""
        columns = self._columns
        for line in range(file.until + 1, len(columns) + 1):
            if columns.kinds[line - 1] in ANNOTATION_KINDS and file.components.get(
                columns.keys[line - 1]
            ):
                yield line

    def _new_edges(self, file: _File, own: Collection[int]) -> Iterator[int]:
        """Yield the numbers of new supersedes edges that may name a component, or one of `own`."""
        columns = self._columns
        for number in range(file.edges, len(columns.edge_lines)):
            if columns.edge_types[number] == _SUPERSEDES:
                ends = columns.edge_sources[number], columns.edge_targets[number]
                if any(file.components.get(end) or end in own for end in ends):
                    yield number

    def _lines_after(self, numbers: Iterable[int], until: int) -> list[int]:
        """Return the lines after one that annotate a path, given by its numbers, in order."""
        newest_first = map(self._columns.annotations.newest_first, numbers)
        return sorted(chain.from_iterable(takewhile(until.__lt__, some) for some in newest_first))

    def _components(
        self, records: Iterable[LogRecord], known_edges: KnownEdges
    ) -> Iterator[tuple[_Component, Sequence[Lineage]]]:
        """Yield the components of records with their lineages, across files."""
        annotations: dict[str, LogRecord] = {}
        shared: dict[int, tuple[_Component, Sequence[Lineage]]] = {}
        if self._shared_until != len(self._columns) or self._log.unterminated:
            self._shared, self._shared_until = {}, len(self._columns)
        by_id = {record.id: record for record in reversed(list(records))}
        id_keys = array("Q")
        append_id_keys(id_keys, list(by_id))
        keys = dict(zip(by_id, id_keys, strict=True))
        for key, each in zip(id_keys, by_id.values(), strict=True):
            edges = known_edges.get(each.line)
            if self._shared and (known := self._shared.get(each.line)):
                shared[id(known)] = known
            elif edges or (edges is None and self._log.is_edge_end(key, EdgeType.SUPERSEDES)):
                annotations[each.id] = each
            else:  # most annotations are connected with none
                yield _Component((each.id,), (key,)), [Lineage((each,), each)]
        for component, lineages in shared.values():
            yield component.copy(), lineages
        for component, lineages in self._connected(dict(annotations), known_edges, keys):
            self._share(component, lineages, annotations.values())
            yield component, lineages

    def _connected(
        self, annotations: dict[str, LogRecord], known_edges: KnownEdges, keys: dict[str, int]
    ) -> Iterator[tuple[_Component, Sequence[Lineage]]]:
        """Yield the components of annotations by id, to which those are added that edges name.

        Args:
            annotations: The annotations; updated.
            known_edges: Their edges, of those of which they are known.
            keys: The keys of their ids; updated.
        """
        edges = self._follow_edges(annotations, known_edges)
        connecting = [
            edge for edge in edges if edge.source in annotations and edge.target in annotations
        ]
        groups = connected_components(annotations, connecting)
        number_of = {each: number for number, group in enumerate(groups) for each in group}
        ends, lineages = list(map(set, groups)), [list[Lineage]() for _ in groups]
        for edge in edges:
            for end in (edge.source, edge.target):
                if end in number_of:
                    ends[number_of[end]].update((edge.source, edge.target))
        for lineage in build_lineages(annotations.values(), connecting, self._nearest_commit):
            lineages[number_of[lineage.first.id]].append(lineage)
        for own, known_ends in zip(lineages, ends, strict=True):
            keys.update((end, id_key(end)) for end in known_ends.difference(keys))
            yield (
                _Component(
                    tuple([lineage.first.id for lineage in own]),
                    tuple({keys[end] for end in known_ends}),
                    any(lineage.depends_on_head for lineage in own),
                ),
                own,
            )

    def _follow_edges(
        self, annotations: dict[str, LogRecord], known_edges: KnownEdges
    ) -> Collection[Edge]:
        """Return all edges of annotations, and add the annotations that these name."""
        edges: dict[str, Edge] = {}
        pending = list(annotations)
        while pending:
            identifier = pending.pop()
            known = known_edges.get(annotations[identifier].line)
            for edge in self._edges(identifier) if known is None else known:
                if edge.record.id in edges:
                    continue
                edges[edge.record.id] = edge
                for end in {edge.source, edge.target}.difference(annotations):
                    record = self._log.by_id(end)
                    if record is not None and record.is_annotation:
                        annotations[end] = record
                        pending.append(end)
        return edges.values()

    def _edges(self, identifier: str) -> list[Edge]:
        """Return the supersedes edges that name an annotation."""
        return self._log.edges(source=identifier, target=identifier, edge_type=EdgeType.SUPERSEDES)

    def _share(
        self, component: _Component, lineages: Sequence[Lineage], seeds: Iterable[LogRecord]
    ) -> None:
        """Keep a large component, if each of the records asked about is the first with its id."""
        if len(component.ends) < _MIN_SHARED or component.depends_on_head:
            return
        own = {member.id: member.line for lineage in lineages for member in lineage.members}
        for seed in seeds:
            first = self._log.by_id(seed.id) if seed.id in own else None
            if first is not None and first.line != seed.line:
                return
        kept = component.copy(), lineages
        self._shared.update(dict.fromkeys(own.values(), kept))
