"""Read the payload of an agent's hook: which agent sent it, and what happened. Pure.

Agents are told apart by the members of the payload alone. Environment variables and configuration
files say nothing: several agents set those of another one, and run its hooks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath, PureWindowsPath
from typing import Final

from vibes_lsp.ingest import claude_code, cline, codex, copilot_cli, gemini_cli, opencode
from vibes_lsp.ingest.events import Agent, AgentEvent
from vibes_lsp.model.members import Members, text

_GEMINI_EVENTS: Final = frozenset(
    {"BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool", "BeforeModel", "AfterModel"}
)
_READERS: Final[Mapping[Agent, Callable[[Members], AgentEvent | None]]] = {
    Agent.CLAUDE_CODE: claude_code.read_event,
    Agent.CODEX: codex.read_event,
    Agent.GEMINI_CLI: gemini_cli.read_event,
    Agent.COPILOT_CLI: copilot_cli.read_event,
    Agent.QWEN_CODE: gemini_cli.read_qwen_event,
    Agent.OPENCODE: opencode.read_event,
    Agent.CLINE: cline.read_event,
}


def read_event(payload: Members) -> AgentEvent | None:
    """Return what happened; None for a payload that says nothing to record."""
    agent = agent_of(payload)
    return None if agent is None else _READERS[agent](payload)


def agent_of(payload: Members) -> Agent | None:
    """Return the agent that sent a payload; None if no agent that we know sends such a one."""
    if "clineVersion" in payload and "hookName" in payload:
        return Agent.CLINE
    if "opencode" in payload:
        return Agent.OPENCODE
    event = text(payload, "hook_event_name")
    if event is None:
        is_copilot = text(payload, "sessionId") and "timestamp" in payload
        return Agent.COPILOT_CLI if is_copilot else None
    if text(payload, "session_id") is None:
        return None
    transcript = _file_name(text(payload, "transcript_path"))
    if "timestamp" in payload:
        if event in _GEMINI_EVENTS:
            return Agent.GEMINI_CLI
        if "permission_mode" in payload:
            return Agent.QWEN_CODE
        is_copilot = transcript in ("", "events.jsonl") or "tool_result" in payload
        return Agent.COPILOT_CLI if is_copilot else Agent.GEMINI_CLI
    if "turn_id" in payload or transcript.startswith("rollout-"):
        return Agent.CODEX
    # Codex names the model in every event; Claude Code only at the start, beside its session file.
    is_codex = "model" in payload and transcript != f"{payload['session_id']}.jsonl"
    return Agent.CODEX if is_codex else Agent.CLAUDE_CODE


def _file_name(path: str | None) -> str:
    if path is None:
        return ""
    return (PureWindowsPath if "\\" in path else PurePosixPath)(path).name
