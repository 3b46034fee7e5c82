"""Lineages and current annotations (R7): which records tell of one and the same edit, and which of them speaks for it now.

Pure: works on decoded records and edges, so that the rules can be read, and tested, without a file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Final

import msgspec

from vibes_lsp.anchors.located import AnchoredRange
from vibes_lsp.index.records import Edge, LogRecord, recorded_range
from vibes_lsp.model.canonical_json import canonical_json, same_value
from vibes_lsp.model.hashing import ANCHOR_MEMBERS, sha256
from vibes_lsp.model.members import Members, integer
from vibes_lsp.model.vocabulary import Action, RecordType, SupersedesReason

NearestCommit = Callable[[Sequence[str]], str | None]
"""Picks, of some commits, the nearest ancestor of HEAD; None when none is one or git cannot say."""

_JOINING: Final = frozenset(
    {SupersedesReason.COMMIT, SupersedesReason.REWRITE, SupersedesReason.ORPHAN}
)
_REBASED: Final = frozenset({Action.REBASE_REMAP, Action.REBASE_ORPHAN})
_TELLING: Final = ("line_start", "line_end", "function_name", "anchor_hash", "prompt_hash")
_PASSING: Final = frozenset(
    {"annotation_id", "timestamp", "session_id", "commit_hash", "risk_score", "risk_factors"}
)
_NAMING: Final = (
    "environment_hash",
    "prompt_hash",
    "command_hash",
    "reasoning_hash",
    "decision_hash",
)
_REWRITTEN: Final = frozenset(
    {"commit_hash", "line_start", "line_end", "annotation_id", *ANCHOR_MEMBERS}
)


class Lineage(msgspec.Struct, frozen=True, dict=True):
    """All records of one edit. It is kept between questions, and so is what follows from it.

    Attributes:
        members: The records in the order of events, one for each id.
        current: The record that holds now.
        superseded_by: Ids of the current records of the lineages that make this one history.
        is_pending: Whether it waits to be recorded, and the log has nothing of it.
    """

    members: tuple[LogRecord, ...]
    current: LogRecord
    superseded_by: tuple[str, ...] = ()
    is_pending: bool = False

    @property
    def first(self) -> LogRecord:
        """The record of the edit itself, from which the lineage has its rank."""
        return self.members[0]

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The ids of all members."""
        return tuple([member.id for member in self.members])

    @property
    def is_orphaned(self) -> bool:
        """Whether the last word on its place is that there is none (RFC 7.3.1); the log is in the order of events."""
        last = max(self.members, key=lambda member: member.line)
        return len(self.members) > 1 and _is_orphan(last)

    @cached_property
    def rank(self) -> tuple[datetime, int]:
        """Of two lineages on one line the higher ranked owns it; back-fill and remap never change it."""
        return self.first.rank

    @cached_property
    def recorded_range(self) -> AnchoredRange | None:
        """The range that it was recorded for, with its anchors; None when it has none that makes sense."""
        return recorded_range(self.members, self.current)

    @property
    def anchor_hash(self) -> str | None:
        """`anchor_hash` of what the AI wrote: lines, or a whole function (R14)."""
        return next(
            (digest for member in self.members if (digest := member.text("anchor_hash"))), None
        )

    @cached_property
    def action(self) -> str:
        """What the AI did: the first record's action that is no remapping."""
        for member in self.members:
            action = member.text("action")
            if action and action not in _REBASED:
                return action
        return ""

    @property
    def is_review(self) -> bool:
        """Whether it is somebody's review of code, and not an edit of code (R6)."""
        return self.action == Action.REVIEW

    @cached_property
    def entry_keys(self) -> tuple[str, ...]:
        """The keys of the context entries that the record which holds now names (RFC 7.3)."""
        return tuple(key for name in _NAMING if (key := self.current.text(name)) is not None)

    @cached_property
    def may_be_placeholder(self) -> bool:
        """Whether its range may be a tool's stand-in for a place that it did not know: a change of "line 1" without anchors (R18)."""
        members = self.current.members
        return (
            self.current.type == RecordType.LINE
            and members.get("line_start") == members.get("line_end") == 1
            and self.current.text("action") == Action.MODIFY
            and not any(self.current.text(name) for name in ANCHOR_MEMBERS)
        )

    @property
    def start_key(self) -> str:
        """Where it was recorded to begin, as text: in that already most annotations of a file differ."""
        return str(self.current.members.get("line_start"))

    @cached_property
    def summary_key(self) -> tuple[str, ...]:
        """Those members in which most annotations of a file differ."""
        return tuple(str(self.current.members.get(name)) for name in _TELLING)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all by which a person could tell it from another annotation."""
        members: Members = {
            name: value
            for name, value in self.current.members.items()
            if value is not None and name not in _PASSING
        }
        return sha256(canonical_json(members))


def build_lineages(
    records: Iterable[LogRecord], supersedes: Iterable[Edge], nearest: NearestCommit | None = None
) -> list[Lineage]:
    """Group annotations into lineages, ranked from the oldest.

    Args:
        records: Line and function records; of several with one id the first counts.
        supersedes: The supersedes edges among them; those with an end elsewhere are passed over.
        nearest: Decides between several ends of one lineage; without it the later one holds.
    """
    known: dict[str, LogRecord] = {}
    for record in records:
        known.setdefault(record.id, record)
    edges = [
        edge
        for edge in supersedes
        if edge.source in known and edge.target in known and edge.source != edge.target
    ]
    joining = [edge for edge in edges if is_same_edit(edge, known[edge.source], known[edge.target])]
    groups = connected_components(known, joining)
    by_source: dict[str, list[Edge]] = defaultdict(list)
    for edge in joining:
        by_source[edge.source].append(edge)
    lineages = [_lineage([known[each] for each in group], by_source, nearest) for group in groups]
    _mark_history(
        lineages,
        {identifier: number for number, group in enumerate(groups) for identifier in group},
        edges,
        known,
    )
    return sorted(lineages, key=lambda lineage: lineage.rank)


def is_same_edit(edge: Edge, newer: LogRecord, older: LogRecord) -> bool:
    """Whether the edge says that both records tell of the same edit."""
    if edge.reason in _JOINING:
        return True
    if edge.reason == SupersedesReason.COVERS:
        return False
    return newer.text("action") in _REBASED or _same_edit(newer, older)


def _same_edit(newer: LogRecord, older: LogRecord) -> bool:
    one, other = (
        {name: value for name, value in record.members.items() if name not in _REWRITTEN}
        for record in (newer, older)
    )
    return same_value(one, other)


def connected_components(known: Iterable[str], joining: Iterable[Edge]) -> list[list[str]]:
    """Return the ids in groups that edges tie together, each in the order in which it is come by."""
    neighbours: dict[str, list[str]] = defaultdict(list)
    for edge in joining:
        neighbours[edge.source].append(edge.target)
        neighbours[edge.target].append(edge.source)
    groups: list[list[str]] = []
    seen: set[str] = set()
    for start in known:
        if start in seen:
            continue
        seen.add(start)
        group = [start]
        for identifier in group:  # grows while it is walked
            fresh = [each for each in neighbours[identifier] if each not in seen]
            seen.update(fresh)
            group.extend(dict.fromkeys(fresh))
        groups.append(group)
    return groups


def _lineage(
    members: list[LogRecord], joining: Mapping[str, Sequence[Edge]], nearest: NearestCommit | None
) -> Lineage:
    if len(members) == 1:
        return Lineage((members[0],), members[0])
    orphans = {member.id for member in members if _is_orphan(member)}
    own = [
        edge
        for member in members
        if member.id not in orphans
        for edge in joining.get(member.id, ())
    ]
    replaced = _reached([edge.target for edge in own], orphans, joining)
    located = [member for member in members if member.id not in orphans] or members
    ends = [member for member in located if member.id not in replaced] or located
    joined = {
        edge.source: edge.record.moment for edge in sorted(own, key=lambda edge: edge.record.moment)
    }  # the latest of each
    ends.sort(key=lambda end: (end.moment, joined.get(end.id, end.moment), end.id))
    return Lineage(tuple(sorted(members, key=lambda member: member.rank)), _choose(ends, nearest))


def _reached(
    replaced: list[str], orphans: set[str], joining: Mapping[str, Sequence[Edge]]
) -> set[str]:
    """Return what is replaced; a record found again after an orphan replaces also what the orphan had replaced."""
    reached = set(replaced)
    for identifier in replaced:  # grows while it is walked
        fresh = [
            edge.target
            for edge in joining.get(identifier, ())
            if identifier in orphans and edge.target not in reached
        ]
        reached.update(fresh)
        replaced.extend(fresh)
    return reached


def _choose(ends: Sequence[LogRecord], nearest: NearestCommit | None) -> LogRecord:
    """Of several ends the one whose commit is the nearest ancestor of HEAD, else the later."""
    commits = list(dict.fromkeys(commit for end in ends if (commit := end.text("commit_hash"))))
    if nearest is not None and len(ends) > 1 and commits:
        commit = nearest(commits)
        for end in reversed(ends):
            if commit is not None and end.text("commit_hash") == commit:
                return end
    return ends[-1]


def _is_orphan(record: LogRecord) -> bool:
    return record.text("action") == Action.REBASE_ORPHAN


def _mark_history(
    lineages: list[Lineage],
    number_of: dict[str, int],
    edges: Sequence[Edge],
    known: dict[str, LogRecord],
) -> None:
    replacing: dict[int, set[int]] = defaultdict(set)
    for edge in edges:
        newer, older = number_of[edge.source], number_of[edge.target]
        if newer != older and replaces(edge, known[edge.source], known[edge.target]):
            replacing[older].add(newer)
    circular = _circular(replacing)
    for older, newer_ones in replacing.items():
        backward = {
            newer
            for newer in newer_ones & circular
            if older in circular and lineages[newer].rank < lineages[older].rank
        }
        ids = sorted(lineages[newer].current.id for newer in newer_ones - backward)
        if ids:
            lineages[older] = Lineage(lineages[older].members, lineages[older].current, tuple(ids))


def _circular(replacing: Mapping[int, set[int]]) -> set[int]:
    """Return the lineages that replace each other in a circle, and what those replace; of these the highest rank must remain."""
    replaced_by: dict[int, list[int]] = defaultdict(list)
    for older, newer_ones in replacing.items():
        for newer in newer_ones:
            replaced_by[newer].append(older)
    waiting = {older: len(newer_ones) for older, newer_ones in replacing.items()}
    settled = [newer for newer in replaced_by if newer not in waiting]
    for newer in settled:  # grows while it is walked
        for older in replaced_by[newer]:
            waiting[older] -= 1
            if not waiting[older]:
                settled.append(older)
    return {older for older, count in waiting.items() if count}


def replaces(edge: Edge, newer: LogRecord, older: LogRecord) -> bool:
    """Whether the edge makes its target history: it says so, or the recorded ranges do.

    A review replaces no edit (R6).
    """
    if newer.text("action") == Action.REVIEW:
        return False
    if edge.reason == SupersedesReason.COVERS:
        return True
    if newer.type != older.type or newer.text("file_path") != older.text("file_path"):
        return False
    if newer.type == RecordType.FUNCTION:
        return newer.text("function_name") == older.text("function_name")
    inner, outer = _range(older), _range(newer)
    return inner is not None and outer is not None and outer[0] <= inner[0] and inner[1] <= outer[1]


def _range(record: LogRecord) -> tuple[int, int] | None:
    start, end = integer(record.members, "line_start"), integer(record.members, "line_end")
    return None if start is None or end is None else (start, end)
