"""Read the edits in the session files of Codex: one file for each thread.

Codex notes what each patch changed, also where a script or the shell applied it. Only files of
older versions lack that; there the patches themselves are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from vibes_lsp.agents import codex
from vibes_lsp.agents.claude_like import absolute_path, subagent_key
from vibes_lsp.agents.events import Agent, AgentEvent, FileEdit, FilesEdited
from vibes_lsp.agents.patches import read_unified_diff
from vibes_lsp.agents.session_edits import (
    AgentEdit,
    Lines,
    SessionState,
    joined_texts,
    parsed,
)
from vibes_lsp.model.members import JsonValue, Members, integer, mapping, objects, text


def read_codex(lines: Lines, path: Path) -> Iterator[AgentEdit]:
    """Yield the edits of a thread of Codex."""
    thread = _Thread(path)
    for line, members in lines:
        payload, moment = mapping(members, "payload"), members.get("timestamp")
        event, call = None, ""
        match text(members, "type"):
            case "session_meta":
                thread.start(payload)
            case "turn_context":
                thread.known.folder = text(payload, "cwd") or thread.known.folder
                thread.known.model = text(payload, "model") or thread.known.model
            case "event_msg":
                event, call = thread.read_event(payload)
            case "response_item":
                event, call = thread.read_item(payload)
        if event is not None:
            yield from thread.known.edits(event, line, moment, call)


class _Thread:
    """A thread of Codex, at a line of its file."""

    def __init__(self, path: Path) -> None:
        self.known = SessionState(str(path))
        self._session: Members = {}

    def start(self, payload: Members) -> None:
        """Read the thread's own description; a fork has that of its parent as well, later."""
        self._session = self._session or payload
        self.known.folder = text(self._session, "cwd") or self.known.folder
        self.known.version = text(self._session, "cli_version")

    def read_event(self, payload: Members) -> tuple[AgentEvent | None, str]:
        """Read a prompt, or the files that a tool call changed."""
        item = mapping(payload, "item")
        match text(payload, "type"):
            case "user_message":
                self.known.prompts[None] = text(payload, "message") or ""
            case "item_completed" if text(item, "type") == "UserMessage":
                self.known.prompts[None] = joined_texts(objects(item.get("content")))
            case "item_completed" if text(item, "type") == "FileChange":
                if text(item, "status") == "completed":
                    return self._changes(text(item, "id") or "", mapping(item, "changes"))
            case "patch_apply_end" if payload.get("success") is True:
                return self._changes(text(payload, "call_id") or "", mapping(payload, "changes"))
        return None, ""

    def _changes(self, call: str, changes: Members) -> tuple[AgentEvent | None, str]:
        if call in self.known.done:
            return None, ""
        self.known.done.add(call)
        return _file_changes(self._session, self.known.folder, changes), call

    def read_item(self, payload: Members) -> tuple[AgentEvent | None, str]:
        """Read a tool call, or its result, unless the files that it changed are known."""
        call = text(payload, "call_id") or ""
        match text(payload, "type"):
            case "custom_tool_call" | "function_call":
                patch = _patch_of(payload)
                if patch:
                    self.known.calls[call] = "apply_patch", {"command": patch}, None
            case "custom_tool_call_output" | "function_call_output":
                name, given, _ = self.known.calls.pop(call, ("", {}, None))
                if name and call not in self.known.done:
                    result: Members = {
                        **_session_members(self._session, self.known.folder),
                        "hook_event_name": "PostToolUse",
                        "tool_name": name,
                        "tool_input": given,
                        "tool_response": _told(payload.get("output")),
                    }
                    return codex.read_event(result), call
        return None, ""


def _session_members(session: Members, folder: str) -> Members:
    parent = text(session, "parent_thread_id")
    spawned = mapping(mapping(mapping(session, "source"), "subagent"), "thread_spawn")
    identifier = text(session, "id") or ""
    return {
        "session_id": (text(session, "session_id") or parent) if parent else identifier,
        "agent_id": identifier if parent else None,
        "agent_type": text(spawned, "agent_role") or ("default" if parent else None),
        "cwd": folder,
    }


def _file_changes(session: Members, folder: str, changes: Members) -> AgentEvent | None:
    """Return the event of a set of file changes."""
    edits: list[FileEdit] = []
    for name, each in changes.items():
        change = each if isinstance(each, dict) else {}
        kind = text(change, "type") or next(iter(change), "")
        change = mapping(change, kind) or change
        path = absolute_path(folder, name)
        if kind == "add":
            edits.append(FileEdit(path, creates=True, after=text(change, "content")))
        elif kind == "delete":
            edits.append(FileEdit(path, deletes=True))
        elif kind == "update":
            moved = text(change, "move_path")
            if moved:
                edits.append(FileEdit(path, deletes=True))
                path = absolute_path(folder, moved)
            hunks = read_unified_diff(text(change, "unified_diff") or "")
            edits.append(FileEdit(path, hunks=hunks))
    key = _session_members(session, folder)
    where = subagent_key(
        text(key, "session_id") or "", text(key, "agent_id"), text(key, "agent_type")
    )
    return AgentEvent(Agent.CODEX, where, "", folder, FilesEdited(tuple(edits)))


def _patch_of(payload: Members) -> str | None:
    """Return the patch of a call of `apply_patch`, directly or as the only command of a shell."""
    given = text(payload, "input")
    if text(payload, "name") == "apply_patch" and given is not None:
        return given
    arguments = parsed(text(payload, "arguments"))
    if text(payload, "name") == "apply_patch":
        return text(arguments, "input")
    command = arguments.get("command")
    if isinstance(command, list) and len(command) == 2 and command[0] == "apply_patch":
        return command[1] if isinstance(command[1], str) else None
    return None


def _told(output: JsonValue) -> str:
    told = output if isinstance(output, str) else joined_texts(objects(output))
    code = integer(mapping(parsed(told), "metadata"), "exit_code")
    return told if code is None else f"Exit code: {code}"
