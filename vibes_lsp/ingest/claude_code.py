"""Claude Code's hook payloads (tried with 2.1.330). Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from vibes_lsp.ingest.events import (
    Action,
    Agent,
    AgentEvent,
    CommandRun,
    FileEdit,
    FilesEdited,
    FilesRead,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
)
from vibes_lsp.ingest.patches import read_structured_patch
from vibes_lsp.ingest.payload_members import (
    absolute_path,
    exit_code,
    new_event,
    replacement,
    subagent_key,
)
from vibes_lsp.model.members import Members, mapping, text

_EXIT_CODE: Final = re.compile(r"\AExit code (\d+)\b")


def read_event(payload: Members) -> AgentEvent | None:
    """Return what happened; None for nothing to record."""
    action = _action(payload)
    if action is None:
        return None
    session = subagent_key(
        text(payload, "session_id") or "", text(payload, "agent_id"), text(payload, "agent_type")
    )
    return new_event(
        Agent.CLAUDE_CODE,
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
        case "PostToolUse" | "PostToolUseFailure":
            return _tool_use(payload)
    return None


def _tool_use(payload: Members) -> Action | None:
    folder, members = text(payload, "cwd") or "", mapping(payload, "tool_input")
    response = mapping(payload, "tool_response")
    is_failure = text(payload, "hook_event_name") == "PostToolUseFailure"
    match text(payload, "tool_name"):
        case "Bash":
            command = text(members, "command")
            error = text(payload, "error")
            code = exit_code(_EXIT_CODE, error) if is_failure else None
            if not is_failure and response.get("interrupted") is False:
                code = None if text(response, "backgroundTaskId") else 0
            output = error if is_failure else text(response, "stdout")
            return CommandRun(command, code, output) if command else None
        case "Read" if not is_failure:
            path = text(members, "file_path")
            return FilesRead((absolute_path(folder, path),)) if path else None
        case "Edit" | "MultiEdit" | "Write" if not is_failure:
            edit = _edit(folder, members, response)
            return FilesEdited((edit,)) if edit is not None else None
    return None


def _edit(folder: str, members: Members, response: Members) -> FileEdit | None:
    path, content = text(members, "file_path"), text(members, "content")
    if not path:
        return None
    names = ("file_path", "old_string", "new_string")
    edit = (
        FileEdit(absolute_path(folder, path), after=content)
        if content is not None
        else replacement(folder, members, names, replace_all="replace_all")
    )
    original = text(response, "originalFile")
    return replace(
        edit or FileEdit(absolute_path(folder, path)),
        before=original,
        creates=original is None and (text(response, "type") == "create" or _is_new(members)),
        after=content if content is not None else _created(members, original, response),
        hunks=read_structured_patch(response.get("structuredPatch")),
        changed_by_person=response.get("userModified") is True,
    )


def _is_new(members: Members) -> bool:
    """Return whether an edit creates a file: it replaces nothing."""
    return text(members, "old_string") == ""


def _created(members: Members, original: str | None, response: Members) -> str | None:
    is_created = _is_new(members) and (not original) and "originalFile" in response
    return text(members, "new_string") if is_created else None
