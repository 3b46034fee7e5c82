"""Which annotations of a log are current, by the index: of a million, few are decoded.

Only what the index does not decide is decoded: supersedes edges without a known reason, lineages
with several ends, several actions or an orphan record, and edges against the order of the log.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from vibes_lsp.model.vocabulary import REMAP_ACTIONS, Action, SupersedesReason
from vibes_lsp.trail.index_writer import decode_name, row_list
from vibes_lsp.trail.lineage import Lineage, NearestCommit, build_lineages, is_same_edit
from vibes_lsp.trail.lineage_groups import REPEATED, SUPERSEDING, Groups
from vibes_lsp.trail.log_index import LogIndex
from vibes_lsp.trail.records import LogRecord, read_edge
from vibes_lsp.trail.rows import ANNOTATION_KINDS, REASONS

if TYPE_CHECKING:
    from vibes_lsp.trail.index import TrailIndex

_SAME_EDIT: Final = frozenset(
    map(
        REASONS.index,
        (SupersedesReason.COMMIT, SupersedesReason.REWRITE, SupersedesReason.ORPHAN),
    )
)
_COVERS: Final = REASONS.index(SupersedesReason.COVERS)
_CURRENT_MEMBERS: Final = ("environment_hash", "assurance_level", "file_path")
_BATCH: Final = 4_096
"""Annotations that are decoded at once."""

_Edge: TypeAlias = tuple[int, int | None, int, int]
"""A supersedes edge: its row, its reason, and the rows of its source and its target."""
_Facts: TypeAlias = tuple[int, int, int, int]
"""Numbers of the names of an annotation's action, environment, assurance level and path."""
_FACTS: Final = "action, environment, level, path"


def lines_recorded_again(log: LogIndex) -> set[int]:
    """Return the lines of annotations that are no edits: copies, backfilled and remapped records.

    Raises:
        UnreadableFile: The log cannot be read.
    """
    found, undecided = set(_repeated(log.index)), []
    for row, reason, newer, older in log.index.stream(SUPERSEDING):
        if reason in _SAME_EDIT:
            found.add(newer)
        elif reason != _COVERS:
            undecided.append((row, newer, older))
    for start in range(0, len(undecided), _BATCH):
        some = undecided[start : start + _BATCH]
        records = dict(log.decode(sorted(set(chain.from_iterable(some)))))
        for lines in some:
            edge, newest, oldest = map(records.__getitem__, lines)
            if (
                isinstance(edge, LogRecord)
                and isinstance(newest, LogRecord)
                and isinstance(oldest, LogRecord)
                and is_same_edit(read_edge(edge), newest, oldest)
            ):
                found.add(lines[1])
    return found


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
    """Return the number of annotations of each session, without those recorded again.

    Raises:
        UnreadableFile: The log cannot be read.
    """
    counts: Counter[str] = Counter()
    names = _names(log.index)
    by_session = "SELECT session, count(*) FROM annotation"
    for session, count in log.index.rows(f"{by_session} GROUP BY session"):
        counts[names[session]] += count
    again = sorted(lines_recorded_again(log))
    for start in range(0, len(again), _BATCH):
        rows = row_list(again[start : start + _BATCH])
        for session, count in log.index.rows(
            f"{by_session} WHERE row IN (SELECT value FROM json_each(?))"  # noqa: S608
            " GROUP BY session",
            rows,
        ):
            counts[names[session]] -= count
    return counts


class CurrentAnnotations:
    """The lineages of a log, counted, with the current records of those that are not superseded.

    Args:
        log: The log, refreshed.
        nearest_commit: Chooses between several ends of a lineage.

    Attributes:
        lineages: Number of all lineages.
    """

    def __init__(self, log: LogIndex, nearest_commit: NearestCommit | None) -> None:
        self._index = log.index
        self._names = _names(log.index)
        self._joined: list[tuple[int, str]] = []
        self._decoded: list[Lineage] = []
        edges = list(log.index.stream(SUPERSEDING))
        self._actions = self._actions_of(edges)
        joining, covering, seeds = self._sort_by_effect(edges)
        united = Groups()
        for pair in joining:
            united.unite(pair)
        groups = dict(united.groups())
        self._roots = {line: root for root, group in groups.items() for line in group}
        currents = self._currents(groups, joining, seeds)
        superseded: set[int] = set()
        for newer, older in covering:
            first_newer, first_older = self._root(newer), self._root(older)
            if first_newer < first_older:  # perhaps a cycle, in which times decide
                seeds += (newer, older)
            elif first_newer != first_older:
                superseded.add(first_older)
        decoded = self._decode(log, edges, seeds, nearest_commit)
        repeated = list(_repeated(log.index))
        self._not_single = {*repeated, *self._roots, *superseded, *decoded}
        total = log.index.number("SELECT count(*) FROM annotation")
        self.lineages = total - len(repeated) - len(decoded) + len(self._decoded)
        for root, group in groups.items():
            if root not in decoded:
                self.lineages -= len(group) - 1
                if root not in superseded:
                    self._joined.append(currents[root])

    def edits(self) -> Iterator[EditCount]:
        """Yield the numbers of current annotations by their members."""
        names = self._names
        rows = self._index.stream(f"SELECT {_FACTS} FROM annotation")  # noqa: S608  # our own names
        singles: Counter[_Facts] = Counter(cast("Iterator[_Facts]", rows))  # GROUP BY would sort
        singles.subtract(facts for _, facts in self._facts_of(sorted(self._not_single)))
        for (action, environment, level, path), count in singles.items():
            if count:
                edit = "" if names[action] in REMAP_ACTIONS else names[action]
                yield EditCount(edit, names[environment], names[level], names[path], count)
        edits = dict(self._joined)
        for row, (_, environment, level, path) in self._facts_of(sorted(edits)):
            yield EditCount(edits[row], names[environment], names[level], names[path])
        for lineage in self._decoded:
            if not lineage.superseded_by:
                members = [lineage.current.text(name) or "" for name in _CURRENT_MEMBERS]
                yield EditCount(lineage.action, members[0], members[1], members[2])

    def _facts_of(self, rows: Sequence[int]) -> Iterator[tuple[int, _Facts]]:
        """Yield some annotations with the numbers of their names."""
        for start in range(0, len(rows), _BATCH):
            for row, action, environment, level, path in self._index.rows(
                f"SELECT row, {_FACTS} FROM annotation"  # noqa: S608  # our own names
                " WHERE row IN (SELECT value FROM json_each(?))",
                row_list(rows[start : start + _BATCH]),
            ):
                yield row, (action, environment, level, path)

    def _actions_of(self, edges: Iterable[_Edge]) -> dict[int, int]:
        """Return the numbers of the actions of annotations that edges connect."""
        rows = sorted({row for _, _, newer, older in edges for row in (newer, older)})
        return {row: facts[0] for row, facts in self._facts_of(rows)}

    def _sort_by_effect(
        self, edges: Iterable[_Edge]
    ) -> tuple[list[tuple[int, int]], list[tuple[int, int]], list[int]]:
        """Return edges within lineages, edges that replace one, and lines of all other edges."""
        joining: list[tuple[int, int]] = []
        covering: list[tuple[int, int]] = []
        seeds: list[int] = []
        for _, reason, newer, older in edges:
            if reason == _COVERS:
                if self._action(newer) != Action.REVIEW:
                    covering.append((newer, older))
            elif reason in _SAME_EDIT or self._action(newer) in REMAP_ACTIONS:
                joining.append((newer, older))
            else:
                seeds += (newer, older)
        return joining, covering, seeds

    def _currents(
        self,
        groups: Mapping[int, Sequence[int]],
        joining: Iterable[tuple[int, int]],
        seeds: list[int],
    ) -> dict[int, tuple[int, str]]:
        """Return row and action of the current record of lineages; add the others to `seeds`."""
        replaced = {older for _, older in joining}
        found: dict[int, tuple[int, str]] = {}
        for root, group in groups.items():
            actions = set(map(self._action, group))
            ends = [line for line in group if line not in replaced]
            edits = actions.difference(REMAP_ACTIONS, ("",))
            if len(ends) != 1 or len(edits) > 1 or Action.REBASE_ORPHAN in actions:
                seeds.append(root)
            else:
                found[root] = ends[0], next(iter(edits), "")
        return found

    def _decode(
        self,
        log: LogIndex,
        edges: Iterable[_Edge],
        seeds: Iterable[int],
        nearest_commit: NearestCommit | None,
    ) -> set[int]:
        """Decode all lineages that edges connect with some lines; return the lines of these."""
        decoded: set[int] = set(seeds)
        if not decoded:
            return decoded
        united = Groups()
        for _, _, newer, older in edges:
            united.unite((newer, older))
        wanted = {united.root(line) for line in decoded}
        components = {root: group for root, group in united.groups() if root in wanted}
        own: dict[int, list[int]] = defaultdict(list)
        for row, _, newer, _ in edges:
            if (root := united.root(newer)) in wanted:
                own[root].append(row)
        lines: list[int] = []
        numbers: list[int] = []
        for root in sorted(wanted):
            decoded.update(components[root])
            lines += components[root]
            numbers += own[root]
            if len(lines) >= _BATCH:
                self._decoded += _build(log, lines, numbers, nearest_commit)
                lines, numbers = [], []
        self._decoded += _build(log, lines, numbers, nearest_commit)
        return decoded

    def _root(self, line: int) -> int:
        return self._roots.get(line, line)

    def _action(self, line: int) -> str:
        return self._names[self._actions[line]]


def _repeated(index: TrailIndex) -> Iterator[int]:
    """Yield the rows of annotations whose id an annotation before them has."""
    last: int | None = None
    for key, row, kind in index.stream(REPEATED):
        if kind in ANNOTATION_KINDS:
            if key == last:
                yield row
            last = key


def _names(index: TrailIndex) -> dict[int, str]:
    return {
        number: decode_name(text) for number, text in index.stream("SELECT number, text FROM name")
    }


def _build(
    log: LogIndex,
    lines: Sequence[int],
    numbers: Sequence[int],
    nearest_commit: NearestCommit | None,
) -> list[Lineage]:
    records, edges = (
        (record for _, record in log.decode(sorted(some)) if isinstance(record, LogRecord))
        for some in (lines, numbers)
    )
    return build_lineages(records, list(map(read_edge, edges)), nearest_commit)
