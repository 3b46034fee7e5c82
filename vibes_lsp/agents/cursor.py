"""Cursor, as its documentation describes it; not tried with Cursor itself.

Source: https://cursor.com/docs/hooks, as of 2026-08-14; the events were seen to run in Cursor CLI
2026.08.22. Configuration: `.cursor/hooks.json` in the project or in the home folder, with
`"version": 1`. Events to subscribe to: `sessionStart`, `beforeSubmitPrompt`, `afterFileEdit`,
`afterShellExecution`, `postToolUse`, `stop`, `sessionEnd`. A hook fails open: no output means no
decision.

Common members: `conversation_id`, `generation_id` (one for each prompt), `model`,
`cursor_version`, `workspace_roots`, `transcript_path`. Cursor also runs the hooks of Claude Code's
settings where a person allows it; `cursor_version` still tells it apart.

Not read: `afterTabFileEdit`, as the edit may not be saved and the base of its ranges is not
documented; `subagentStart` and `subagentStop`, as no member of an edit names the subagent.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from vibes_lsp.agents.agent import CodingAgent, Form, ServerList, TrustStep
from vibes_lsp.agents.claude_like import checked_version, new_event
from vibes_lsp.agents.events import (
    Action,
    Agent,
    AgentEvent,
    CommandRun,
    FileEdit,
    FilesEdited,
    PromptSubmitted,
    SessionEnded,
    SessionKey,
    SessionStarted,
    TurnEnded,
)
from vibes_lsp.agents.tool_calls import (
    absolute_path,
    edited_by_server,
    files_edited,
    files_read,
    replaced_texts,
)
from vibes_lsp.model.members import JsonValue, Members, mapping, objects, text, texts

_DRIVE: Final = re.compile(r"/[A-Za-z]:(?=[/\\])")
"""How a Windows path begins in some payloads."""


def _read_event(payload: Members) -> AgentEvent | None:
    """Return what happened; None for nothing to record."""
    folder = _native(
        next(iter(texts(payload, "workspace_roots")), "") or text(payload, "cwd") or ""
    )
    session = text(payload, "conversation_id") or text(payload, "session_id")
    action = _action(folder, payload)
    if action is None or not session:
        return None
    content: JsonValue = [
        payload.get(name) for name in ("prompt", "file_path", "edits", "command", "tool_input")
    ]
    event = new_event(
        Agent.CURSOR,
        payload,
        SessionKey(session),
        action,
        call_id=text(payload, "tool_use_id"),
        model=text(payload, "model"),
        content=content,
        turn=text(payload, "generation_id"),
        folder=folder,
    )
    version = checked_version(text(payload, "cursor_version"))
    return None if event is None else replace(event, version=version)


def _action(folder: str, payload: Members) -> Action | None:
    event = text(payload, "hook_event_name") or ""
    match event[:1].lower() + event[1:]:
        case "sessionStart":
            return SessionStarted()
        case "sessionEnd":
            return SessionEnded()
        case "stop":
            return TurnEnded()
        case "beforeSubmitPrompt" | "userPromptSubmit":
            prompt = text(payload, "prompt")
            return PromptSubmitted(prompt) if prompt else None
        case "afterShellExecution":
            command = text(payload, "command")
            return CommandRun(command, None, text(payload, "output")) if command else None
        case "afterFileEdit":
            return _edits(folder, payload)
        case "postToolUse":
            return _tool_use(folder, payload)
    return None


def _edits(folder: str, payload: Members) -> FilesEdited | None:
    path = text(payload, "file_path")
    if not path:
        return None
    return replaced_texts(absolute_path(folder, _native(path)), objects(payload.get("edits")))


def _tool_use(folder: str, payload: Members) -> Action | None:
    """Return what only this event reports; edits and commands have events of their own."""
    members = mapping(payload, "tool_input")
    path = _native(text(members, "file_path") or text(members, "path") or "")
    match text(payload, "tool_name"):
        case "Read":
            return files_read(folder, path)
        case "Delete" if path:
            return files_edited(FileEdit(absolute_path(folder, path), deletes=True))
    tool = text(payload, "tool_name")
    return edited_by_server(tool, folder, members, payload.get("tool_output"))


def _native(path: str) -> str:
    """Return a path as its system writes it."""
    return path[1:] if _DRIVE.match(path) else path


AGENT: Final = CodingAgent(
    agent=Agent.CURSOR,
    slug="cursor",
    programs=("cursor", "cursor-agent"),
    folder=".cursor",
    form=Form.ENTRIES,
    project_file=".cursor/hooks.json",
    user_file="hooks.json",
    events=(
        "sessionStart",
        "beforeSubmitPrompt",
        "afterFileEdit",
        "afterShellExecution",
        "postToolUse",
        "stop",
        "sessionEnd",
    ),
    handler={"command": "{any}"},
    base={"version": 1},
    trust=TrustStep.FOLDER,
    read_event=_read_event,
    servers=ServerList(".cursor/mcp.json", "mcp.json"),
)
