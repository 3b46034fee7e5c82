"""A record or context entry in a few words; not escaped."""

from __future__ import annotations

from typing import Final

from vibes_lsp.model.members import Members, integer, text
from vibes_lsp.model.vocabulary import ContextType, RecordType
from vibes_lsp.trail.records import LogRecord, read_edge

_TEXT_MEMBERS: Final = (
    "prompt_text",
    "command_text",
    "decision_point",
    "reasoning_text",
    "tool_name",
    "description",
)
"""The member that says what an entry is about; the first that it has."""
_AUTHORS: Final = ("tool", "model")


def action_of(record: LogRecord) -> str:
    """Return what a record says was done, in one or two words."""
    match record.type:
        case RecordType.LINE | RecordType.FUNCTION:
            return record.text("action") or "?"
        case RecordType.SESSION:
            return f"session {record.text('event')}"
        case RecordType.EDGE:
            return read_edge(record).type or "edge"
        case _:
            return str(record.type)


def subject_of(record: LogRecord) -> str:
    """Return what a record is about: lines, a function, a description or the ends of an edge."""
    match record.type:
        case RecordType.LINE:
            lines = f"{integer(record.members, 'line_start')}-{integer(record.members, 'line_end')}"
            return f"{record.text('file_path')}:{lines}"
        case RecordType.FUNCTION:
            return f"{record.text('file_path')} {record.text('function_name')}"
        case RecordType.SESSION:
            return f"{(record.text('session_id') or '')[:8]} {record.text('description') or ''}"
        case RecordType.EDGE:
            edge = read_edge(record)
            return f"{edge.source[:8]} -> {edge.target[:8]}"
        case RecordType.DELEGATION:
            parent = (record.text("parent_session_id") or "")[:8]
            child = (record.text("child_session_id") or "")[:8]
            return f"{parent} -> {child} {record.text('task_description') or ''}"
        case _:
            return ""


def entry_text(entry: Members) -> str:
    """Return what a context entry is about; empty if it does not say."""
    if entry.get("type") == ContextType.ENVIRONMENT:
        pairs = ((text(entry, f"{of}_name"), text(entry, f"{of}_version")) for of in _AUTHORS)
        return ", ".join(f"{name} {version or ''}".strip() for name, version in pairs if name)
    return next((value for name in _TEXT_MEMBERS if (value := text(entry, name))), "")


def is_selected(decision: Members, option: Members) -> bool:
    """Return whether a decision names an option by its id; other tools may leave either out."""
    identifier = text(option, "id")
    return identifier is not None and identifier == text(decision, "selected")
