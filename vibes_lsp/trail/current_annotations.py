"""Which annotations of a log are current, by the index: of a million, few are decoded.

Only groups are decoded in which an edge may say more than that a later annotation covers an earlier
one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from vibes_lsp.model.vocabulary import REMAP_ACTIONS, Action, SupersedesReason
from vibes_lsp.trail.index_writer import decode_name, encode_name, row_list
from vibes_lsp.trail.lineage import Lineage, NearestCommit, is_same_edit
from vibes_lsp.trail.lineage_groups import LineageGroups, build_group, later_hunks
from vibes_lsp.trail.records import LogRecord, read_edge
from vibes_lsp.trail.rows import REASONS

if TYPE_CHECKING:
    from vibes_lsp.trail.log_index import LogIndex

_SAME_EDIT: Final = frozenset(
    map(
        REASONS.index,
        (SupersedesReason.COMMIT, SupersedesReason.REWRITE, SupersedesReason.ORPHAN),
    )
)
_BATCH: Final = 4_096
"""Annotations that are decoded at once."""

_Facts: TypeAlias = tuple[int, int, int, int]
"""Numbers of the names of an annotation's action, environment, assurance level and path."""
_FACTS: Final = "SELECT action, environment, level, path FROM annotation"


def lines_recorded_again(log: LogIndex) -> set[int]:
    """Return the lines of annotations that are no edits: copies, backfilled and remapped records.

    Raises:
        UnreadableFile: The log cannot be read.
    """
    groups = LineageGroups(log)
    recorded_again = {
        *groups.copies,
        *(edge.newer for edge in groups.edges if edge.reason in _SAME_EDIT),
    }
    undecided = [edge for edge in groups.edges if edge.reason not in _SAME_EDIT]
    for start in range(0, len(undecided), _BATCH):
        batch = [(edge.row, edge.newer, edge.older) for edge in undecided[start : start + _BATCH]]
        records = dict(log.decode(sorted(set(chain.from_iterable(batch)))))
        for lines in batch:
            edge, newest, oldest = map(records.__getitem__, lines)
            if (
                isinstance(edge, LogRecord)
                and isinstance(newest, LogRecord)
                and isinstance(oldest, LogRecord)
                and is_same_edit(read_edge(edge), newest, oldest)
            ):
                recorded_again.add(lines[1])
    return recorded_again


@dataclass(frozen=True, slots=True)
class EditCount:
    """How many current annotations have the same members; a missing one is empty.

    Attributes:
        action: What the AI did; empty if no record says it.
        environment: The environment's hash.
        level: The assurance level.
        path: The path as recorded.
        count: The number of annotations.
    """

    action: str
    environment: str
    level: str
    path: str
    count: int = 1


def edits_by_session(log: LogIndex) -> Counter[str]:
    """Return the number of edits of each session, without those recorded again.

    Raises:
        UnreadableFile: The log cannot be read.
    """
    counts: Counter[str] = Counter()
    names = _names(log)
    by_session = "SELECT session, count(*) FROM annotation"
    for session, count in log.rows(f"{by_session} GROUP BY session"):
        counts[names[session]] += count
    again = sorted(lines_recorded_again(log).union(later_hunks(log)))
    for start in range(0, len(again), _BATCH):
        rows = row_list(again[start : start + _BATCH])
        for session, count in log.rows(
            f"{by_session} WHERE row IN (SELECT value FROM json_each(?))"  # noqa: S608
            " GROUP BY session",
            rows,
        ):
            counts[names[session]] -= count
    return counts


class CurrentAnnotations:
    """The edits of a log, counted, with the current records of those that are not superseded.

    Args:
        log: The log, refreshed.
        nearest_commit: Chooses between several ends of a lineage.

    Attributes:
        lineages: Number of all lineages; the hunks of an edit count once.
    """

    def __init__(self, log: LogIndex, nearest_commit: NearestCommit | None) -> None:
        self._log = log
        groups = LineageGroups(log, with_history=True)
        undecided = set(map(groups.group_of, groups.copies.union(groups.hunks)))
        # Edges against the order of the log may be a cycle, in which times decide.
        undecided.update(
            groups.group_of(edge.newer)
            for edge in groups.edges
            if not edge.covers or edge.newer < edge.older
        )
        edits: dict[tuple[str, str, bool], Lineage] = {}
        decoded: list[int] = []
        for batch in groups.joined_batches(undecided):
            decoded += batch[0]
            for lineage in build_group(log, batch, nearest_commit):  # hunks of one edit are one
                path = lineage.current.text("file_path") or ""
                edits.setdefault((lineage.edit, path, bool(lineage.superseded_by)), lineage)
        self._decoded = list(edits.values())
        reviews = self._reviews()
        superseded = {
            edge.older
            for edge in groups.edges
            if edge.newer not in reviews and groups.group_of(edge.newer) not in undecided
        }
        self._not_single = sorted(superseded.union(decoded))
        total = log.number("SELECT count(*) FROM annotation")
        self.lineages = total - len(decoded) + len(self._decoded)

    def edits(self) -> Iterator[EditCount]:
        """Yield the numbers of current annotations by their members."""
        names = _names(self._log)
        # GROUP BY would sort
        singles: Counter[_Facts] = Counter(cast("Iterator[_Facts]", self._log.stream(_FACTS)))
        singles.subtract(self._facts_of(self._not_single))
        for (action, environment, level, path), count in singles.items():
            if count:
                edit = "" if names[action] in REMAP_ACTIONS else names[action]
                yield EditCount(edit, names[environment], names[level], names[path], count)
        for lineage in self._decoded:
            if not lineage.superseded_by:
                current = lineage.current
                yield EditCount(
                    lineage.action,
                    current.text("environment_hash") or "",
                    current.text("assurance_level") or "",
                    current.text("file_path") or "",
                )

    def _reviews(self) -> set[int]:
        """Return the rows of reviews, which replace no edit (R6)."""
        return set(
            self._log.numbers(
                "SELECT row FROM annotation WHERE action ="
                " (SELECT number FROM name WHERE text = ?)",
                encode_name(Action.REVIEW),
            )
        )

    def _facts_of(self, rows: Sequence[int]) -> Iterator[_Facts]:
        query = f"{_FACTS} WHERE row IN (SELECT value FROM json_each(?))"  # noqa: S608
        for start in range(0, len(rows), _BATCH):
            facts = self._log.rows(query, row_list(rows[start : start + _BATCH]))
            yield from cast("list[_Facts]", facts)


def _names(log: LogIndex) -> dict[int, str]:
    return {
        number: decode_name(text) for number, text in log.stream("SELECT number, text FROM name")
    }
