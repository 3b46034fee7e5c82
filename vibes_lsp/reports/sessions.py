"""Sessions with what happened in them (`vibes sessions`)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from vibes_lsp.index.columns import Kind
from vibes_lsp.index.sessions import Session, read_sessions
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.members import Members
from vibes_lsp.reports.environments import Author, Authors


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One session.

    Attributes:
        session: Its records.
        author: Tool and model it started with.
        annotations: Number of line and function records that name it.
    """

    session: Session
    author: Author
    annotations: int

    @property
    def seconds(self) -> float | None:
        """How long the session lasted; None while it is open or when its times make no sense."""
        if self.session.start is None or not self.session.ends:
            return None
        lasted = (self.session.ends[-1].moment - self.session.start.moment).total_seconds()
        return lasted if lasted >= 0 else None

    def as_json(self) -> Members:
        """Return the session with the names that session records have."""
        first = self.session.start or (self.session.ends[0] if self.session.ends else None)
        return {
            "session_id": self.session.id,
            "start": self.session.start.text("timestamp") if self.session.start else None,
            "end": self.session.ends[-1].text("timestamp") if self.session.ends else None,
            "open": self.session.is_open,
            "environment_hash": self.session.text("environment_hash"),
            "assurance_level": self.session.text("assurance_level"),
            "description": self.session.text("description"),
            "parent_session_id": self.session.text("parent_session_id"),
            "agent_name": self.session.text("agent_name"),
            "agent_type": self.session.text("agent_type"),
            "tool_name": self.author.tool,
            "model_name": self.author.model,
            "annotations": self.annotations,
            "line": first.line if first else None,
        }


def session_summaries(trail: Trail) -> list[SessionSummary]:
    """Return all sessions in the order of the log."""
    authors = Authors(trail)
    counts = Counter(record.text("session_id") for record in trail.log.of_kind(Kind.LINE, Kind.FUNCTION))
    return [
        SessionSummary(session, authors.of(session.text("environment_hash")), counts[session.id]) for session in read_sessions(trail.log)
    ]
