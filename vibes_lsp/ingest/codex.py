"""Codex's hook payloads (tried with 0.169.0). Pure.

A patch that is applied through the shell has no payload after it, and no payload has exit codes.
"""

from __future__ import annotations

from vibes_lsp.ingest.events import Action, Agent, AgentEvent, CommandRun
from vibes_lsp.ingest.payload_members import patched_files, read_claude_like_event
from vibes_lsp.model.members import Members, mapping, text


def read_event(payload: Members) -> AgentEvent | None:
    """Return what happened; None for nothing to record."""
    return read_claude_like_event(Agent.CODEX, payload, _tool_use)


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
