"""Check the records of the log: members, ids (RFC 5.4, 7.3-7.7), references, commits and risk."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.context import CheckContext
from vibes_lsp.checks.finding import Finding, Severity, pluralize
from vibes_lsp.errors import MalformedJson
from vibes_lsp.index.id_keys import id_key
from vibes_lsp.index.lineage import Lineage
from vibes_lsp.index.lineage_commits import recorded_commit, resolve_commits
from vibes_lsp.index.log_columns import EDGE_TYPES
from vibes_lsp.index.records import LoggedSession, LogRecord, read_edge
from vibes_lsp.model.hashing import IdVariant, explain_annotation_id
from vibes_lsp.model.members import JsonValue, Members, text
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.model.validation import record_problems
from vibes_lsp.model.vocabulary import (
    CONTEXT_MEMBERS,
    REMAP_ACTIONS,
    Action,
    AssuranceLevel,
    ContextType,
    EdgeType,
    NodeType,
    RecordType,
    Signal,
    is_custom_signal,
)
from vibes_lsp.risk.policy import WEIGHTED_AVERAGE
from vibes_lsp.risk.scoring import weighted_average

_AHEAD = timedelta(days=1)


class RecordChecks:
    """Checks records one by one and counts their ids.

    Attributes:
        ids: The number of ids that match in each variant (R3).
        rejected_lines: Lines that the fast scan took for records and the strict parser rejects.
    """

    def __init__(self, context: CheckContext) -> None:
        self._subject = context
        self.ids: Counter[IdVariant] = Counter()
        self.rejected_lines: set[int] = set()
        self._first_id: dict[IdVariant, int] = {}
        self._below: list[int] = []
        self._explained: set[tuple[int, IdVariant]] = set()

    def check(self, record: LogRecord) -> Iterator[Finding]:
        """Yield findings about one record."""
        context = self._subject
        for problem in record_problems(record.members):
            check = catalogue.TIMESTAMP if problem.kind == "timestamp" else catalogue.RECORD_FIELD
            where = f"{problem.field}: " if problem.field else ""
            yield context.in_log(
                check, f"{where}{problem.message}", record.line, problem.field or None
            )
        moment = parse_timestamp(record.text("timestamp") or "")
        if moment is not None and moment > context.now + _AHEAD:
            yield context.in_log(
                catalogue.TIMESTAMP_FUTURE,
                f"timestamp {record.text('timestamp')} is in the future",
                record.line,
                "timestamp",
            )
        variant = explain_annotation_id(record.members)[-1]
        explained = id_key(record.id), variant
        # records with the same id are one (R3)
        self.ids[variant] += explained not in self._explained
        self._explained.add(explained)
        self._first_id.setdefault(variant, record.line)
        if variant == IdVariant.MISMATCH:
            yield context.in_log(
                catalogue.ID_MISMATCH,
                "annotation_id does not match this record in any known variant",
                record.line,
                "annotation_id",
            )
        if record.is_annotation and self._is_below(record):
            self._below.append(record.line)

    def reject_line(self, line: int, problem: MalformedJson) -> Finding:
        """Return a finding about a line that the strict parser rejects (R1, R12)."""
        self.rejected_lines.add(line)
        return self._subject.in_log(catalogue.LOG_LINE, problem.reason, line)

    def finish(self) -> Iterator[Finding]:
        """Yield findings about all records together."""
        context, total = self._subject, self.ids.total()
        for variant, count in self.ids.items():
            if variant == IdVariant.ABSENT:
                message = f"{count:,} of {total:,} records have no annotation_id"
                yield context.in_log(
                    catalogue.ID_ABSENT, message, self._first_id[variant], "annotation_id"
                )
            elif variant not in (IdVariant.SPEC, IdVariant.MISMATCH):
                message = f"{count:,} of {total:,} annotation_ids match only as {variant!s}"
                yield context.in_log(
                    catalogue.ID_VARIANT, message, self._first_id[variant], "annotation_id"
                )
        if self._below:
            below = pluralize(len(self._below), "annotation is", "annotations are")
            level = context.config.config.assurance_level
            message = f"{below} below the project's assurance level {level}"
            yield context.in_log(catalogue.LEVEL_BELOW, message, self._below[0], "assurance_level")

    def _is_below(self, record: LogRecord) -> bool:
        levels = list(AssuranceLevel)
        level = record.text("assurance_level")
        return level in levels and levels.index(AssuranceLevel(level)) < levels.index(
            self._subject.config.config.assurance_level
        )


def check_paths(context: CheckContext, foreign: dict[str, str]) -> Iterator[Finding]:
    """Yield one finding about missing files and one about untracked files (R19, R26)."""
    columns, tracking = context.trail.log.columns, context.config.tracking
    if foreign:
        count = sum(len(columns.annotations[path]) for path in foreign)
        reasons: dict[str, int] = defaultdict(int)
        for reason in foreign.values():
            reasons[reason] += 1
        listed = ", ".join(f"{number} {reason}" for reason, number in sorted(reasons.items()))
        message = f"not in this checkout: {_of_files(count, len(foreign))} ({listed})"
        yield context.in_log(
            catalogue.PATH_FOREIGN,
            message,
            min(columns.annotations[path][0] for path in foreign),
            "file_path",
        )
    untracked = [path for path in context.trail.annotated_paths() if not tracking.tracks(path)]
    if untracked:
        count = sum(len(columns.annotations[path]) for path in untracked)
        message = f"not tracked by the project: {_of_files(count, len(untracked))}"
        yield context.in_log(
            catalogue.PATH_UNTRACKED,
            message,
            min(columns.annotations[path][0] for path in untracked),
            "file_path",
        )


def _of_files(annotations: int, files: int) -> str:
    return pluralize(annotations, "annotation in ", "annotations in ") + pluralize(
        files, "file", "files"
    )


_REFERENCES: Final = {
    **CONTEXT_MEMBERS,
    "parent_environment_hash": ContextType.ENVIRONMENT,
    "child_environment_hash": ContextType.ENVIRONMENT,
}


class ReferenceChecks:
    """Checks the hashes, edges and session ids that records refer to."""

    def __init__(self, context: CheckContext) -> None:
        self._subject = context
        self._old_names: list[int] = []
        self._unknown_sessions: dict[str, int] = {}
        self._keys = frozenset(context.trail.log.columns.keys)

    def check(self, record: LogRecord) -> Iterator[Finding]:
        """Yield findings about one record."""
        yield from self._hashes(record)
        if record.type == RecordType.EDGE:
            yield from self._ends(record)
        session = record.text("session_id")
        if (
            session
            and record.type != RecordType.SESSION
            and session not in self._subject.trail.log.columns.sessions
        ):
            self._unknown_sessions.setdefault(session, record.line)

    def finish(self) -> Iterator[Finding]:
        """Yield findings about all records together."""
        context = self._subject
        if self._old_names:
            edges = pluralize(len(self._old_names), "edge uses", "edges use")
            message = f"{edges} source_id and target_id"
            yield context.in_log(catalogue.EDGE_NAMES, message, self._old_names[0])
        for session, line in self._unknown_sessions.items():
            yield context.in_log(
                catalogue.SESSION_UNKNOWN,
                f"session {session[:36]} has no start record",
                line,
                "session_id",
            )

    def _hashes(self, record: LogRecord) -> Iterator[Finding]:
        context = self._subject
        for field, wanted in _REFERENCES.items():
            key = record.text(field)
            if key is None:
                continue
            if key not in context.trail.manifest:
                if context.can_resolve_entries:
                    yield context.in_log(
                        catalogue.REFERENCE_DANGLING,
                        f"{field} {key[:16]} has no manifest entry",
                        record.line,
                        field,
                    )
            elif (kind := context.entry_types[key]) != wanted:
                yield context.in_log(
                    catalogue.REFERENCE_TYPE,
                    f"{field} refers to an entry of type {kind or 'none'}: expected {wanted}",
                    record.line,
                    field,
                )

    def _ends(self, record: LogRecord) -> Iterator[Finding]:
        edge = read_edge(record)
        if "source_id" in record.members or "target_id" in record.members:
            self._old_names.append(record.line)
        for end, reference, kind in (
            ("source", edge.source, edge.source_type),
            ("target", edge.target, edge.target_type),
        ):
            if reference and not self._leads(reference, kind):
                field = f"{end}_ref" if f"{end}_ref" in record.members else f"{end}_id"
                yield self._subject.in_log(
                    catalogue.EDGE_END,
                    f"{field} {reference[:36]} refers to no {kind}",
                    record.line,
                    field,
                )

    def _leads(self, reference: str, kind: str) -> bool:
        trail = self._subject.trail
        match kind:
            case NodeType.ANNOTATION:
                return id_key(reference) in self._keys
            case NodeType.CONTEXT:
                return reference in trail.manifest or not self._subject.can_resolve_entries
            case NodeType.SESSION:
                return reference in trail.log.columns.sessions
            case _:
                return True  # an unknown type has its own finding


def check_causes(context: CheckContext) -> Iterator[Finding]:
    """Yield one finding about all edits without a cause; lineage members share edges (R7)."""
    caused = _sources(context, EdgeType.CAUSED_BY)
    lines = [
        lineage.first.line
        for lineage in context.lineages
        if lineage.action != Action.REVIEW
        and not any(id_key(identifier) in caused for identifier in lineage.ids)
    ]
    if lines:
        message = f"{len(lines):,} of {len(context.lineages):,} annotations have no caused_by edge"
        yield context.in_log(catalogue.CAUSE_MISSING, message, lines[0])


def check_remaps(context: CheckContext) -> Iterator[Finding]:
    """Yield remapped records without a supersedes edge; for an orphan it is only recommended."""
    tied = _sources(context, EdgeType.SUPERSEDES)
    for lineage in context.lineages:
        for member in lineage.members:
            if member.text("action") in REMAP_ACTIONS and id_key(member.id) not in tied:
                message = f"the {member.text('action')} record has no supersedes edge"
                weight = None if member.text("action") == Action.REBASE_REMAP else Severity.WARNING
                yield Finding(
                    catalogue.REMAP_EDGE, message, context.log_name, member.line, "action", weight
                )


def _sources(context: CheckContext, kind: EdgeType) -> frozenset[int]:
    columns, code = context.trail.log.columns, EDGE_TYPES.index(kind)
    return frozenset(
        key
        for key, each in zip(columns.edge_sources, columns.edge_types, strict=True)
        if each == code
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
    delegated: set[tuple[str, str]] = set()
    for record in log.records(log.columns.delegations):
        parent, child = (
            record.text("parent_session_id") or "",
            record.text("child_session_id") or "",
        )
        delegated.add((parent, child))
        yield from _delegation(context, record, sessions, parent, child)
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
    for field, identifier in (("parent_session_id", parent), ("child_session_id", child)):
        if identifier and identifier not in sessions:
            yield context.in_log(
                catalogue.SESSION_UNKNOWN,
                f"{field} {identifier[:36]} has no start record",
                record.line,
                field,
            )
    known = sessions.get(child)
    if known is not None and known.text("parent_session_id") != parent:
        message = f"the start record of session {child[:36]} lacks its parent {parent[:36]}"
        yield context.in_log(
            catalogue.DELEGATION_CHILD,
            message,
            known.start.line if known.start else record.line,
            "parent_session_id",
        )
    edges = context.trail.log.edges(source=parent) if parent else []
    if not any(edge.type == EdgeType.DELEGATED_TO and edge.target == child for edge in edges):
        message = f"there is no delegated_to edge from session {parent[:36]} to {child[:36]}"
        yield context.in_log(catalogue.DELEGATION_EDGE, message, record.line)


def check_commits(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding about annotations newer than HEAD, and one about those without any commit."""
    pending = [lineage for lineage in context.lineages if recorded_commit(lineage) is None]
    if not pending:
        return
    repository = context.repository
    head = repository.head() if repository is not None else None
    if repository is None or head is None:
        reason = (
            "there is no git repository" if repository is None else "the repository has no commits"
        )
        count = pluralize(len(pending), "annotation has", "annotations have")
        message = f"{count} no commit, and it cannot be derived: {reason}"
        yield _commit_unknown(context, pending[0], message, Severity.NOTE)
        return
    since = repository.commit_time(head)
    derived = resolve_commits(pending, repository, context.directory)
    unknown = [lineage for lineage in pending if lineage.first.id not in derived]
    fresh = [lineage for lineage in unknown if lineage.first.moment >= since]
    stale = [lineage for lineage in unknown if lineage.first.moment < since]
    if fresh:
        count = pluralize(len(fresh), "annotation is", "annotations are")
        message = f"{count} newer than HEAD and not committed yet"
        yield _commit_unknown(context, fresh[0], message, Severity.NOTE)
    if stale:
        count = pluralize(len(stale), "annotation", "annotations")
        message = f"the commit of {count} is neither recorded nor derivable"
        yield _commit_unknown(context, stale[0], message)


def _commit_unknown(
    context: CheckContext, lineage: Lineage, message: str, override: Severity | None = None
) -> Finding:
    check, line = catalogue.COMMIT_UNKNOWN, lineage.first.line
    return Finding(check, message, context.log_name, line, "commit_hash", override)


_TOLERANCE: Final = 0.005001
"""Half a unit of the second decimal: tools round scores and values to two decimals."""


def check_risk(context: CheckContext, record: LogRecord) -> Iterator[Finding]:
    """Yield findings about valid risk members of a record; invalid members are `record-field`."""
    factors = record.members.get("risk_factors")
    if not record.is_annotation or not isinstance(factors, list):
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
    if average is not None and abs(average - score) > _TOLERANCE:
        message = f"risk_score is {score:.4g}, but its factors give {average:.4f}"
        yield context.in_log(catalogue.RISK_SCORE, message, record.line, "risk_score")


def _signals(context: CheckContext, record: LogRecord, factors: list[Members]) -> Iterator[Finding]:
    seen: set[str] = set()
    for number, factor in enumerate(factors):
        signal = text(factor, "signal")
        if not signal:
            continue
        field = f"risk_factors.{number}.signal"
        if signal in seen:
            yield context.in_log(
                catalogue.RISK_SIGNAL, f"signal {signal[:60]!r} occurs twice", record.line, field
            )
        elif signal not in set(Signal) and not is_custom_signal(signal):
            yield context.in_log(
                catalogue.RISK_SIGNAL,
                f"unknown signal {signal[:60]!r}: "
                "expected a standard signal or a name such as org:name",
                record.line,
                field,
            )
        seen.add(signal)


def _number(value: JsonValue) -> float | None:
    """Return a finite number as a float; None for other values and integers too large for one."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _LARGEST:
        return None
    return float(value) if math.isfinite(value) else None


_LARGEST: Final = 1e300
