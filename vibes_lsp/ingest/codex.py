"""Codex's hook payloads (tried with 0.169.0). Pure.

A patch that is applied through the shell has no payload after it, and no payload has exit codes.
"""

from __future__ import annotations

from vibes_lsp.ingest.events import (
    Action,
    Agent,
    AgentEvent,
    CommandRun,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
)
from vibes_lsp.ingest.payload_members import new_event, patched_files, subagent_key
from vibes_lsp.model.members import Members, mapping, text


def read_event(payload: Members) -> AgentEvent | None:
    """Return what happened; None for nothing to record."""
    action = _action(payload)
    if action is None:
        return None
    session = subagent_key(
        text(payload, "session_id") or "", text(payload, "agent_id"), text(payload, "agent_type")
    )
    return new_event(
        Agent.CODEX,
        payload,
        session,
        action,
        call_id=text(payload, "tool_use_id"),
        model=text(payload, "model"),
        content=payload.get("tool_input") or text(payload, "prompt"),
    )


def _action(payload: Members) -> Action | None:
    match text(payload, "hook_event_name"):
        case "SessionStart" | "SubagentStart":
            return SessionStarted()
        case "SessionEnd" | "SubagentStop":
            return SessionEnded()
        case "UserPromptSubmit":
            prompt = text(payload, "prompt")
            return PromptSubmitted(prompt) if prompt else None
        case "PostToolUse":
            return _tool_use(payload)
    return None


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
