"""Lineages (R7): which records are about the same edit, which is current, which edits are history.

Pure functions over decoded records and edges.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from vibes_lsp.anchors.line_hashes import split_hashes
from vibes_lsp.anchors.location import AnchoredRange
from vibes_lsp.model.canonical_json import canonical_json, same_value
from vibes_lsp.model.hashing import ANCHOR_MEMBERS, sha256
from vibes_lsp.model.members import Members, integer
from vibes_lsp.model.vocabulary import REMAP_ACTIONS, Action, RecordType, SupersedesReason
from vibes_lsp.trail.records import Edge, LogRecord, recorded_lines, recorded_range

NearestCommit: TypeAlias = Callable[[Sequence[str]], str | None]
"""Returns the nearest ancestor of HEAD among commits; None if there is none or git fails."""

_SAME_EDIT_REASONS: Final = frozenset(
    {SupersedesReason.COMMIT, SupersedesReason.REWRITE, SupersedesReason.ORPHAN}
)
_IRRELEVANT_MEMBERS: Final = frozenset(
    {"annotation_id", "timestamp", "session_id", "commit_hash", "risk_score", "risk_factors"}
)
_REMAPPED_MEMBERS: Final = frozenset(
    {"commit_hash", "line_start", "line_end", "annotation_id", *ANCHOR_MEMBERS}
)


class Lineage(msgspec.Struct, frozen=True, dict=True):
    """All records of one edit. Cached between requests, together with its computed properties.

    Attributes:
        members: The records in the order of events, one for each id.
        current: The record that is valid now.
        superseded_by: Ids of the current records of the lineages that make this one history.
        is_pending: Whether it is not in the log yet.
        depends_on_head: Whether git was asked which of the records is current.
    """

    members: tuple[LogRecord, ...]
    current: LogRecord
    superseded_by: tuple[str, ...] = ()
    is_pending: bool = False
    depends_on_head: bool = False

    @property
    def first(self) -> LogRecord:
        """The record of the edit itself, which gives the lineage its rank."""
        return self.members[0]

    @cached_property
    def edit(self) -> str:
        """The id that recording returned (R32); hunks of one edit have the same."""
        return self.first.text("edit") or self.first.id

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The ids of all members."""
        return tuple([member.id for member in self.members])

    @property
    def is_orphaned(self) -> bool:
        """Whether the last record says that its lines were not found again (RFC 7.3.1)."""
        last = max(self.members, key=lambda member: member.line)
        return len(self.members) > 1 and _is_orphan(last)

    @cached_property
    def rank(self) -> tuple[datetime, int]:
        """The highest rank owns a line (R7); back-fill and remap never change a rank."""
        return self.first.rank

    @property
    def hunks(self) -> list[LogRecord]:
        """The records of the edit itself: one, or one for each hunk of it that is placed here."""
        return [
            member
            for member in self.members
            if member is self.first or member.text("action") not in REMAP_ACTIONS
        ]

    @cached_property
    def written(self) -> tuple[Sequence[str], tuple[tuple[int, int], ...]]:
        """The hashes of the lines that it wrote, and the ranges of lines that its records name.

        A record that repeats the lines of another one, as a back-fill does, replaces it.
        """
        edits = [record for record in self.members if record.text("edit") is not None]
        records = {
            record.text("line_hashes") or "": record
            for record in (edits if edits and self.first not in edits else self.members)
        }
        spans: list[tuple[int, int]] = []
        for start, end in sorted(filter(None, map(recorded_lines, records.values()))):
            if spans and start <= spans[-1][1] + 1:
                spans[-1] = spans[-1][0], max(spans[-1][1], end)
            else:
                spans.append((start, end))
        return [known for joined in records for known in split_hashes(joined)], tuple(spans)

    @property
    def line_count(self) -> int | None:
        """How many lines it wrote; None if no record says it."""
        hashes, spans = self.written
        return len(hashes) or sum(end + 1 - start for start, end in spans) or None

    @property
    def recorded_lines(self) -> tuple[int, int] | None:
        """First and last line as its current record has them, or as all its hunks have."""
        spans = self.written[1] if len(self.hunks) > 1 else ()
        return (spans[0][0], spans[-1][1]) if spans else recorded_lines(self.current)

    @property
    def has_hashes(self) -> bool:
        """Whether the lines that it wrote have hashes (R32)."""
        return bool(self.written[0])

    @cached_property
    def recorded_range(self) -> AnchoredRange | None:
        """The recorded range with its anchors; None if there is no valid range."""
        return recorded_range(self.members, self.current)

    @property
    def anchor_hash(self) -> str | None:
        """`anchor_hash` of the lines or the function that the AI wrote (R14)."""
        return next(
            (digest for member in self.members if (digest := member.text("anchor_hash"))), None
        )

    @cached_property
    def action(self) -> str:
        """What the AI did: the first action that is not a remap."""
        for member in self.members:
            action = member.text("action")
            if action and action not in REMAP_ACTIONS:
                return action
        return ""

    @property
    def is_review(self) -> bool:
        """Whether it is a review of code, not an edit (R6)."""
        return self.action == Action.REVIEW

    @cached_property
    def may_be_placeholder(self) -> bool:
        """Whether it may be a placeholder: a change of "line 1" without anchors (R18)."""
        members = self.current.members
        return (
            self.current.type == RecordType.LINE
            and members.get("line_start") == members.get("line_end") == 1
            and self.current.text("action") == Action.MODIFY
            and not any(self.current.text(name) for name in ANCHOR_MEMBERS)
        )

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all members by which a reader can distinguish two annotations."""
        members: Members = {
            name: value
            for name, value in self.current.members.items()
            if value is not None and name not in _IRRELEVANT_MEMBERS
        }
        return sha256(canonical_json(members))


def build_lineages(
    records: Iterable[LogRecord],
    supersedes: Iterable[Edge],
    nearest_commit: NearestCommit | None = None,
) -> list[Lineage]:
    """Group annotations into lineages, oldest first.

    Args:
        records: Line and function records; of several with one id, the first counts.
        supersedes: Supersedes edges; those with an end that is not among the records are ignored.
        nearest_commit: Chooses between several ends of one lineage; without it, the latest one is
            current.
    """
    by_id: dict[str, LogRecord] = {}
    for record in records:
        by_id.setdefault(record.id, record)
    edges = [
        edge
        for edge in supersedes
        if edge.source in by_id and edge.target in by_id and edge.source != edge.target
    ]
    joining = [
        edge for edge in edges if _is_same_edit(edge, by_id[edge.source], by_id[edge.target])
    ]
    groups = connected_components(by_id, joining)
    by_source: dict[str, list[Edge]] = defaultdict(list)
    for edge in joining:
        by_source[edge.source].append(edge)
    lineages = [
        _lineage([by_id[identifier] for identifier in group], by_source, nearest_commit)
        for group in groups
    ]
    _mark_history(
        lineages,
        {identifier: number for number, group in enumerate(groups) for identifier in group},
        edges,
        by_id,
    )
    return sorted(lineages, key=lambda lineage: lineage.rank)


def _is_same_edit(edge: Edge, newer: LogRecord, older: LogRecord) -> bool:
    """Whether a supersedes edge connects two records of the same edit."""
    reason = edge.reason
    if reason in _SAME_EDIT_REASONS:
        return True
    if reason == SupersedesReason.COVERS:
        return False
    return newer.text("action") in REMAP_ACTIONS or _same_edit(newer, older)


def _same_edit(newer: LogRecord, older: LogRecord) -> bool:
    newer_members, older_members = (
        {name: value for name, value in record.members.items() if name not in _REMAPPED_MEMBERS}
        for record in (newer, older)
    )
    return same_value(newer_members, older_members)


def connected_components(ids: Iterable[str], edges: Iterable[Edge]) -> list[list[str]]:
    """Return the ids in groups that edges connect, each in breadth-first order."""
    neighbours: dict[str, list[str]] = defaultdict(list)
    for edge in edges:
        neighbours[edge.source].append(edge.target)
        neighbours[edge.target].append(edge.source)
    groups: list[list[str]] = []
    seen: set[str] = set()
    for start in ids:
        if start in seen:
            continue
        if start not in neighbours:
            groups.append([start])
            continue
        seen.add(start)
        group = [start]
        for identifier in group:  # grows during iteration
            fresh = [neighbour for neighbour in neighbours[identifier] if neighbour not in seen]
            seen.update(fresh)
            group.extend(dict.fromkeys(fresh))
        groups.append(group)
    return groups


def _lineage(
    members: list[LogRecord],
    joining: Mapping[str, Sequence[Edge]],
    nearest_commit: NearestCommit | None,
) -> Lineage:
    """Return the lineage of connected records; the current one is an end that none replaces.

    Args:
        members: The records.
        joining: Edges between them, by source.
        nearest_commit: Chooses between several ends.
    """
    if len(members) == 1:
        return Lineage((members[0],), members[0])
    orphans = {member.id for member in members if _is_orphan(member)}
    own = [
        edge
        for member in members
        if member.id not in orphans
        for edge in joining.get(member.id, ())
    ]
    replaced = _replaced_ids([edge.target for edge in own], orphans, joining)
    located = [member for member in members if member.id not in orphans] or members
    ends = [member for member in located if member.id not in replaced] or located
    joined = {
        edge.source: edge.record.moment for edge in sorted(own, key=lambda edge: edge.record.moment)
    }  # the latest of each
    ends.sort(key=lambda end: (end.moment, joined.get(end.id, end.moment), end.id))
    current, depends_on_head = _choose(ends, nearest_commit)
    return Lineage(
        tuple(sorted(members, key=lambda member: member.rank)),
        current,
        depends_on_head=depends_on_head,
    )


def _replaced_ids(
    replaced: list[str], orphans: set[str], joining: Mapping[str, Sequence[Edge]]
) -> set[str]:
    """Return all replaced ids: a remap after an orphan record also replaces that one's targets."""
    reached = set(replaced)
    for identifier in replaced:  # grows during iteration
        fresh = [
            edge.target
            for edge in joining.get(identifier, ())
            if identifier in orphans and edge.target not in reached
        ]
        reached.update(fresh)
        replaced.extend(fresh)
    return reached


def _choose(
    ends: Sequence[LogRecord], nearest_commit: NearestCommit | None
) -> tuple[LogRecord, bool]:
    """Return the end whose commit is the nearest ancestor of HEAD, else the latest.

    Returns:
        The end, and whether git was asked.
    """
    commits = list(dict.fromkeys(commit for end in ends if (commit := end.text("commit_hash"))))
    if nearest_commit is None or len(ends) == 1 or not commits:
        return ends[-1], False
    commit = nearest_commit(commits)
    nearest = (end for end in reversed(ends) if end.text("commit_hash") == commit)
    return (ends[-1] if commit is None else next(nearest, ends[-1])), True


def _is_orphan(record: LogRecord) -> bool:
    return record.text("action") == Action.REBASE_ORPHAN


def _mark_history(
    lineages: list[Lineage],
    number_of: dict[str, int],
    edges: Sequence[Edge],
    by_id: dict[str, LogRecord],
) -> None:
    """Set `superseded_by` of replaced lineages; in a cycle, only a higher rank replaces a lower."""
    replacing: dict[int, set[int]] = defaultdict(set)
    for edge in edges:
        newer, older = number_of[edge.source], number_of[edge.target]
        if newer != older and replaces(edge, by_id[edge.source], by_id[edge.target]):
            replacing[older].add(newer)
    cyclic = _cyclic(replacing)
    for older, newer_ones in replacing.items():
        backward = {
            newer
            for newer in newer_ones & cyclic
            if older in cyclic and lineages[newer].rank < lineages[older].rank
        }
        ids = sorted(lineages[newer].current.id for newer in newer_ones - backward)
        if ids:
            lineages[older] = replace(lineages[older], superseded_by=tuple(ids))


def created_lineages(lineages: Iterable[Lineage]) -> frozenset[str]:
    """Return the lineages whose lines exist because an AI created them, by first record id.

    These are creations, and what replaced a creation as a whole: without those a sum over creations
    would lose its lines.
    """
    known = list(lineages)
    by_current = {lineage.current.id: lineage for lineage in known}
    creation_ids: set[str] = set()
    pending = [lineage for lineage in known if lineage.action == Action.CREATE]
    while pending:
        lineage = pending.pop()
        if lineage.first.id not in creation_ids:
            creation_ids.add(lineage.first.id)
            newer = (by_current[identifier] for identifier in lineage.superseded_by)
            pending += [
                successor
                for successor in newer
                if not successor.is_review and successor.action != Action.DELETE
            ]
    return frozenset(creation_ids)


def _cyclic(replacing: Mapping[int, set[int]]) -> set[int]:
    """Return the lineages in or behind a cycle of replacements, by Kahn's algorithm."""
    replaced: dict[int, list[int]] = defaultdict(list)
    for older, newer_ones in replacing.items():
        for newer in newer_ones:
            replaced[newer].append(older)
    remaining = {older: len(newer_ones) for older, newer_ones in replacing.items()}
    ready = [newer for newer in replaced if newer not in remaining]
    for newer in ready:  # grows during iteration
        for older in replaced[newer]:
            remaining[older] -= 1
            if not remaining[older]:
                ready.append(older)
    return {older for older, count in remaining.items() if count}


def replaces(edge: Edge, newer: LogRecord, older: LogRecord) -> bool:
    """Whether a supersedes edge makes its target history: by its reason, or by the recorded ranges.

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
