"""Windsurf, as its documentation describes it; not tried with Windsurf.

Source: https://docs.windsurf.com/windsurf/cascade/hooks.md, in 2026 also
https://docs.devin.ai/desktop/cascade/hooks (Devin Desktop, its new name). Configuration:
`.windsurf/hooks.json` in the project, `~/.codeium/windsurf/hooks.json` for a person; entries are
`{"command": ...}`. Events to subscribe to: `pre_user_prompt`, `post_write_code`,
`post_run_command`, `post_read_code`. Only an exit code of 2 of a `pre_` hook blocks.

Members: `agent_action_name`, `trajectory_id` (the conversation), `execution_id` (one for each
prompt), `timestamp`, `model_name`, `tool_info`. Only commands name a folder; hooks run in the
workspace's. No event starts or ends a session, and subagents are not marked. Some payloads
have raw control characters in strings, which JSON forbids.
"""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath
from typing import Final

from vibes_lsp.agents.agent import CodingAgent, Form, ServerList, TrustStep
from vibes_lsp.agents.claude_like import new_event
from vibes_lsp.agents.events import (
    Action,
    Agent,
    AgentEvent,
    CommandRun,
    PromptSubmitted,
    SessionKey,
)
from vibes_lsp.agents.tool_calls import files_read, replaced_texts
from vibes_lsp.model.members import Members, mapping, objects, text
from vibes_lsp.model.paths import PathKind, path_kind


def _read_event(payload: Members) -> AgentEvent | None:
    """Return what happened; None for nothing to record."""
    members = mapping(payload, "tool_info")
    action = _action(payload, members)
    session = text(payload, "trajectory_id")
    if action is None or not session:
        return None
    return new_event(
        Agent.WINDSURF,
        payload,
        SessionKey(session),
        action,
        moment=text(payload, "timestamp"),
        model=text(payload, "model_name"),
        content=[text(payload, "agent_action_name"), members],
        turn=text(payload, "execution_id"),
        folder=_folder(members),
    )


def _action(payload: Members, members: Members) -> Action | None:
    path = text(members, "file_path") or ""
    is_file = path_kind(path) == PathKind.ABSOLUTE
    match text(payload, "agent_action_name"):
        case "pre_user_prompt":
            prompt = text(members, "user_prompt")
            return PromptSubmitted(prompt) if prompt else None
        case "post_run_command":
            command = text(members, "command_line")
            return CommandRun(command, None, text(members, "output")) if command else None
        case "post_read_code" if is_file:
            return files_read(None, path)
        case "post_write_code" if is_file:
            return replaced_texts(path, objects(members.get("edits")))
    return None


def _folder(members: Members) -> str:
    """Return the folder of a command or file; empty for events that name none."""
    folder, path = text(members, "cwd") or "", text(members, "file_path") or ""
    if path_kind(folder) == PathKind.ABSOLUTE:
        return folder
    if path_kind(path) == PathKind.ABSOLUTE:
        return str((PureWindowsPath if "\\" in path else PurePosixPath)(path).parent)
    return ""


AGENT: Final = CodingAgent(
    agent=Agent.WINDSURF,
    slug="windsurf",
    programs=("windsurf",),
    folder=".codeium/windsurf",
    form=Form.ENTRIES,
    project_file=".windsurf/hooks.json",
    user_file="hooks.json",
    events=("pre_user_prompt", "post_read_code", "post_write_code", "post_run_command"),
    handler={"command": "{sh}", "powershell": "{powershell}"},
    trust=TrustStep.FOLDER,
    read_event=_read_event,
    servers=ServerList("", "mcp_config.json"),
)
