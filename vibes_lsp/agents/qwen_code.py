"""Qwen Code (tried with 0.24.4), a fork of Gemini CLI: what it does otherwise.

It sends an event `UserPromptSubmit` before each request to the model; those of a person have
`submitted_prompt`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from vibes_lsp.agents.agent import (
    IN_ANY_SHELL,
    CodingAgent,
    Form,
    Scope,
    ServerList,
    Trust,
    TrustStep,
    UserHome,
)
from vibes_lsp.agents.claude_like import checked_model, read_claude_like_event
from vibes_lsp.agents.events import Agent, AgentEvent
from vibes_lsp.agents.gemini_cli import check_folder, own_file, tool_use
from vibes_lsp.agents.session_files import (
    AgentEdit,
    CurrentSession,
    PastSessions,
    RawLines,
    SessionFile,
    SessionState,
    is_created,
    joined_texts,
    lines_with,
    parsed,
)
from vibes_lsp.model.members import Members, mapping, objects, text


def _read_event(payload: Members) -> AgentEvent | None:
    """Return what happened; None for nothing to record."""
    return read_claude_like_event(
        Agent.QWEN_CODE, payload, tool_use, prompt="submitted_prompt", call_id="tool_call_id"
    )


def _check_trust(_scope: Scope, project: Path, home: UserHome) -> Trust:
    return check_folder(AGENT, project, home, is_default=False)


def _session_file(event: AgentEvent) -> Path | None:
    return own_file(event, ".qwen")


def _model(line: Members) -> str | None:
    return checked_model(text(line, "model")) if text(line, "type") == "assistant" else None


def _reasoning(lines: RawLines, event: AgentEvent) -> list[str] | None:
    """Return the parts that are thoughts, before the call in its message."""
    for _, line in lines_with(lines, event.call_id):
        members = parsed(line)
        parts = objects(mapping(members, "message").get("parts"))
        for number, block in enumerate(parts):
            call = mapping(block, "functionCall")
            if text(members, "type") == "assistant" and text(call, "id") == event.call_id:
                thoughts = (part for part in parts[:number] if part.get("thought") is True)
                return [text(part, "text") or "" for part in thoughts]
    return None


def _read_edits(file: SessionFile) -> Iterator[AgentEdit]:
    """Yield the edits of a session of Qwen Code, or of one of its subagents."""
    known = SessionState(str(file.path))
    for line, members in file.lines_if_named():
        known.folder = text(members, "cwd") or known.folder
        known.version = text(members, "version") or known.version
        parts = objects(mapping(members, "message").get("parts"))
        if text(members, "type") == "user" and members.get("provenance") in (None, "real_user"):
            known.prompts[None] = joined_texts(parts) or known.prompts.get(None, "")
        for part in parts:
            call, function_response = (
                mapping(part, "functionCall"),
                mapping(part, "functionResponse"),
            )
            if call:
                model = text(members, "model")
                known.calls[text(call, "id") or ""] = (
                    text(call, "name") or "",
                    mapping(call, "args"),
                    model,
                )
            elif function_response:
                yield from _result(known, line, members, function_response)


def _result(
    known: SessionState, line: int, members: Members, function_response: Members
) -> Iterator[AgentEdit]:
    identifier = text(function_response, "id") or ""
    name, arguments, model = known.calls.pop(identifier, ("", {}, None))
    outcome = mapping(members, "toolCallResult")
    response = mapping(function_response, "response")
    if not name or "error" in response or text(outcome, "status") not in (None, "success"):
        return
    display = mapping(outcome, "resultDisplay")
    if not display and is_created(response.get("output")):
        display = {"isNewFile": True}
    event = _read_event(
        {
            "hook_event_name": "PostToolUse",
            "session_id": text(members, "sessionId"),
            "agent_id": text(members, "agentId"),
            "agent_type": text(members, "agentName"),
            "cwd": known.folder,
            "tool_name": name,
            "tool_input": arguments,
            "tool_response": {"returnDisplay": display},
        }
    )
    yield from known.edits(event, line, members.get("timestamp"), identifier, model=model)


AGENT: Final = CodingAgent(
    agent=Agent.QWEN_CODE,
    slug="qwen-code",
    programs=("qwen",),
    folder=".qwen",
    form=Form.GROUPS,
    project_file=".qwen/settings.json",
    user_file="settings.json",
    events=(
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "PostToolUseFailure",
        "SubagentStop",
        "Stop",
        "SessionEnd",
    ),
    handler=IN_ANY_SHELL,
    trust=TrustStep.FOLDER,
    tried="0.24.4",
    read_event=_read_event,
    check_trust=_check_trust,
    servers=ServerList(".qwen/settings.json", "settings.json"),
    session=CurrentSession(_session_file, _reasoning, _model),
    past_sessions=PastSessions(
        ("projects/*/chats/*.jsonl", "projects/*/subagents/*/*.jsonl"), _read_edits
    ),
)
