"""Check the records of the log: members, ids (RFC 5.4, 7.3-7.7), references, commits and risk."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, NamedTuple

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.context import CheckContext
from vibes_lsp.checks.finding import Finding, pluralize
from vibes_lsp.errors import MalformedJson
from vibes_lsp.model.hashing import IdVariant, explain_annotation_id
from vibes_lsp.model.members import JsonValue, Members, text
from vibes_lsp.model.record_schema import ENTRY_REFERENCES
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.model.validation import record_problems
from vibes_lsp.model.vocabulary import (
    AssuranceLevel,
    EdgeType,
    NodeType,
    RecordType,
    Signal,
    is_custom_signal,
)
from vibes_lsp.risk.policy import WEIGHTED_AVERAGE
from vibes_lsp.risk.scoring import weighted_average
from vibes_lsp.trail.lineage_groups import LineageGroups
from vibes_lsp.trail.records import LoggedSession, LogRecord, read_edge
from vibes_lsp.trail.rows import ANNOTATION_KINDS, LogLineKind

_AHEAD: Final = timedelta(days=1)
_EDGE_ENDS: Final = ANNOTATION_KINDS | {LogLineKind.OTHER}
"""What an edge to an annotation may lead to; types that are added later are OTHER (RFC 12.2)."""


@dataclass
class RecordTally:
    """What checks of single records add up.

    Attributes:
        ids: The number of ids that match in each variant (R3), without repeated ones.
        repeated: The number of records with one id, kind and variant, of those whose id
            several may have; no variant for types of records that are not checked.
        first_ids: The first line of each variant.
        rejected_lines: Lines that the fast scan took for records and the strict parser rejects.
        below: The number of annotations below the project's assurance level.
        first_below: The line of the first of these.
        old_names: The number of edges with the older names of their ends (R5).
        first_old_name: The line of the first of these.
        unknown_sessions: Sessions that records name and that no record starts, with the first line.
    """

    ids: Counter[IdVariant] = field(default_factory=Counter)
    repeated: Counter[tuple[str, LogLineKind, IdVariant | None]] = field(default_factory=Counter)
    first_ids: dict[IdVariant, int] = field(default_factory=dict)
    rejected_lines: set[int] = field(default_factory=set)
    below: int = 0
    first_below: int = 0
    old_names: int = 0
    first_old_name: int = 0
    unknown_sessions: dict[str, int] = field(default_factory=dict)

    def id_counts(self) -> Counter[IdVariant]:
        """Return the number of ids that match in each variant; records with one id are one (R3)."""
        different = {(identifier, variant) for identifier, _, variant in self.repeated if variant}
        return self.ids + Counter(variant for _, variant in different)

    def repeated_records(self) -> Counter[LogLineKind]:
        """Return how many records of each kind repeat the id of another."""
        same: Counter[tuple[str, LogLineKind]] = Counter()
        for (identifier, kind, _), count in self.repeated.items():
            same[identifier, kind] += count
        surplus: Counter[LogLineKind] = Counter()
        for (_, kind), count in same.items():
            surplus[kind] += count - 1
        return surplus


class _End(NamedTuple):
    """An end of an edge: the edge's line, the name of the member and the id it has."""

    line: int
    name: str
    reference: str


class RecordChecks:
    """Checks records one by one: their members, ids and references.

    Args:
        context: The trail.
        groups: What edges say about them.
        counts_repeated: Whether records with one id count once.

    Attributes:
        tally: What the checks add up.
    """

    def __init__(
        self,
        context: CheckContext,
        groups: LineageGroups,
        *,
        counts_repeated: bool = False,
    ) -> None:
        self.tally = RecordTally()
        self._subject = context
        self._groups = groups
        self._counts_repeated = counts_repeated
        self._annotation_ends: list[_End] = []
        self._latest = context.now + _AHEAD
        levels = list(AssuranceLevel)
        own = levels.index(context.config.config.assurance_level)
        self._levels_below: Final[list[JsonValue]] = [level.value for level in levels[:own]]
        self._types = context.entry_types
        self._sessions = context.session_ids

    def check(self, record: LogRecord) -> list[Finding]:
        """Return the findings about one record, without those of `check_annotation_ends`."""
        findings: list[Finding] = []
        context, tally, members, line = self._subject, self.tally, record.members, record.line
        kind = members.get("type")
        for problem in record_problems(members):
            check = catalogue.TIMESTAMP if problem.kind == "timestamp" else catalogue.RECORD_FIELD
            where = f"{problem.field}: " if problem.field else ""
            message = f"{where}{problem.message}"
            findings.append(context.in_log(check, message, line, problem.field or None))
        timestamp = text(members, "timestamp") or ""
        moment = parse_timestamp(timestamp)
        if moment is not None and moment > self._latest:
            message = f"timestamp {timestamp} is in the future"
            findings.append(context.in_log(catalogue.TIMESTAMP_FUTURE, message, line, "timestamp"))
        variant = explain_annotation_id(members)[-1]
        if not self.count_repeated(record, variant):
            tally.ids[variant] += 1
        tally.first_ids.setdefault(variant, line)
        if variant == IdVariant.MISMATCH:
            message = "annotation_id does not match this record in any known variant"
            findings.append(context.in_log(catalogue.ID_MISMATCH, message, line, "annotation_id"))
        if members.get("assurance_level") in self._levels_below and record.is_annotation:
            tally.below += 1
            tally.first_below = tally.first_below or line
        findings += self._hashes(members, line)
        if kind == RecordType.EDGE:
            findings += self._ends(record)
        session = text(members, "session_id")
        if session and session not in self._sessions and kind != RecordType.SESSION:
            tally.unknown_sessions.setdefault(session, line)
        return findings

    def count_repeated(self, record: LogRecord, variant: IdVariant | None = None) -> bool:
        """Count a record, if others may have its id; return whether they do."""
        groups, line = self._groups, record.line
        if not (self._counts_repeated and line in groups.repeated):
            return False
        self.tally.repeated[record.id, self._subject.trail.log.kind(line), variant] += 1
        return True

    def reject_line(self, line: int, problem: MalformedJson) -> Finding:
        """Return a finding about a line that the strict parser rejects (R1, R12)."""
        self.tally.rejected_lines.add(line)
        return self._subject.in_log(catalogue.LOG_LINE, problem.reason, line)

    def _hashes(self, members: Members, line: int) -> Iterator[Finding]:
        context, types = self._subject, self._types
        for name, wanted in ENTRY_REFERENCES.items():
            key = members.get(name)
            if not isinstance(key, str) or types.get(key) == wanted:
                continue
            if key not in types:
                if context.can_resolve_entries:
                    yield context.in_log(
                        catalogue.REFERENCE_DANGLING,
                        f"{name} {key[:8]} has no manifest entry",
                        line,
                        name,
                    )
            else:
                yield context.in_log(
                    catalogue.REFERENCE_TYPE,
                    f"{name} refers to an entry of type {types[key] or 'none'}: expected {wanted}",
                    line,
                    name,
                )

    def _ends(self, record: LogRecord) -> Iterator[Finding]:
        edge, members = read_edge(record), record.members
        if "source_id" in members or "target_id" in members:
            self.tally.old_names += 1
            self.tally.first_old_name = self.tally.first_old_name or record.line
        for end, reference, kind in (
            ("source", edge.source, edge.source_type),
            ("target", edge.target, edge.target_type),
        ):
            name = f"{end}_ref" if f"{end}_ref" in members else f"{end}_id"
            if reference and kind == NodeType.ANNOTATION:
                self._annotation_ends.append(_End(record.line, name, reference))
            elif reference and not self._leads(reference, kind):
                yield self._broken_end(_End(record.line, name, reference), kind)

    def check_annotation_ends(self) -> Iterator[Finding]:
        """Yield findings about the annotations that the edges checked so far refer to."""
        log = self._subject.trail.log
        references = {end.reference for end in self._annotation_ends}
        missing = {name for name in references if not log.candidates(name, *_EDGE_ENDS)}
        for end in self._annotation_ends:
            if end.reference in missing:
                yield self._broken_end(end, NodeType.ANNOTATION)
        self._annotation_ends.clear()

    def _broken_end(self, end: _End, kind: str) -> Finding:
        message = f"{end.name} {end.reference[:36]} refers to no {kind}"
        return self._subject.in_log(catalogue.EDGE_END, message, end.line, end.name)

    def _leads(self, reference: str, kind: str) -> bool:
        match kind:
            case NodeType.CONTEXT:
                return reference in self._types or not self._subject.can_resolve_entries
            case NodeType.SESSION:
                return reference in self._sessions
            case _:
                return True  # an unknown type has its own finding


def check_tally(context: CheckContext, tally: RecordTally) -> Iterator[Finding]:
    """Yield findings about all records together."""
    counts = tally.id_counts()
    for variant, count in counts.items():
        if variant == IdVariant.ABSENT:
            message = f"{count:,} of {counts.total():,} records have no annotation_id"
            yield context.in_log(
                catalogue.ID_ABSENT, message, tally.first_ids[variant], "annotation_id"
            )
        elif variant not in (IdVariant.SPEC, IdVariant.MISMATCH):
            message = f"{count:,} of {counts.total():,} annotation_ids match only as {variant!s}"
            yield context.in_log(
                catalogue.ID_VARIANT, message, tally.first_ids[variant], "annotation_id"
            )
    if tally.below:
        below = pluralize(tally.below, "annotation is", "annotations are")
        level = context.config.config.assurance_level
        message = f"{below} below the project's assurance level {level}"
        yield context.in_log(catalogue.LEVEL_BELOW, message, tally.first_below, "assurance_level")
    if tally.old_names:
        edges = pluralize(tally.old_names, "edge uses", "edges use")
        message = f"{edges} source_id and target_id"
        yield context.in_log(catalogue.EDGE_NAMES, message, tally.first_old_name)
    for session, line in tally.unknown_sessions.items():
        yield context.in_log(
            catalogue.SESSION_UNKNOWN,
            f"session {session[:36]} has no start record",
            line,
            "session_id",
        )


def check_sessions(context: CheckContext) -> Iterator[Finding]:
    """Yield findings about the start and end of sessions."""
    for session in context.trail.log.sessions():
        if session.is_open and session.start is not None:
            yield context.in_log(
                catalogue.SESSION_OPEN,
                f"session {session.id[:36]} has no end record",
                session.start.line,
                "session_id",
            )
        elif session.start is None and session.ends:
            yield context.in_log(
                catalogue.SESSION_UNKNOWN,
                f"session {session.id[:36]} has an end record but no start record",
                session.ends[0].line,
            )
        elif (
            session.start is not None
            and max(end.moment for end in session.ends) < session.start.moment
        ):
            yield context.in_log(
                catalogue.SESSION_ORDER,
                f"session {session.id[:36]} ends before it starts",
                session.ends[0].line,
                "timestamp",
            )


def check_delegations(context: CheckContext) -> Iterator[Finding]:
    """Yield findings about delegations: the record, the child's start and the edge."""
    log = context.trail.log
    sessions = {session.id: session for session in log.sessions()}
    edges = context.trail.edges_of_type(EdgeType.DELEGATED_TO)
    connected = {(edge.source, edge.target) for edge in edges}
    delegated: set[tuple[str, str]] = set()
    for record in context.trail.log.records_of(LogLineKind.DELEGATION):
        parent, child = (
            record.text("parent_session_id") or "",
            record.text("child_session_id") or "",
        )
        delegated.add((parent, child))
        yield from _delegation(context, record, sessions, parent, child)
        if not parent or (parent, child) not in connected:
            message = f"there is no delegated_to edge from session {parent[:36]} to {child[:36]}"
            yield context.in_log(catalogue.DELEGATION_EDGE, message, record.line)
    for session in sessions.values():
        parent = session.text("parent_session_id") or ""
        if parent and (parent, session.id) not in delegated and session.start is not None:
            message = f"session {session.id[:36]} has no delegation record of parent {parent[:36]}"
            yield context.in_log(
                catalogue.DELEGATION_RECORD, message, session.start.line, "parent_session_id"
            )


def _delegation(
    context: CheckContext,
    record: LogRecord,
    sessions: dict[str, LoggedSession],
    parent: str,
    child: str,
) -> Iterator[Finding]:
    for name, identifier in (("parent_session_id", parent), ("child_session_id", child)):
        if identifier and identifier not in sessions:
            yield context.in_log(
                catalogue.SESSION_UNKNOWN,
                f"{name} {identifier[:36]} has no start record",
                record.line,
                name,
            )
    child_session = sessions.get(child)
    if child_session is not None and child_session.text("parent_session_id") != parent:
        message = f"the start record of session {child[:36]} lacks its parent {parent[:36]}"
        yield context.in_log(
            catalogue.DELEGATION_CHILD,
            message,
            child_session.start.line if child_session.start else record.line,
            "parent_session_id",
        )


_SCORE_TOLERANCE: Final = 0.005001
"""Half a unit of the second decimal: tools round scores and values to two decimals."""


def check_risk(context: CheckContext, record: LogRecord) -> Iterator[Finding]:
    """Yield findings about valid risk members of a record; invalid members are `record-field`."""
    factors = record.members.get("risk_factors")
    if not isinstance(factors, list) or not record.is_annotation:
        return
    listed = [factor for factor in factors if isinstance(factor, dict)]
    yield from _signals(context, record, listed)
    score = _number(record.members.get("risk_score"))
    if score is None or context.config.policy.algorithm != WEIGHTED_AVERAGE:
        return
    pairs = [
        (weight, value)
        for factor in listed
        if (weight := _number(factor.get("weight"))) is not None
        and (value := _number(factor.get("value"))) is not None
    ]
    average = (
        weighted_average(pairs)
        if len(pairs) == len(factors)
        and all(weight >= 0 and 0 <= value <= 1 for weight, value in pairs)
        else None
    )
    if average is not None and abs(average - score) > _SCORE_TOLERANCE:
        message = f"risk_score is {score:.4g}, but its factors give {average:.4f}"
        yield context.in_log(catalogue.RISK_SCORE, message, record.line, "risk_score")


def _signals(context: CheckContext, record: LogRecord, factors: list[Members]) -> Iterator[Finding]:
    seen: set[str] = set()
    for number, factor in enumerate(factors):
        signal = text(factor, "signal")
        if not signal:
            continue
        member = f"risk_factors.{number}.signal"
        if signal in seen:
            yield context.in_log(
                catalogue.RISK_SIGNAL, f"signal {signal[:60]!r} occurs twice", record.line, member
            )
        elif signal not in set(Signal) and not is_custom_signal(signal):
            yield context.in_log(
                catalogue.RISK_SIGNAL,
                f"unknown signal {signal[:60]!r}: "
                "expected a standard signal or a name such as org:name",
                record.line,
                member,
            )
        seen.add(signal)


def _number(value: JsonValue) -> float | None:
    """Return a finite number as a float; None for other values and integers too large for one."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _LARGEST:
        return None
    return float(value) if math.isfinite(value) else None


_LARGEST: Final = 1e300
