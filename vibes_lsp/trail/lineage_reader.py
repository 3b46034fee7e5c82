"""Reads the lineages of files and records from the index (R7).

One recursive query gives all annotations that supersedes edges may connect with some, across files;
`trail.lineage` decides by whole ids which of them are one edit.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import EdgeType
from vibes_lsp.trail.index_writer import row_list
from vibes_lsp.trail.lineage import Lineage, NearestCommit, build_lineages
from vibes_lsp.trail.records import read_edge
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
"""Lineages from which on an answer is cached for other files: one edit may replace thousands, each
in a file of its own."""


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
        if self._generation != self._log.generation:
            self._generation = self._log.generation
            self._files, self._large = {}, {}
        name = normal_path(path)
        if name not in self._files:
            connected = self._connected_with(self._log.lines_about(name))
            lineages = [
                lineage
                for lineage in connected
                if normal_path(lineage.current.text("file_path") or "") == name
            ]
            if any(lineage.depends_on_head for lineage in connected):
                return lineages
            self._files[name] = lineages
            if len(self._files) > _MAX_FILES:
                del self._files[next(iter(self._files))]
        return list(self._files[name])

    def lineages_of(self, lines: Iterable[int]) -> list[Lineage]:
        """Return the lineages of annotations and of all that edges connect with them, oldest first.

        Args:
            lines: Where the annotations are.
        """
        rows = self._log.rows(_CONNECTED, row_list(lines))
        annotations, edges = ([row for row, is_edge in rows if is_edge == kind] for kind in (0, 1))
        return build_lineages(
            self._log.records(annotations),
            map(read_edge, self._log.records(edges)),
            self._nearest_commit,
        )

    def _connected_with(self, lines: Iterable[int]) -> list[Lineage]:
        """Return the lineages of annotations on some lines, and others that edges connect."""
        answers: dict[int, list[Lineage]] = {}
        new: list[int] = []
        for line in lines:
            known = self._large.get(line)
            if known is None:
                new.append(line)
            else:
                answers[id(known)] = known
        if new:
            lineages = self.lineages_of(new)
            answers[id(lineages)] = lineages
            if len(lineages) >= _MIN_SHARED and not any(
                lineage.depends_on_head for lineage in lineages
            ):
                for lineage in lineages:
                    for member in lineage.members:
                        self._large[member.line] = lineages
        by_first = {lineage.first.line: lineage for known in answers.values() for lineage in known}
        return sorted(by_first.values(), key=_RANK)
