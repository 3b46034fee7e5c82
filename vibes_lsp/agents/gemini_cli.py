"""Hook payloads of Gemini CLI (tried with 0.61.0) and of Qwen Code, its fork (0.24.4). Pure.

Gemini CLI marks no subagent: what one does is recorded in the session. Qwen Code sends an event
`UserPromptSubmit` before each request to the model; those of a person have `submitted_prompt`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from vibes_lsp.agents.claude_like import (
    absolute_path,
    call_content,
    exit_code,
    files_edited,
    files_read,
    inner,
    read_claude_like_event,
    replacement,
)
from vibes_lsp.agents.events import (
    Action,
    Agent,
    AgentEvent,
    CommandRun,
    FileEdit,
)
from vibes_lsp.agents.patches import read_unified_diff
from vibes_lsp.model.members import Members, integer, mapping, text

_EXIT_CODE: Final = re.compile(r"^Exit Code: (\d+)$", re.MULTILINE)
_FINISHED: Final = re.compile(r"^Process Group PGID: ", re.MULTILINE)


def read_event(payload: Members) -> AgentEvent | None:
    """Return what happened in Gemini CLI; None for nothing to record."""
    event = read_claude_like_event(Agent.GEMINI_CLI, payload, _tool_use)
    if event is None:
        return None
    call = call_content(text(payload, "tool_name"), mapping(payload, "tool_input"))
    return replace(event, call_content=call)


def read_qwen_event(payload: Members) -> AgentEvent | None:
    """Return what happened in Qwen Code; None for nothing to record."""
    return read_claude_like_event(
        Agent.QWEN_CODE, payload, _tool_use, prompt="submitted_prompt", call_id="tool_call_id"
    )


def _tool_use(payload: Members) -> Action | None:
    folder, members = text(payload, "cwd") or "", mapping(payload, "tool_input")
    response = mapping(payload, "tool_response")
    has_failed = "error" in payload or response.get("error") is not None
    match text(payload, "tool_name"):
        case "run_shell_command":
            return _command(payload, members, response)
        case "read_file" if not has_failed:
            return files_read(folder, text(members, "file_path") or text(members, "absolute_path"))
        case "write_file" | "replace" | "edit" if not has_failed:
            return files_edited(_edit(folder, members, inner(response, "returnDisplay")))
    return None


def _command(payload: Members, members: Members, response: Members) -> Action | None:
    command = text(members, "command")
    if not command:
        return None
    told = text(payload, "error") or text(response, "llmContent") or ""
    code = exit_code(_EXIT_CODE, told)
    # Gemini CLI leaves out an exit code of 0, and says what else ended a command.
    is_success = "error" not in payload and _FINISHED.search(told) and "\nSignal: " not in told
    if code is None and is_success and members.get("is_background") is not True:
        code = 0
    return CommandRun(command, code, text(response, "returnDisplay") or text(payload, "error"))


def _edit(folder: str, members: Members, display: Members) -> FileEdit | None:
    path = text(display, "filePath") or text(members, "file_path")
    if not path:
        return None
    edit = replacement(
        folder, {**members, "file_path": path}, ("file_path", "old_string", "new_string")
    ) or FileEdit(absolute_path(folder, path))
    replaces_all = members.get("allow_multiple") is True or members.get("replace_all") is True
    before, after = text(display, "originalContent"), text(display, "newContent")
    diff = text(display, "fileDiff") or ""
    statistics = mapping(display, "diffStat")
    by_person = any(integer(statistics, f"user_{name}_lines") for name in ("added", "removed"))
    is_new = display.get("isNewFile") is True or "\n@@ -0,0 " in diff
    return replace(
        edit,
        replace_all=replaces_all,
        before=before,
        after=after if after is not None else text(members, "content"),
        creates=is_new and not before,
        hunks=read_unified_diff(diff),
        changed_by_person=by_person,
    )
