"""What our plugin for opencode sends (tried with 1.18.33). Pure.

The plugin adds to `input` and `output` of a hook: the hook's name as `opencode`, the project's
folder as `cwd`, and what only other hooks say of the session: `model`, `parent` and `version`.
"""

from __future__ import annotations

from dataclasses import replace

from vibes_lsp.agents.claude_like import (
    absolute_path,
    checked_version,
    files_read,
    new_event,
    patched_files,
    replacement,
)
from vibes_lsp.agents.events import (
    Action,
    Agent,
    AgentEvent,
    CommandRun,
    FileEdit,
    FilesEdited,
    PromptSubmitted,
    SessionKey,
    TurnEnded,
)
from vibes_lsp.agents.patches import read_unified_diff
from vibes_lsp.agents.provenance_answers import provenance_asked
from vibes_lsp.model.members import Members, integer, mapping, objects, text


def read_event(payload: Members) -> AgentEvent | None:
    """Return what happened; None for nothing to record."""
    given, output = mapping(payload, "input"), mapping(payload, "output")
    match text(payload, "opencode"):
        case "chat.message":
            message = mapping(output, "message")
            prompt = _prompt(output)
            action: Action | None = PromptSubmitted(prompt) if prompt else None
            session, call_id = text(message, "sessionID"), text(message, "id")
        case "tool.execute.after":
            action = _tool_use(text(payload, "cwd") or "", given, output)
            session, call_id = text(given, "sessionID"), text(given, "callID")
        case "session.idle":
            action, session, call_id = TurnEnded(), text(given, "sessionID"), None
        case _:
            return None
    if action is None or not session:
        return None
    event = new_event(
        Agent.OPENCODE,
        payload,
        SessionKey(session, text(payload, "parent")),
        action,
        call_id=call_id,
        model=text(payload, "model"),
        content=given.get("args"),
    )
    version = checked_version(text(payload, "version"))
    return None if event is None else replace(event, version=version)


def _prompt(output: Members) -> str:
    return "\n".join(
        text(part, "text") or ""
        for part in objects(output.get("parts"))
        if text(part, "type") == "text"
    )


def _tool_use(folder: str, given: Members, output: Members) -> Action | None:
    arguments, metadata = mapping(given, "args"), mapping(output, "metadata")
    path = text(arguments, "filePath")
    tool = text(given, "tool")
    asked = provenance_asked(tool, output)
    if asked is not None:
        return asked
    match tool:
        case "bash":
            command = text(arguments, "command")
            told = text(metadata, "output")
            return CommandRun(command, integer(metadata, "exit"), told) if command else None
        case "read":
            return files_read(folder, path)
        case "write":
            content = text(arguments, "content")
            if not path or content is None:
                return None
            is_new = metadata.get("exists") is False
            return FilesEdited((FileEdit(absolute_path(folder, path), is_new, after=content),))
        case "edit":
            names = ("filePath", "oldString", "newString")
            edit = replacement(folder, arguments, names, replace_all="replaceAll")
            diff = read_unified_diff(text(metadata, "diff") or "")
            return None if edit is None else FilesEdited((replace(edit, hunks=diff),))
        case "apply_patch":
            return _patch(folder, arguments, metadata)
    return None


def _patch(folder: str, arguments: Members, metadata: Members) -> FilesEdited | None:
    """Return the edits of a patch, with the diff that opencode adds for each file."""
    patched = patched_files(folder, text(arguments, "patchText") or "")
    diffs = {
        text(each, "filePath") or "": read_unified_diff(text(each, "patch") or "")
        for each in objects(metadata.get("files"))
    }
    return FilesEdited(
        tuple(replace(edit, hunks=diffs.get(edit.path, ())) for edit in patched.edits)
    )
