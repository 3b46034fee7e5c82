"""Which agent sent the payload of a hook. Pure.

Agents are told apart by the members of the payload alone. Environment variables and configuration
files say nothing: several agents set those of another one, and run its hooks.

These members decide, in this order:

| agent | members |
|---|---|
| Cline | `clineVersion` and `hookName` |
| opencode, Amp | `opencode`, `amp`: from our plugins |
| Windsurf | `agent_action_name` |
| Cursor | `cursor_version`; `conversation_id` and `generation_id` or `workspace_roots` |
| Copilot in VS Code | `hookEventName`, and not `hook_event_name` |
| Copilot CLI | `sessionId` and no event name |
| Gemini CLI | `timestamp` and an event name of its own |
| Qwen Code | `timestamp` and `permission_mode` or `tool_call_id` |
| Gemini CLI | `timestamp` and a session file `session-*` |
| Copilot in VS Code | `timestamp` and `tool_use_id` |
| Copilot CLI | `timestamp` and `tool_result`, no session file, or one named `events.jsonl` |
| Copilot in VS Code | `timestamp` |
| Codex | `turn_id`; a session file `rollout-*` |
| no agent that is known | a `transcript_path` that is an empty text |
| Codex | `model`, if the session file is not named after the session |
| Claude Code | `hook_event_name` and `session_id` |

Copilot in VS Code and Copilot CLI send the same members where VS Code has no session file and the
event is not of a tool; that is told as Copilot CLI.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath, PureWindowsPath
from typing import Final

from vibes_lsp.agents.events import Agent
from vibes_lsp.errors import MalformedJson
from vibes_lsp.model.canonical_json import parse_json_prefix, parse_object
from vibes_lsp.model.members import Members, text

_GEMINI_EVENTS: Final = frozenset(
    {"BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool", "BeforeModel", "AfterModel"}
)
_OWN_MEMBERS: Final[tuple[tuple[Agent, frozenset[str]], ...]] = (
    (Agent.CLINE, frozenset({"clineVersion", "hookName"})),
    (Agent.OPENCODE, frozenset({"opencode"})),
    (Agent.AMP, frozenset({"amp"})),
    (Agent.WINDSURF, frozenset({"agent_action_name"})),
    (Agent.CURSOR, frozenset({"cursor_version"})),
    (Agent.CURSOR, frozenset({"conversation_id", "generation_id"})),
    (Agent.CURSOR, frozenset({"conversation_id", "workspace_roots"})),
)
"""Members that no other agent sends."""
_MARKS: Final = re.compile(rb'\\.|["\x00-\x1f]', re.DOTALL)
"""Escapes, and what begins, ends or must not be in a string."""


def parse_payload(payload: bytes) -> Members:
    """Parse a payload; raw control characters in strings are allowed, as some agents send them.

    What follows the first document, such as a NUL or a second one, is left out: wrappers add it.

    Raises:
        MalformedJson: It does not begin with a JSON object.
    """
    try:
        return parse_object(payload)
    except MalformedJson:
        document = parse_json_prefix(_with_escaped_controls(payload))
        if not isinstance(document, dict):
            raise
        return document


def _with_escaped_controls(payload: bytes) -> bytes:
    """Return a JSON text whose strings have escapes instead of raw control characters."""
    is_inside = False

    def escape(match: re.Match[bytes]) -> bytes:
        nonlocal is_inside
        mark = match[0]
        if mark == b'"':
            is_inside = not is_inside
        return b"\\u%04x" % mark[0] if is_inside and mark < b" " else mark

    return _MARKS.sub(escape, payload)


def agent_of(payload: Members) -> Agent | None:
    """Return the agent that sent a payload; None if no agent that we know sends such a one."""
    for agent, members in _OWN_MEMBERS:
        if members <= payload.keys():
            return agent
    if text(payload, "hook_event_name") is None:
        return _agent_without_event(payload)
    if text(payload, "session_id") is None:
        return None
    transcript = _file_name(text(payload, "transcript_path"))
    if "timestamp" in payload:
        return _agent_with_time(payload, transcript)
    if "turn_id" in payload or transcript.startswith("rollout-"):
        return Agent.CODEX
    if payload.get("transcript_path") == "":
        return None
    # Codex names the model in every event; Claude Code only at the start, beside its session file.
    is_codex = "model" in payload and transcript != f"{payload['session_id']}.jsonl"
    return Agent.CODEX if is_codex else Agent.CLAUDE_CODE


def _agent_without_event(payload: Members) -> Agent | None:
    """Return the agent of a payload that has no `hook_event_name`."""
    if not text(payload, "sessionId"):
        return None
    if text(payload, "hookEventName"):
        return Agent.COPILOT_VSCODE
    return Agent.COPILOT_CLI if "timestamp" in payload else None


def _agent_with_time(payload: Members, transcript: str) -> Agent:
    """Return the agent of a payload that says when the event happened.

    Args:
        payload: The payload; it has an event name and a session.
        transcript: The name of the session file; empty if the payload names none.
    """
    if text(payload, "hook_event_name") in _GEMINI_EVENTS:
        return Agent.GEMINI_CLI
    if "permission_mode" in payload or "tool_call_id" in payload:
        return Agent.QWEN_CODE
    if transcript.startswith("session-"):
        return Agent.GEMINI_CLI
    if "tool_use_id" in payload:
        return Agent.COPILOT_VSCODE
    if "tool_result" in payload or transcript in ("", "events.jsonl"):
        return Agent.COPILOT_CLI
    return Agent.COPILOT_VSCODE


def _file_name(path: str | None) -> str:
    if path is None:
        return ""
    return (PureWindowsPath if "\\" in path else PurePosixPath)(path).name
