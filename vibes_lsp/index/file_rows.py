"""What a saved index has about each annotated file, in adjoining places.

The annotations of a file are anywhere in the log, and so are the edges between them. To look up
each one by its id takes several pages of the index, each of which is verified; here all that is
about a file is on a few.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from vibes_lsp.index.columns import Parts
    from vibes_lsp.index.log_columns import LogColumns
    from vibes_lsp.index.saved_columns import SavedColumn, SavedFile

_SIZE_BITS: Final = 24
"""Bits of a place for the length of a line, which `MAX_LINE` limits."""
_MAX_SIZE: Final = (1 << _SIZE_BITS) - 1
_ROW: Final = 3
"""Numbers of an edge: its line, and those of the annotations that are its source and target.

A repeated annotation has its own line in all three.
"""


@dataclass(frozen=True, slots=True)
class RowsOfFile:
    """The saved annotations of a file, and the supersedes edges that name them.

    Attributes:
        places: Byte offset and length of the lines of both.
        edges: The lines of the edges, by the line of an annotation that they name.
        repeated: Lines of annotations whose id an annotation before them has. Which edges name them
            is not known.
    """

    places: Mapping[int, tuple[int, int]]
    edges: Mapping[int, AbstractSet[int]]
    repeated: AbstractSet[int]


class FileRows:
    """The saved annotations of each file.

    Args:
        file: A file with the columns of `file_lines_to_save` and `file_edges_to_save`.
    """

    def __init__(self, file: SavedFile) -> None:
        self._starts, self._edge_starts = file.column("file starts"), file.column("edge starts")
        self._lines, self._places = file.column("file lines"), file.column("file places")
        self._edges, self._edge_places = file.column("file edges"), file.column("edge places")

    def lines(self, number: int) -> Sequence[int]:
        """Return the lines of the annotations of a path, given by its number, in order."""
        return self._lines.part(*_range(self._starts, number))

    def read(self, numbers: Iterable[int]) -> RowsOfFile:
        """Return what is saved about paths, given by their numbers."""
        places: dict[int, tuple[int, int]] = {}
        rows: list[int] = []
        for number in numbers:
            part = _range(self._starts, number)
            edge_part = start, end = _range(self._edge_starts, number)
            triples = self._edges.part(start * _ROW, end * _ROW).tolist()
            lines = (*self._lines.part(*part), *triples[::_ROW])
            packed = (*self._places.part(*part), *self._edge_places.part(*edge_part))
            places.update(
                (line, (place >> _SIZE_BITS, place & _MAX_SIZE))
                for line, place in zip(lines, packed, strict=True)
            )
            rows += triples
        edges: dict[int, set[int]] = {}
        repeated: set[int] = set()
        for line, newer, older in zip(*[iter(rows)] * _ROW, strict=True):
            if line == newer:
                repeated.add(line)
                continue
            for end in (newer, older):
                edges.setdefault(end, set()).add(line)
        return RowsOfFile(places, edges, repeated)


def _range(starts: SavedColumn, number: int) -> tuple[int, int]:
    if number >= len(starts) - 1:
        return 0, 0
    start, end = starts.part(number, number + 2)
    return start, end


def file_lines_to_save(columns: LogColumns) -> Parts:
    """Return the annotations of each file as columns."""
    lines: list[array[int]] = [array("I") for _ in columns.paths]
    for line, path in zip(columns.annotation_lines, columns.annotation_paths, strict=True):
        lines[path].append(line)
    file_lines = _join(lines)
    return {
        "file starts": (_starts(lines, 1),),
        "file lines": (file_lines,),
        "file places": (_places(file_lines, columns.ends.copy()),),
    }


def file_edges_to_save(columns: LogColumns) -> Parts:
    """Return the supersedes edges of each file as columns.

    Args:
        columns: The log, with all supersedes edges resolved.
    """
    edges: list[array[int]] = [array("I") for _ in columns.paths]
    path_of = array("I", bytes(array("I").itemsize * (len(columns) + 1)))
    for line, path in zip(columns.annotation_lines, columns.annotation_paths, strict=True):
        path_of[line] = path
    edge_lines = columns.edge_lines.copy()
    for number, newer, older in zip(
        columns.superseding_edges, columns.superseding_newer, columns.superseding_older, strict=True
    ):
        row = (edge_lines[number], newer, older)
        path = path_of[newer or older]
        edges[path].extend(row)
        if older and path_of[older] != path:
            edges[path_of[older]].extend(row)
    for line in columns.repeated:
        edges[path_of[line]].extend((line, line, line))
    file_edges = _join(edges)
    return {
        "edge starts": (_starts(edges, _ROW),),
        "file edges": (file_edges,),
        "edge places": (_places(file_edges[::_ROW], columns.ends.copy()),),
    }


def _join(parts: Iterable[array[int]]) -> array[int]:
    joined = array("I")
    for part in parts:
        joined.extend(part)
    return joined


def _starts(parts: Iterable[array[int]], size: int) -> array[int]:
    return array("I", chain((0,), accumulate(len(part) // size for part in parts)))


def _places(lines: array[int], ends: array[int]) -> array[int]:
    """Return byte offset and length of lines, as one number each."""
    starts = array("Q", (0,)) + ends
    return array(
        "Q",
        [starts[line - 1] << _SIZE_BITS | (starts[line] - 1 - starts[line - 1]) for line in lines],
    )
