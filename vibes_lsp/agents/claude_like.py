"""What the payloads of several agents have in common: events, ids, paths, exit codes. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from vibes_lsp.agents.events import (
    UNKNOWN,
    Action,
    Agent,
    AgentEvent,
    CommandRun,
    PromptSubmitted,
    SessionEnded,
    SessionKey,
    SessionStarted,
    TurnEnded,
)
from vibes_lsp.agents.provenance_answers import provenance_asked
from vibes_lsp.agents.tool_calls import edited_by_server
from vibes_lsp.anchors.text import replace_invalid
from vibes_lsp.model.canonical_json import canonical_json
from vibes_lsp.model.members import JsonValue, Members, integer, mapping, text
from vibes_lsp.model.paths import PathKind, path_kind
from vibes_lsp.model.vocabulary import NO_MODEL

_MODEL_NAME: Final = re.compile(r"[A-Za-z0-9][\w.:/@+ \[\]-]{0,99}", re.ASCII)
_VERSION: Final = re.compile(r"[A-Za-z0-9][\w.+-]{0,49}", re.ASCII)
_NO_MODELS: Final = frozenset({"", UNKNOWN, NO_MODEL, "default", "<synthetic>"})


def read_claude_like_event(
    agent: Agent,
    payload: Members,
    tool_use: Callable[[Members], Action | None],
    *,
    prompt: str = "prompt",
    call_id: str = "tool_use_id",
) -> AgentEvent | None:
    """Return what happened by a payload with Claude Code's members and event names.

    Args:
        agent: The agent.
        payload: The payload.
        tool_use: Returns what a tool call did, by the payload of an event after it.
        prompt: The name of the member with a person's prompt.
        call_id: The name of the member that identifies a tool call.
    """
    action: Action | None = None
    match text(payload, "hook_event_name"):
        case "SessionStart" | "SubagentStart":
            action = SessionStarted()
        case "SessionEnd" | "SubagentStop":
            action = SessionEnded()
        case "Stop" | "AfterAgent":
            action = TurnEnded()
        case "UserPromptSubmit" | "BeforeAgent":
            asked = text(payload, prompt)
            action = PromptSubmitted(asked) if asked else None
        case "PostToolUse" | "PostToolUseFailure" | "AfterTool":
            action = _server_tool_use(payload) or tool_use(payload)
    if action is None:
        return None
    if isinstance(action, CommandRun):
        action = replace(action, duration=integer(payload, "duration_ms"))
    session = subagent_key(
        text(payload, "session_id") or "", text(payload, "agent_id"), text(payload, "agent_type")
    )
    return new_event(
        agent,
        payload,
        session,
        action,
        moment=text(payload, "timestamp"),
        call_id=text(payload, call_id),
        model=text(payload, "model"),
        content=payload.get("tool_input") or text(payload, "prompt"),
    )


def _server_tool_use(payload: Members) -> Action | None:
    """Return what a tool of an MCP server did."""
    tool, answer = text(payload, "tool_name"), payload.get("tool_response")
    if text(payload, "hook_event_name") == "PostToolUseFailure" or "error" in payload:
        return None
    folder, arguments = text(payload, "cwd"), mapping(payload, "tool_input")
    return provenance_asked(tool, answer) or edited_by_server(tool, folder, arguments, answer)


def new_event(
    agent: Agent,
    payload: Members,
    session: SessionKey,
    action: Action,
    *,
    moment: str | None = None,
    call_id: str | None = None,
    model: str | None = None,
    content: JsonValue = None,
    turn: str | None = None,
    folder: str | None = None,
) -> AgentEvent | None:
    """Return an event with the members that the payloads of most agents have.

    None for a payload without an absolute folder, or whose session has no valid id.

    Args:
        agent: The agent.
        payload: The payload.
        session: The session.
        action: What happened.
        moment: When, as the payload says it.
        call_id: The tool call.
        model: The model, where the payload names it.
        content: What makes this event different from others at the same time.
        turn: The request of a person that it belongs to; by default as the payload says it.
        folder: The agent's folder; by default as the payload says it.
    """
    if session.id != replace_invalid(session.id):
        return None
    if folder is None:
        folder = text(payload, "cwd")
        if not folder or path_kind(folder) != PathKind.ABSOLUTE:
            return None
    turn = turn or text(payload, "prompt_id") or text(payload, "turn_id")
    what: JsonValue = [type(action).__name__, call_id or moment, turn, content]
    is_known = call_id or moment or turn
    identity = hashlib.sha256(canonical_json(what)).hexdigest() if is_known else ""
    return AgentEvent(
        agent,
        session,
        identity,
        folder,
        action,
        model=checked_model(model),
        transcript=text(payload, "transcript_path"),
        call_id=call_id,
        moment=moment,
    )


def call_content(tool: str | None, arguments: Members) -> str:
    """Return a tool call as one text, the same in a payload and in a session file."""
    return hashlib.sha256(canonical_json([tool, arguments])).hexdigest()


def checked_model(name: str | None) -> str | None:
    """Return a model's name; None for a text that cannot be one."""
    if name is None or name.casefold() in _NO_MODELS or not _MODEL_NAME.fullmatch(name):
        return None
    return name


def checked_version(version: str | None) -> str | None:
    """Return a program's version; None for a text that cannot be one."""
    return version if version is not None and _VERSION.fullmatch(version) else None


def subagent_key(session: str, agent_id: str | None, agent_type: str | None) -> SessionKey:
    """Return the session of a subagent that shares the session id of its parent."""
    if not agent_id:
        return SessionKey(session)
    return SessionKey(f"{session}/{agent_id}", session, agent_type or None)


def milliseconds(value: JsonValue) -> str | None:
    """Return a time in milliseconds since 1970, or as ISO 8601, as one text."""
    try:
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            when = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
            return str(round(when.timestamp() * 1000))
    except (OverflowError, ValueError):
        pass
    return None
