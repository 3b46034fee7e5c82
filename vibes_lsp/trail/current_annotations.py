"""Which annotations of a log are current, by the index: of a million, few are decoded.

Only groups are decoded in which an edge may say more than that a later annotation covers an earlier
one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from vibes_lsp.model.vocabulary import REMAP_ACTIONS, Action
from vibes_lsp.trail.index_writer import decode_name, encode_name, row_list
from vibes_lsp.trail.lineage import Lineage, NearestCommit
from vibes_lsp.trail.lineage_groups import LineageGroups, build_group

if TYPE_CHECKING:
    from vibes_lsp.trail.log_index import LogIndex

_BATCH: Final = 4_096
"""Annotations that are asked for at once."""

_Facts: TypeAlias = tuple[int, int, int, int]
"""Numbers of the names of an annotation's action, environment, assurance level and path."""
_FACTS: Final = "SELECT action, environment, level, path FROM annotation"


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
        edits: dict[tuple[str, str, bool], EditCount] = {}
        self._sessions: dict[str, str] = {}
        self._decoded: list[int] = []
        for batch in groups.joined_batches(undecided):
            self._decoded += batch[0]
            for lineage in build_group(log, batch, nearest_commit):  # hunks of one edit are one
                edit = _edit_of(lineage)
                edits.setdefault((lineage.edit, edit.path, bool(lineage.superseded_by)), edit)
                self._sessions.setdefault(lineage.edit, lineage.first.text("session_id") or "")
        self._current = [edit for (_, _, is_history), edit in edits.items() if not is_history]
        reviews = self._reviews()
        self._superseded = {
            edge.older
            for edge in groups.edges
            if edge.newer not in reviews and groups.group_of(edge.newer) not in undecided
        }
        total = log.number("SELECT count(*) FROM annotation")
        self.lineages = total - len(self._decoded) + len(edits)

    def edits(self) -> Iterator[EditCount]:
        """Yield the numbers of current annotations by their members."""
        names = _names(self._log)
        # GROUP BY would sort
        singles: Counter[_Facts] = Counter(self._log.stream(_FACTS))
        singles.subtract(self._facts_of(_FACTS, sorted(self._superseded.union(self._decoded))))
        for (action, environment, level, path), count in singles.items():
            if count:
                edit = "" if names[action] in REMAP_ACTIONS else names[action]
                yield EditCount(edit, names[environment], names[level], names[path], count)
        yield from self._current

    def by_session(self) -> Counter[str]:
        """Return the number of edits of each session; a record that repeats an edit is none."""
        names, facts = _names(self._log), "SELECT session FROM annotation"
        counts = Counter(names[session] for (session,) in self._log.stream(facts))
        counts.subtract(names[session] for (session,) in self._facts_of(facts, self._decoded))
        counts.update(self._sessions.values())
        return counts

    def _reviews(self) -> set[int]:
        """Return the rows of reviews, which replace no edit (R6)."""
        return set(
            self._log.numbers(
                "SELECT row FROM annotation WHERE action ="
                " (SELECT number FROM name WHERE text = ?)",
                encode_name(Action.REVIEW),
            )
        )

    def _facts_of(self, facts: str, rows: Sequence[int]) -> Iterator[Any]:
        """Yield the facts of some annotations."""
        query = f"{facts} WHERE row IN (SELECT value FROM json_each(?))"  # noqa: S608
        for start in range(0, len(rows), _BATCH):
            yield from self._log.rows(query, row_list(rows[start : start + _BATCH]))


def _edit_of(lineage: Lineage) -> EditCount:
    current = lineage.current
    return EditCount(
        lineage.action,
        current.text("environment_hash") or "",
        current.text("assurance_level") or "",
        current.text("file_path") or "",
    )


def _names(log: LogIndex) -> dict[int, str]:
    return {
        number: decode_name(text) for number, text in log.stream("SELECT number, text FROM name")
    }
