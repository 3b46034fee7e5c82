"""Cline (tried with CLI 3.0.65): payloads and configuration.

Payloads have neither prompt nor model, and `success` in `postToolUse` is true for a failed edit.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from vibes_lsp.agents.agent import CodingAgent, Form
from vibes_lsp.agents.claude_like import checked_version, new_event, subagent_key
from vibes_lsp.agents.events import (
    Action,
    Agent,
    AgentEvent,
    CommandRun,
    FileEdit,
    FilesEdited,
    SessionEnded,
    SessionKey,
    SessionStarted,
)
from vibes_lsp.agents.tool_calls import (
    absolute_path,
    edited_by_server,
    exit_code,
    files_read,
    replacement,
)
from vibes_lsp.model.members import JsonValue, Members, integer, mapping, objects, text, texts

_EXIT_CODE: Final = re.compile(r"\ACommand exited with code (\d+)\Z")
_CREATED: Final = "File created successfully"


def _read_event(payload: Members) -> AgentEvent | None:
    """Return what happened; None for nothing to record."""
    folder = next(iter(texts(payload, "workspaceRoots")), None)
    root = text(mapping(payload, "sessionContext"), "rootSessionId") or text(payload, "taskId")
    action = None if folder is None else _action(folder, payload)
    if folder is None or action is None or not root:
        return None
    is_subagent = text(payload, "parent_agent_id") is not None
    key = subagent_key(root, text(payload, "agent_id"), None) if is_subagent else SessionKey(root)
    event = new_event(
        Agent.CLINE,
        {**payload, "cwd": folder},
        key,
        action,
        moment=text(payload, "timestamp"),
        call_id=text(mapping(payload, "tool_result"), "id"),
        content=mapping(payload, "tool_result").get("input"),
    )
    version = checked_version(text(payload, "clineVersion"))
    return None if event is None else replace(event, version=version)


def _action(folder: str, payload: Members) -> Action | None:
    match text(payload, "hookName"):
        case "agent_start":
            return SessionStarted()
        case "agent_end":
            return SessionEnded()
        case "tool_result":
            return _tool_use(folder, mapping(payload, "tool_result"))
    return None


def _tool_use(folder: str, tool_result: Members) -> Action | None:
    arguments, output = mapping(tool_result, "input"), tool_result.get("output")
    match text(tool_result, "name"):
        case "editor":
            return _edit(folder, arguments, mapping(tool_result, "output"))
        case "read_files":
            return files_read(
                folder, *(text(file, "path") for file in objects(arguments.get("files")))
            )
        case "run_commands":
            run = _command(output)
            return (
                None if run is None else replace(run, duration=integer(tool_result, "durationMs"))
            )
    return edited_by_server(text(tool_result, "name"), folder, arguments, output)


def _edit(folder: str, arguments: Members, output: Members) -> FilesEdited | None:
    path, new = text(arguments, "path"), text(arguments, "new_text")
    if output.get("success") is not True or not path or new is None:
        return None
    edit = replacement(folder, arguments, ("path", "old_text", "new_text"))
    if edit is None:
        is_new = (text(output, "result") or "").startswith(_CREATED)
        edit = FileEdit(absolute_path(folder, path), creates=is_new, after=new)
    return FilesEdited((edit,))


def _command(output: JsonValue) -> CommandRun | None:
    """Return the commands of one call; they have an exit code where it is one command."""
    runs = objects(output)
    commands = [command for run in runs if (command := text(run, "query"))]
    if not commands:
        return None
    code = exit_code(_EXIT_CODE, text(runs[0], "error"))
    if runs[0].get("success") is True:
        code = 0
    answers = "\n".join(text(run, "result") or "" for run in runs)
    return CommandRun("\n".join(commands), code if len(runs) == 1 else None, answers)


AGENT: Final = CodingAgent(
    agent=Agent.CLINE,
    slug="cline",
    programs=("cline",),
    folder=".cline",
    form=Form.EXECUTABLES,
    project_file=".cline/hooks",
    events=("TaskStart", "PostToolUse", "TaskComplete"),
    tried="3.0.65",
    read_event=_read_event,
)
