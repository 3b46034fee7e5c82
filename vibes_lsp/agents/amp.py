"""Amp: what our plugin sends, by Amp's published plugin API; not tried with Amp.

Source: https://ampcode.com/manual/plugin-api and the types of `@ampcode/plugin` (June 2026), which
call the API experimental. Amp runs no commands for hooks. Plugins are TypeScript files in
`.amp/plugins/` of the project or in `~/.config/amp/plugins/`.

The plugin sends the name of an event as `amp`, the event itself as `event`, and `cwd`. Events:
`session.start`, `agent.start` (a prompt), `tool.result`. It adds `command`, what Amp's own helper
reads from a call of a shell tool, and `files`, the paths that the call modified. No event names the
model, and none ends a thread. A subagent is not marked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from vibes_lsp.agents.agent import CodingAgent, Form
from vibes_lsp.agents.claude_like import new_event
from vibes_lsp.agents.events import (
    Action,
    Agent,
    AgentEvent,
    CommandRun,
    FileEdit,
    FilesEdited,
    PromptSubmitted,
    SessionKey,
    SessionStarted,
)
from vibes_lsp.agents.patches import read_unified_diff
from vibes_lsp.agents.tool_calls import (
    absolute_path,
    edited_by_server,
    files_edited,
    files_read,
    patched_files,
    replacement,
)
from vibes_lsp.model.members import Members, integer, mapping, text, texts

_PATCH: Final = "*** Begin Patch"


def _read_event(payload: Members) -> AgentEvent | None:
    """Return what happened; None for nothing to record."""
    event = mapping(payload, "event")
    session = text(mapping(event, "thread"), "id")
    action = _action(payload, event)
    if action is None or not session:
        return None
    turn = text(event, "id") or integer(event, "id")
    return new_event(
        Agent.AMP,
        payload,
        SessionKey(session),
        action,
        call_id=text(event, "toolUseID"),
        turn=None if turn is None else str(turn),
        content=event.get("input") or text(event, "message"),
    )


def _action(payload: Members, event: Members) -> Action | None:
    match text(payload, "amp"):
        case "session.start":
            return SessionStarted()
        case "agent.start":
            prompt = text(event, "message")
            return PromptSubmitted(prompt) if prompt else None
        case "tool.result" if text(event, "status") == "done":
            return _tool_use(payload, event)
    return None


def _tool_use(payload: Members, event: Members) -> Action | None:
    folder, members = text(payload, "cwd") or "", mapping(event, "input")
    output = mapping(event, "output")
    answer = text(event, "output")
    command = text(mapping(payload, "command"), "command")
    if command:
        return CommandRun(command, integer(output, "exitCode"), answer or text(output, "output"))
    path = text(members, "path")
    match text(event, "tool"):
        case "Read":
            return files_read(folder, path)
        case "create_file":
            content = text(members, "content")
            if path and content is not None:
                file = absolute_path(folder, path)
                return files_edited(FileEdit(file, creates=True, after=content, may_overwrite=True))
        case "edit_file":
            edit = replacement(
                folder, members, ("path", "old_str", "new_str"), replace_all="replace_all"
            )
            if edit is not None:
                diff = text(output, "diff") or answer or ""
                return files_edited(replace(edit, hunks=read_unified_diff(diff)))
        case "apply_patch":
            patches = (value for value in members.values() if isinstance(value, str))
            patch = next((value for value in patches if value.startswith(_PATCH)), None)
            if patch is not None:
                return patched_files(folder, patch)
    edited = edited_by_server(text(event, "tool"), folder, members, event.get("output"))
    return edited if edited is not None and edited.edits else _modified(folder, payload) or edited


def _modified(folder: str, payload: Members) -> FilesEdited | None:
    """Return the edits of a tool that we do not know; no line of them is known."""
    return files_edited(
        *(FileEdit(absolute_path(folder, path)) for path in texts(payload, "files"))
    )


AGENT: Final = CodingAgent(
    agent=Agent.AMP,
    slug="amp",
    programs=("amp",),
    folder=".config/amp",
    form=Form.PLUGIN,
    project_file=".amp/plugins/vibes.ts",
    user_file="plugins/vibes.ts",
    events=("session.start", "agent.start", "tool.result", "agent.end"),
    read_event=_read_event,
)
