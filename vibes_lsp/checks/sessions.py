"""Do sessions begin, end and delegate as they should (RFC 7.5, 7.7, 9.2)?"""

from __future__ import annotations

from collections.abc import Iterator

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.finding import Finding
from vibes_lsp.checks.subject import Subject
from vibes_lsp.index.records import LogRecord
from vibes_lsp.index.sessions import Session, read_sessions
from vibes_lsp.model.vocabulary import EdgeType


def check_sessions(subject: Subject) -> Iterator[Finding]:
    """Findings about the life of sessions."""
    for session in read_sessions(subject.trail.log):
        if session.is_open and session.start is not None:
            yield subject.in_log(catalogue.SESSION_OPEN, f"session {session.id[:36]} was never closed", session.start.line, "session_id")
        elif session.start is None and session.ends:
            yield subject.in_log(catalogue.SESSION_UNKNOWN, f"session {session.id[:36]} ends and never starts", session.ends[0].line)
        elif session.start is not None and max(end.moment for end in session.ends) < session.start.moment:
            yield subject.in_log(
                catalogue.SESSION_ORDER, f"session {session.id[:36]} ends before it starts", session.ends[0].line, "timestamp"
            )


def check_delegations(subject: Subject) -> Iterator[Finding]:
    """Findings about delegation chains: the record, the child's start, the edge."""
    log = subject.trail.log
    sessions = {session.id: session for session in read_sessions(log)}
    delegated: set[tuple[str, str]] = set()
    for record in log.records(log.columns.delegations):
        parent, child = record.text("parent_session_id") or "", record.text("child_session_id") or ""
        delegated.add((parent, child))
        yield from _delegation(subject, record, sessions, parent, child)
    for session in sessions.values():
        parent = session.text("parent_session_id") or ""
        if parent and (parent, session.id) not in delegated and session.start is not None:
            message = f"session {session.id[:36]} names parent {parent[:36]}, which recorded no delegation"
            yield subject.in_log(catalogue.DELEGATION_RECORD, message, session.start.line, "parent_session_id")


def _delegation(subject: Subject, record: LogRecord, sessions: dict[str, Session], parent: str, child: str) -> Iterator[Finding]:
    for field, identifier in (("parent_session_id", parent), ("child_session_id", child)):
        if identifier and identifier not in sessions:
            yield subject.in_log(catalogue.SESSION_UNKNOWN, f"{field} {identifier[:36]} has no record of its own", record.line, field)
    known = sessions.get(child)
    if known is not None and known.text("parent_session_id") != parent:
        message = f"the start of session {child[:36]} does not name its parent {parent[:36]}"
        yield subject.in_log(catalogue.DELEGATION_CHILD, message, known.start.line if known.start else record.line, "parent_session_id")
    edges = subject.trail.log.edges(out_of=parent) if parent else []
    if not any(edge.type == EdgeType.DELEGATED_TO and edge.target == child for edge in edges):
        message = f"no delegated_to edge leads from session {parent[:36]} to {child[:36]}"
        yield subject.in_log(catalogue.DELEGATION_EDGE, message, record.line)
