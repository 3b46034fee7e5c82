"""Do hashes and edges lead somewhere (RFC 6, 7.6)? Sees each record once, in the order of the log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.finding import Finding, counted
from vibes_lsp.checks.subject import Subject
from vibes_lsp.index.keys import key_of
from vibes_lsp.index.records import LogRecord, read_edge
from vibes_lsp.model.vocabulary import ContextType, NodeType, RecordType

_REFERENCES: Final = {
    "environment_hash": ContextType.ENVIRONMENT,
    "command_hash": ContextType.COMMAND,
    "prompt_hash": ContextType.PROMPT,
    "reasoning_hash": ContextType.REASONING,
    "decision_hash": ContextType.DECISION,
    "parent_environment_hash": ContextType.ENVIRONMENT,
    "child_environment_hash": ContextType.ENVIRONMENT,
}


class ReferenceChecks:
    """The checks of what records refer to."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._old_names: list[int] = []
        self._unknown_sessions: dict[str, int] = {}
        self._keys = frozenset(subject.trail.log.columns.keys)

    def see(self, record: LogRecord) -> Iterator[Finding]:
        """Findings about one record."""
        yield from self._hashes(record)
        if record.type == RecordType.EDGE:
            yield from self._ends(record)
        session = record.text("session_id")
        if session and record.type != RecordType.SESSION and session not in self._subject.trail.log.columns.sessions:
            self._unknown_sessions.setdefault(session, record.line)

    def finish(self) -> Iterator[Finding]:
        """Findings about all records together."""
        subject = self._subject
        if self._old_names:
            message = f"{counted(len(self._old_names), 'edge uses', 'edges use')} source_id and target_id"
            yield subject.in_log(catalogue.EDGE_NAMES, message, self._old_names[0])
        for session, line in self._unknown_sessions.items():
            yield subject.in_log(catalogue.SESSION_UNKNOWN, f"session {session[:36]} has no record of its own", line, "session_id")

    def _hashes(self, record: LogRecord) -> Iterator[Finding]:
        subject = self._subject
        for field, wanted in _REFERENCES.items():
            key = record.text(field)
            if key is None:
                continue
            if key not in subject.trail.manifest:
                if subject.resolves:
                    yield subject.in_log(catalogue.REFERENCE_DANGLING, f"{field} {key[:16]} names no entry", record.line, field)
            elif (kind := subject.entry_types[key]) != wanted:
                yield subject.in_log(catalogue.REFERENCE_TYPE, f"{field} names a {kind or 'typeless'} entry", record.line, field)

    def _ends(self, record: LogRecord) -> Iterator[Finding]:
        edge = read_edge(record)
        if "source_id" in record.members or "target_id" in record.members:
            self._old_names.append(record.line)
        for end, reference, kind in (("source", edge.source, edge.source_type), ("target", edge.target, edge.target_type)):
            if reference and not self._leads(reference, kind):
                field = f"{end}_ref" if f"{end}_ref" in record.members else f"{end}_id"
                yield self._subject.in_log(catalogue.EDGE_END, f"{field} {reference[:36]} names no {kind}", record.line, field)

    def _leads(self, reference: str, kind: str) -> bool:
        trail = self._subject.trail
        match kind:
            case NodeType.ANNOTATION:
                return key_of(reference) in self._keys
            case NodeType.CONTEXT:
                return reference in trail.manifest or not self._subject.resolves
            case NodeType.SESSION:
                return reference in trail.log.columns.sessions
            case _:
                return True  # a wrong type is a finding of its own
