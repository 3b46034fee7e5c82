"""Sessions as the log tells them (RFC 7.5): their start, their end, who delegated them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from vibes_lsp.index.lineage import Lineage
from vibes_lsp.index.log import LogIndex
from vibes_lsp.index.records import LogRecord
from vibes_lsp.model.vocabulary import SessionEvent

_COMMITTED_FIRST: Final = timedelta(minutes=5)
"""How long before its record an edit may have been committed, by a tool that commits first and records no session (R14)."""


@dataclass(frozen=True, slots=True)
class LoggedSession:
    """One session.

    Attributes:
        id: Its `session_id`.
        starts: Its start records in the order of the log; a sound log has one.
        ends: Its end records; none while it is open.
    """

    id: str
    starts: tuple[LogRecord, ...]
    ends: tuple[LogRecord, ...]

    @property
    def start(self) -> LogRecord | None:
        """The first start; None when only an end was recorded."""
        return self.starts[0] if self.starts else None

    @property
    def is_open(self) -> bool:
        """Whether the session was started and never ended."""
        return bool(self.starts) and not self.ends

    def text(self, name: str) -> str | None:
        """Return a member of the session as its start, else its end, gives it."""
        values = (record.text(name) for record in (*self.starts, *self.ends))
        return next((value for value in values if value is not None), None)


def read_session(log: LogIndex, identifier: str) -> LoggedSession | None:
    """Return a session by its whole id; None when the log does not know it."""
    lines = log.columns.sessions.get(identifier)
    if not lines:
        return None
    records = list({record.id: record for record in log.records(lines)}.values())
    by_event = {
        event: tuple(record for record in records if record.text("event") == event)
        for event in SessionEvent
    }
    return LoggedSession(identifier, by_event[SessionEvent.START], by_event[SessionEvent.END])


def read_sessions(log: LogIndex) -> list[LoggedSession]:
    """Return all sessions in the order of their first record; one without a `session_id` is none."""
    sessions = (read_session(log, identifier) for identifier in log.columns.sessions if identifier)
    return [session for session in sessions if session is not None]


def begun(log: LogIndex, lineage: Lineage) -> datetime | None:
    """Return the time before which a commit was made before an edit (R14); None when the record has no time that can be read.

    That is when the session of the edit began: a tool may commit first and record then. Without a known session it may have done so
    some minutes before the record.
    """
    recorded = lineage.first.moment
    if recorded.year == 1:  # see `LogRecord.moment`
        return None
    identifier = lineage.first.text("session_id")
    session = read_session(log, identifier) if identifier else None
    start = session.start if session is not None else None
    earliest = (
        recorded - _COMMITTED_FIRST
        if start is None or start.moment.year == 1
        else min(start.moment, recorded)
    )
    return earliest.replace(microsecond=0)  # commits know whole seconds only
