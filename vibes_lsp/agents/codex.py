"""Codex's hook payloads (tried with 0.169.0). Pure.

A patch that is applied through the shell has no payload after it, and no payload has exit codes:
both are in the session file (`codex_session_file`).
"""

from __future__ import annotations

from dataclasses import replace

from vibes_lsp.agents.claude_like import patched_files, read_claude_like_event
from vibes_lsp.agents.events import Action, Agent, AgentEvent, CommandRun, FilesEdited
from vibes_lsp.model.members import Members, mapping, text


def read_event(payload: Members) -> AgentEvent | None:
    """Return what happened; None for nothing to record."""
    event = read_claude_like_event(Agent.CODEX, payload, _tool_use)
    if event is None:
        return None
    if isinstance(event.action, FilesEdited) and event.call_id:
        event = replace(event, identity=edit_identity(event.call_id))
    transcript = text(payload, "agent_transcript_path")
    return event if transcript is None else replace(event, transcript=transcript)


def edit_identity(call_id: str) -> str:
    """Return what identifies an edit, by a payload or by the session file."""
    return f"edit {call_id}"


def _tool_use(payload: Members) -> Action | None:
    command = text(mapping(payload, "tool_input"), "command")
    response = text(payload, "tool_response")
    if not command:
        return None
    match text(payload, "tool_name"):
        case "apply_patch":
            has_failed = response is not None and not response.startswith("Exit code: 0")
            return None if has_failed else patched_files(text(payload, "cwd"), command)
        case "Bash":
            return CommandRun(command, None, response)
    return None
