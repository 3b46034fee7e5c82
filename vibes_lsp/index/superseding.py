"""Resolve supersedes edges to the lines of the annotations that they connect, by whole ids.

The columns of the log have 64-bit keys, and different ids may share one. Reading the ids of all
that supersedes edges name takes a second for each 150,000 edges, so the result is kept in the
columns and saved with the index.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, compress
from operator import not_, or_
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from vibes_lsp.errors import MalformedJson
from vibes_lsp.index.lines_by_key import LinesByKey
from vibes_lsp.model.canonical_json import FastDecoder, parse_object
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import text

if TYPE_CHECKING:
    from vibes_lsp.index.log_columns import LogColumns

ReadLines: TypeAlias = Callable[[Sequence[int]], Sequence[bytes]]
"""Returns the bytes of some lines of the log."""

_AT_ONCE: Final = 1 << 17
"""Edges or annotations that are resolved at once: some 60 MB."""
_BATCH: Final = 4_096
"""Lines that are read at once."""


class _Identified(msgspec.Struct, gc=False):
    annotation_id: str | None = None


class _Ends(msgspec.Struct, gc=False):
    source_ref: str | None = None
    target_ref: str | None = None
    source_id: str | None = None
    target_id: str | None = None


_IDENTIFIED: Final[FastDecoder[_Identified]] = FastDecoder(_Identified)
_ENDS: Final[FastDecoder[_Ends]] = FastDecoder(_Ends)


def resolve_superseding(columns: LogColumns, read: ReadLines) -> None:
    """Extend `superseding_*` and `repeated` of the columns by what is new in the log."""
    since, total = columns.resolved, len(columns)
    if since == total:
        return
    lines = array("I", chain.from_iterable(columns.annotation_lines.parts()))
    keys = array("Q", compress(columns.keys, columns.annotation_mask()))
    first_new = bisect_right(lines, since)
    _add_repeated(columns, read, lines, keys, first_new)
    numbers = _unresolved(columns, keys[first_new:], since)
    for start in range(0, len(numbers), _AT_ONCE):
        some = numbers[start : start + _AT_ONCE]
        wanted = set(map(columns.edge_sources.__getitem__, some))
        wanted.update(map(columns.edge_targets.__getitem__, some))
        _resolve(columns, read, some, compress(lines, map(wanted.__contains__, keys)))
    columns.resolved = total


def _resolve(
    columns: LogColumns, read: ReadLines, numbers: Sequence[int], annotations: Iterable[int]
) -> None:
    """Add the annotations that some edges name.

    Args:
        columns: The log.
        read: Reads lines.
        numbers: The numbers of the edges, in order.
        annotations: The lines of the annotations that they may name, in order.
    """
    ids: list[str] = []
    ends: list[tuple[str, str]] = []
    named, edge_lines = list(annotations), [columns.edge_lines[number] for number in numbers]
    is_edge = set(edge_lines).__contains__
    lines = sorted(named + edge_lines)  # an edge often is next to its source: read both at once
    for start in range(0, len(lines), _BATCH):
        some = lines[start : start + _BATCH]
        texts, mask = read(some), list(map(is_edge, some))
        ids += _ids(compress(texts, map(not_, mask)))
        ends += _edge_ends(compress(texts, mask))
    first = dict(zip(reversed(ids), reversed(named), strict=True))
    first[""] = 0
    newer = [first.get(source, 0) for source, _ in ends]
    older = [first.get(target, 0) for _, target in ends]
    is_named = list(map(or_, newer, older))
    columns.superseding_edges.added.extend(compress(numbers, is_named))
    columns.superseding_newer.added.extend(compress(newer, is_named))
    columns.superseding_older.added.extend(compress(older, is_named))


def _unresolved(columns: LogColumns, new_keys: Iterable[int], since: int) -> array[int]:
    """Return the numbers of new supersedes edges, and of older ones that new annotations touch."""
    mask = columns.superseding_mask()
    edge_lines = array("I", chain.from_iterable(columns.edge_lines.parts()))
    first_new = bisect_right(edge_lines, since)
    new = array("I", compress(range(first_new, len(mask)), mask[first_new:]))
    if not first_new:
        return new
    keys = set(new_keys)
    complete = {
        number
        for number, newer, older in zip(
            columns.superseding_edges,
            columns.superseding_newer,
            columns.superseding_older,
            strict=True,
        )
        if newer and older
    }
    sources, targets = columns.edge_sources, columns.edge_targets
    touched = (
        number
        for number, source, target in compress(
            zip(range(first_new), sources, targets, strict=False), mask
        )
        if (source in keys or target in keys) and number not in complete
    )
    return array("I", touched) + new


def _add_repeated(
    columns: LogColumns, read: ReadLines, lines: array[int], keys: array[int], first_new: int
) -> None:
    """Add the new annotations whose id an annotation before them has."""
    count = len(lines) - first_new
    if count <= _AT_ONCE:
        new = set(keys[first_new:])
        if len(new) == count == sum(map(new.__contains__, keys)):
            return  # as nearly always: no new key occurs twice
    repeated, found = array("I"), array("I")
    for same in LinesByKey(keys).repeated():
        if same[-1] > first_new:
            found.extend(same)
        if len(found) >= _AT_ONCE:
            repeated.extend(_repeated_ids(read, lines, found, first_new))
            found = array("I")
    repeated.extend(_repeated_ids(read, lines, found, first_new))
    columns.repeated.added.extend(sorted(repeated))


def _repeated_ids(
    read: ReadLines, lines: array[int], found: array[int], first_new: int
) -> Iterator[int]:
    """Yield the lines of new annotations, of some whose keys are equal, that repeat an id.

    Args:
        read: Reads lines.
        lines: The lines of all annotations.
        found: The numbers from 1 of the annotations; all with one key or none.
        first_new: The number of annotations that are not new.
    """
    ids: set[str] = set()
    numbers = sorted(found)
    for identifier, number in zip(
        _ids(_read(read, [lines[each - 1] for each in numbers])), numbers, strict=True
    ):
        if identifier in ids and number > first_new:
            yield lines[number - 1]
        elif identifier:
            ids.add(identifier)


def _ids(texts: Iterable[bytes]) -> Iterator[str]:
    """Yield the ids of annotations; an empty one where there is no record."""
    for data in texts:
        known = _IDENTIFIED.decode(data)
        if known is not None and known.annotation_id:
            yield known.annotation_id
        else:
            yield _computed_id(data)


def _computed_id(data: bytes) -> str:
    try:
        members = parse_object(data)
    except MalformedJson:  # what the scan takes for a record, and the strict parser does not
        return ""
    return text(members, "annotation_id") or annotation_id(members)


def _edge_ends(texts: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    """Yield source and target of edges."""
    for data in texts:
        ends = _ENDS.decode(data)
        if ends is None:
            try:
                members = parse_object(data)
            except MalformedJson:
                members = {}
            ends = _Ends(*(text(members, name) for name in _Ends.__struct_fields__))
        yield ends.source_ref or ends.source_id or "", ends.target_ref or ends.target_id or ""


def _read(read: ReadLines, lines: Sequence[int]) -> Iterator[bytes]:
    for start in range(0, len(lines), _BATCH):
        yield from read(lines[start : start + _BATCH])
