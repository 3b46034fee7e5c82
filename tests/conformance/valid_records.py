"""Valid records and entries with all members of the RFC, and functions to add them to a trail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.conformance.trail_access import (
    LOG,
    MANIFEST,
    check_project,
    finding_fields,
    log_lines,
    open_trail,
)
from tests.trails import OMIT, SOURCES, CompleteTrail, anchors

Members = Mapping[str, object]
CREATED_AT: Final = "2026-02-03T11:00:00Z"

ANNOTATION_REQUIRED: Final = (
    "type",
    "file_path",
    "environment_hash",
    "action",
    "timestamp",
    "commit_hash",
    "assurance_level",
    "annotation_id",
)
"""Required members of line and function records (RFC 7.3, 7.4)."""
ANNOTATION_OPTIONAL: Final = (
    "command_hash",
    "prompt_hash",
    "reasoning_hash",
    "decision_hash",
    "session_id",
    "anchor_context",
    "anchor_hash",
    "file_content_hash",
    "risk_score",
    "risk_factors",
)
"""Optional members of line and function records."""
EDGE_TYPES: Final = (
    "caused_by",
    "depends_on",
    "informed_by",
    "delegated_to",
    "supersedes",
    "reviewed_by",
)
"""Types of edges (RFC 7.6)."""
REPORTED_AS: Final = {"annotation_id": "annotation-id-absent", "commit_hash": "commit-unknown"}
"""The check that reports each missing member that real logs lack for good reasons."""


def _annotation(trail: CompleteTrail, start: int, end: int) -> dict[str, object]:
    return {
        "file_path": "src/auth.py",
        "environment_hash": trail.environment,
        "command_hash": trail.command,
        "prompt_hash": trail.prompt,
        "reasoning_hash": trail.reasoning,
        "decision_hash": trail.decision,
        "action": "modify",
        "timestamp": "2026-02-03T11:00:00Z",
        "commit_hash": trail.commit,
        "session_id": trail.session,
        "assurance_level": "high",
        **anchors(SOURCES["src/auth.py"], start, end).members(),
        "risk_score": 0.5,
        "risk_factors": [
            {"signal": "temperature", "value": 0.5, "weight": 0.15, "reason": "half of the range"}
        ],
    }


def line(trail: CompleteTrail) -> dict[str, object]:
    """Return a line record (RFC 7.3)."""
    return {"type": "line", "line_start": 2, "line_end": 4, **_annotation(trail, 2, 4)}


def function(trail: CompleteTrail) -> dict[str, object]:
    """Return a function record (RFC 7.4)."""
    return {
        "type": "function",
        "function_name": "strong",
        "function_signature": "strong(password)",
        **_annotation(trail, 11, 12),
    }


def session_start(trail: CompleteTrail) -> dict[str, object]:
    """Return the start of a session (RFC 7.5)."""
    return {
        "type": "session",
        "event": "start",
        "session_id": "0b9f2c1e-7d11-4c3a-9a52-5f3c1f0a7e21",
        "timestamp": "2026-02-03T11:00:00Z",
        "environment_hash": trail.environment,
        "assurance_level": "high",
        "description": "Another task",
        "parent_session_id": trail.session,
        "agent_name": "worker-2",
        "agent_type": "claude-code",
    }


def session_end(trail: CompleteTrail) -> dict[str, object]:
    """Return the end of a session that already has one (RFC 7.5)."""
    return {
        "type": "session",
        "event": "end",
        "session_id": trail.session,
        "timestamp": "2026-02-03T11:30:00Z",
    }


def edge(trail: CompleteTrail) -> dict[str, object]:
    """Return an edge (RFC 7.6)."""
    return {
        "type": "edge",
        "edge_type": "informed_by",
        "source_ref": trail.created,
        "source_type": "annotation",
        "target_ref": trail.read_command,
        "target_type": "context",
        "timestamp": "2026-02-03T11:00:00Z",
        "session_id": trail.session,
        "metadata": {"tool": {"any": ["thing", 1, None]}},
    }


def delegation(trail: CompleteTrail) -> dict[str, object]:
    """Return a delegation (RFC 7.7)."""
    return {
        "type": "delegation",
        "parent_session_id": trail.session,
        "child_session_id": trail.worker_session,
        "timestamp": "2026-02-03T11:00:00Z",
        "task_description": "Once more",
        "delegated_files": ["src/limits.py"],
        "delegation_type": "refactor",
        "parent_environment_hash": trail.environment,
        "child_environment_hash": trail.worker_environment,
    }


EVERY_TYPE: Final = (line, function, session_start, session_end, edge, delegation)
"""Functions that return a record, for all types of records."""


def environment() -> dict[str, object]:
    """Return an environment entry (RFC 6.2)."""
    return {
        "type": "environment",
        "tool_name": "Tool",
        "tool_version": "2.0.0",
        "model_name": "model",
        "model_version": "3",
        "model_parameters": {"temperature": 0.7, "nested": {"seed": 1}},
        "tool_extensions": ["git"],
        "created_at": CREATED_AT,
    }


def prompt() -> dict[str, object]:
    """Return a prompt entry (RFC 6.3)."""
    return {
        "type": "prompt",
        "prompt_text": "Make it shorter.",
        "prompt_type": "edit_command",
        "prompt_context_files": ["src/auth.py"],
        "created_at": CREATED_AT,
    }


def command() -> dict[str, object]:
    """Return a command entry (RFC 6.4)."""
    return {
        "type": "command",
        "command_text": "make test",
        "command_type": "shell",
        "command_exit_code": 2,
        "command_output_summary": "1 failed",
        "working_directory": "src/",
        "created_at": CREATED_AT,
    }


def reasoning() -> dict[str, object]:
    """Return a reasoning entry (RFC 6.5)."""
    return {
        "type": "reasoning",
        "reasoning_text": "Shorter is better.",
        "reasoning_token_count": 3,
        "reasoning_model": "model",
        "created_at": CREATED_AT,
    }


def decision() -> dict[str, object]:
    """Return a decision entry (RFC 6.6)."""
    return {
        "type": "decision",
        "decision_point": "Which way",
        "options": [
            {"id": "left", "description": "To the left", "pros": ["short"], "cons": ["steep"]},
            {"id": "right", "description": "To the right", "pros": ["flat"], "cons": ["long"]},
        ],
        "selected": "left",
        "rationale": "There is no time.",
        "confidence": "low",
        "created_at": CREATED_AT,
    }


def append(trail: CompleteTrail, record: Members) -> int:
    """Append a record and the records that the RFC requires with it; return its line."""
    number = log_lines(trail.root) + 1
    identifier = trail.writer.record(record)
    if record.get("type") in ("line", "function"):
        trail.writer.cause(identifier, trail.command)
    if record.get("type") == "session" and record.get("event") == "start":
        session, parent = record.get("session_id"), record.get("parent_session_id")
        if isinstance(session, str) and isinstance(parent, str):
            trail.writer.delegation(parent, session)
            trail.writer.edge(
                "delegated_to", parent, session, source_type="session", target_type="session"
            )
        if isinstance(session, str):
            trail.writer.session_end(session, timestamp="2026-02-03T11:30:00Z")
    return number


def record_findings(
    trail: CompleteTrail, record: Members, **changes: object
) -> set[tuple[str, str | None]]:
    """Append a record with changed members; return check and field of the findings on its line."""
    line_appended = append(trail, {**record, **changes})
    return finding_fields(check_project(trail.root), LOG, line_appended)


def entry_findings(
    trail: CompleteTrail, entry: Members, **changes: object
) -> set[tuple[str, str | None]]:
    """Add an entry with changed members; return check and field of the findings on its line."""
    kept = {name: value for name, value in {**entry, **changes}.items() if value is not OMIT}
    key = trail.writer.entry(kept)
    return finding_fields(
        check_project(trail.root), MANIFEST, open_trail(trail.root).manifest.line_of(key)
    )
