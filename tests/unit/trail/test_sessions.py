"""Sessions of the log (RFC 7.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.trails import TrailWriter, complete
from tests.unit.trail.trails import read_trail

if TYPE_CHECKING:
    from pathlib import Path


def test_sessions_of_a_complete_trail(tmp_path: Path) -> None:
    made = complete(tmp_path)
    log = read_trail(tmp_path).log
    lead, worker, reviewer = log.sessions()
    assert (lead.id, worker.id) == (made.session, made.worker_session)
    assert not any(session.is_open for session in (lead, worker, reviewer))
    assert worker.text("parent_session_id") == made.session
    assert reviewer.text("agent_type") == "human"
    assert log.session("none") is None


def test_a_session_is_open_if_it_has_a_start_and_no_end(writer: TrailWriter) -> None:
    started = writer.session_start()
    writer.session_end("elsewhere")
    log = read_trail(writer.root).log
    one, other = log.sessions()
    assert (one.id, one.is_open) == (started, True)
    assert (other.id, other.is_open, other.start) == ("elsewhere", False, None)
    assert len(other.ends) == 1


def test_sessions_without_id_are_ignored_and_repeated_records_count_once(
    writer: TrailWriter,
) -> None:
    writer.record({"type": "session", "event": "start"})
    writer.session_start(session_id="s")
    writer.raw_log(writer.files.log.read_bytes())
    writer.record(
        {"type": "session", "event": "pause", "session_id": "s", "description": "ignored"}
    )
    (session,) = read_trail(writer.root).log.sessions()
    assert (session.id, len(session.starts), session.ends) == ("s", 1, ())
    assert session.text("description") is None
