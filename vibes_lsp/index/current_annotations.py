"""Which annotations of a log are current, by its columns: of a million, few are decoded.

Only what columns do not decide is decoded: supersedes edges without a known reason, lineages with
several ends, several actions or an orphan record, and edges against the order of the log.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from typing import Final, TypeAlias

from vibes_lsp.index.lineage import Lineage, NearestCommit, build_lineages, is_same_edit
from vibes_lsp.index.log_columns import REASONS
from vibes_lsp.index.log_index import LogIndex
from vibes_lsp.index.records import LogRecord, read_edge
from vibes_lsp.model.vocabulary import REMAP_ACTIONS, Action, SupersedesReason

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

_Row: TypeAlias = tuple[int, int, int]
"""A supersedes edge: its number, and the lines of its source and its target."""


def lines_recorded_again(log: LogIndex) -> set[int]:
    """Return the lines of annotations that are no edits: copies, backfilled and remapped records.

    Raises:
        UnreadableFile: The log cannot be read.
    """
    log.resolve_superseding()
    columns = log.columns
    found, undecided = set(columns.repeated), []
    for number, newer, older in _complete_rows(log):
        reason = columns.edge_reasons[number]
        if reason in _SAME_EDIT:
            found.add(newer)
        elif reason != _COVERS:
            undecided.append((columns.edge_lines[number], newer, older))
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
    columns = log.columns
    sessions, lines = columns.annotation_sessions, columns.annotation_lines
    counts = Counter(sessions)
    counts.subtract(sessions[bisect_left(lines, line)] for line in lines_recorded_again(log))
    names = columns.annotating_sessions
    return Counter({names[number]: count for number, count in counts.items()})


class CurrentAnnotations:
    """The lineages of a log, counted, with the current records of those that are not superseded.

    Args:
        log: The log, refreshed.
        nearest_commit: Chooses between several ends of a lineage.

    Attributes:
        lineages: Number of all lineages.
    """

    def __init__(self, log: LogIndex, nearest_commit: NearestCommit | None) -> None:
        log.resolve_superseding()
        columns = self._columns = log.columns
        self._lines = array("I", chain.from_iterable(columns.annotation_lines.parts()))
        self._actions = array("I", chain.from_iterable(columns.annotation_actions.parts()))
        self._action_names = list(columns.actions)
        self._is_single = bytearray(b"\1") * len(self._lines)
        self._joined: list[tuple[int, str]] = []
        self._decoded: list[Lineage] = []
        rows = list(_complete_rows(log))
        joining, covering, seeds = self._sort_by_effect(log, rows)
        groups = _groups(joining)
        self._roots = {line: root for root, group in groups.items() for line in group}
        currents = self._currents(groups, joining, seeds)
        superseded: set[int] = set()
        for newer, older in covering:
            first_newer, first_older = self._root(newer), self._root(older)
            if first_newer < first_older:  # perhaps a cycle, in which times decide
                seeds += (newer, older)
            elif first_newer != first_older:
                superseded.add(first_older)
        decoded = self._decode(log, rows, seeds, nearest_commit)
        repeated = list(columns.repeated)
        for line in chain(repeated, self._roots, superseded, decoded):
            self._is_single[self._index(line)] = 0
        self.lineages = len(self._lines) - len(repeated) - len(decoded) + len(self._decoded)
        for root, group in groups.items():
            if root not in decoded:
                self.lineages -= len(group) - 1
                if root not in superseded:
                    self._joined.append(currents[root])

    def edits(self) -> Iterator[EditCount]:
        """Yield the numbers of current annotations by their members."""
        columns = self._columns
        facts = (
            columns.annotation_environments,
            columns.annotation_levels,
            columns.annotation_paths,
        )
        environments, levels, paths = map(
            list, (columns.environments, columns.levels, columns.paths)
        )
        singles = compress(zip(columns.annotation_actions, *facts, strict=True), self._is_single)
        actions = ["" if action in REMAP_ACTIONS else action for action in columns.actions]
        for (action, environment, level, path), count in Counter(singles).items():
            names = environments[environment], levels[level], paths[path]
            yield EditCount(actions[action], *names, count)
        environment_of, level_of, path_of = facts
        for index, edit in self._joined:
            yield EditCount(
                edit,
                environments[environment_of[index]],
                levels[level_of[index]],
                paths[path_of[index]],
            )
        for lineage in self._decoded:
            if not lineage.superseded_by:
                members = [lineage.current.text(name) or "" for name in _CURRENT_MEMBERS]
                yield EditCount(lineage.action, members[0], members[1], members[2])

    def _sort_by_effect(
        self, log: LogIndex, rows: Iterable[_Row]
    ) -> tuple[list[tuple[int, int]], list[tuple[int, int]], list[int]]:
        """Return edges within lineages, edges that replace one, and lines of all other edges."""
        reasons = b"".join(map(bytes, log.columns.edge_reasons.parts()))
        joining: list[tuple[int, int]] = []
        covering: list[tuple[int, int]] = []
        seeds: list[int] = []
        for number, newer, older in rows:
            reason = reasons[number]
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
        """Return index and action of the current record of lineages; add the others to `seeds`."""
        replaced = {older for _, older in joining}
        found: dict[int, tuple[int, str]] = {}
        for root, group in groups.items():
            actions = set(map(self._action, group))
            ends = [line for line in group if line not in replaced]
            edits = actions.difference(REMAP_ACTIONS, ("",))
            if len(ends) != 1 or len(edits) > 1 or Action.REBASE_ORPHAN in actions:
                seeds.append(root)
            else:
                found[root] = self._index(ends[0]), next(iter(edits), "")
        return found

    def _decode(
        self,
        log: LogIndex,
        rows: Iterable[_Row],
        seeds: Iterable[int],
        nearest_commit: NearestCommit | None,
    ) -> set[int]:
        """Decode all lineages that edges connect with some lines; return the lines of these."""
        decoded: set[int] = set(seeds)
        if not decoded:
            return decoded
        components = _groups((newer, older) for _, newer, older in rows)
        roots = {line: root for root, group in components.items() for line in group}
        wanted = {roots[line] for line in decoded}
        edges: dict[int, list[int]] = defaultdict(list)
        for number, newer, _ in rows:
            if roots[newer] in wanted:
                edges[roots[newer]].append(number)
        lines: list[int] = []
        numbers: list[int] = []
        for root in sorted(wanted):
            decoded.update(components[root])
            lines += components[root]
            numbers += edges[root]
            if len(lines) >= _BATCH:
                self._decoded += _build(log, lines, numbers, nearest_commit)
                lines, numbers = [], []
        self._decoded += _build(log, lines, numbers, nearest_commit)
        return decoded

    def _root(self, line: int) -> int:
        return self._roots.get(line, line)

    def _index(self, line: int) -> int:
        return bisect_left(self._lines, line)

    def _action(self, line: int) -> str:
        return self._action_names[self._actions[self._index(line)]]


def _complete_rows(log: LogIndex) -> Iterator[_Row]:
    columns = log.columns
    for row in zip(
        columns.superseding_edges,
        columns.superseding_newer,
        columns.superseding_older,
        strict=True,
    ):
        if row[1] and row[2] and row[1] != row[2]:
            yield row


def _groups(edges: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    """Return the lines that edges connect, in order, by the first of each group."""
    parents: dict[int, int] = {}

    def root_of(line: int) -> int:
        parent = parents.setdefault(line, line)
        while parent != parents[parent]:
            parents[parent] = parents[parents[parent]]
            parent = parents[parent]
        parents[line] = parent
        return parent

    for newer, older in edges:
        one, other = root_of(newer), root_of(older)
        if one != other:
            parents[max(one, other)] = min(one, other)
    groups: dict[int, list[int]] = defaultdict(list)
    for line in sorted(parents):
        groups[root_of(line)].append(line)
    return groups


def _build(
    log: LogIndex,
    lines: Sequence[int],
    numbers: Sequence[int],
    nearest_commit: NearestCommit | None,
) -> list[Lineage]:
    edge_lines = log.columns.edge_lines
    records, edges = (
        (record for _, record in log.decode(sorted(some)) if isinstance(record, LogRecord))
        for some in (lines, [edge_lines[number] for number in numbers])
    )
    return build_lineages(records, list(map(read_edge, edges)), nearest_commit)
