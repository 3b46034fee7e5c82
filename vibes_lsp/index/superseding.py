"""Resolve supersedes edges to the lines of the annotations that they connect, by whole ids.

The columns of the log have 64-bit keys, and different ids may share one. Reading the ids of all
that supersedes edges name takes a second for each 150,000 edges, so the result is kept in the
columns and saved with the index.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, compress, islice
from typing import TYPE_CHECKING, Final

import msgspec

from vibes_lsp.errors import MalformedJson
from vibes_lsp.index.lines_by_key import LinesByKey
from vibes_lsp.model.canonical_json import FastDecoder, parse_object
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import text

if TYPE_CHECKING:
    from vibes_lsp.index.log_columns import LogColumns

ReadLines = Callable[[Sequence[int]], Sequence[bytes]]
"""Returns the bytes of some lines of the log."""

_AT_ONCE: Final = 1 << 16
"""Edges or annotations that are resolved at once: some 30 MB."""
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
    sources, targets = columns.edge_sources, columns.edge_targets
    for start in range(0, len(numbers), _AT_ONCE):
        some = numbers[start : start + _AT_ONCE]
        wanted = {ends[number] for number in some for ends in (sources, targets)}
        candidates = array("I", compress(lines, map(wanted.__contains__, keys)))
        first: dict[str, int] = {}
        for identifier, line in zip(_ids(read, candidates), candidates, strict=True):
            first.setdefault(identifier, line)
        first.pop("", None)
        edge_lines = [columns.edge_lines[number] for number in some]
        for number, (source, target) in zip(some, _edge_ends(read, edge_lines), strict=True):
            newer, older = first.get(source, 0), first.get(target, 0)
            if newer or older:
                columns.superseding_edges.added.append(number)
                columns.superseding_newer.added.append(newer)
                columns.superseding_older.added.append(older)
    columns.resolved = total


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
        _ids(read, (lines[each - 1] for each in numbers)), numbers, strict=True
    ):
        if identifier in ids and number > first_new:
            yield lines[number - 1]
        elif identifier:
            ids.add(identifier)


def _ids(read: ReadLines, lines: Iterable[int]) -> Iterator[str]:
    """Yield the ids of the annotations on some lines; an empty one where there is no record."""
    for data in _read(read, lines):
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


def _edge_ends(read: ReadLines, lines: Iterable[int]) -> Iterator[tuple[str, str]]:
    """Yield source and target of the edges on some lines."""
    for data in _read(read, lines):
        ends = _ENDS.decode(data)
        if ends is None:
            try:
                members = parse_object(data)
            except MalformedJson:
                members = {}
            ends = _Ends(*(text(members, name) for name in _Ends.__struct_fields__))
        yield ends.source_ref or ends.source_id or "", ends.target_ref or ends.target_id or ""


def _read(read: ReadLines, lines: Iterable[int]) -> Iterator[bytes]:
    pending = iter(lines)
    while batch := list(islice(pending, _BATCH)):
        yield from read(batch)
